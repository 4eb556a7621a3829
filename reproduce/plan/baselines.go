// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"cermic/envs"
	"cermic/envs/scripted"
)

// Baselines rolls out both policies, and every scripted joint policy, on the registered default of a task, for each of the given numbers of
// milestones; it leaves out scripts that a task does not have, and numbers of milestones that it does not take.
func Baselines(id string, milestones []int, episodes int, seed uint64) ([]*scripted.Episodes, error) {
	var all []*scripted.Episodes
	for _, k := range milestones {
		cfg, ok, err := inParts(id, k)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		policies, err := scripted.Policies(cfg)
		if err != nil {
			return nil, err
		}
		others, err := scripted.JointPolicies(cfg)
		if err != nil {
			return nil, err
		}
		for _, policy := range append(policies, others...) {
			p, err := scripted.Rollout(cfg, policy, episodes, seed)
			if err != nil {
				return nil, err
			}
			p.Milestones = k
			all = append(all, p)
		}
	}
	return all, nil
}

// inParts returns the default of a task with its sparse reward in k partial rewards; ok is false if it cannot be.
func inParts(id string, k int) (cfg envs.Config, ok bool, err error) {
	if cfg, err = Variant(id); err != nil || k == 1 {
		return cfg, err == nil, err
	}
	if cfg, err = Variant(id, fmt.Sprintf("milestones=%d", k)); err != nil {
		return nil, false, nil
	}
	if _, err := cfg.Build(1, 1); err != nil { // its default builds, so this setting is what it refuses
		return nil, false, nil
	}
	return cfg, true, nil
}
