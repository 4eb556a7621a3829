// SPDX-License-Identifier: Apache-2.0

package plan

import "cermic/envs/scripted"

// Baselines rolls out random and scripted play, and every scripted joint policy, on the registered default of a task.
func Baselines(id string, episodes int, seed uint64) (all []*scripted.Episodes, err error) {
	cfg, err := Variant(id)
	if err != nil {
		return nil, err
	}
	policies, err := scripted.Policies(cfg)
	if err != nil {
		return nil, err
	}
	joint, err := scripted.JointPolicies(cfg)
	if err != nil {
		return nil, err
	}
	for _, policy := range append(policies, joint...) {
		p, err := scripted.Rollout(cfg, policy, episodes, seed)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}
