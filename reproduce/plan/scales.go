// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"gonum.org/v1/gonum/stat"

	"cermic/envs"
	"cermic/reproduce/paper"
)

// Scales are what makes scores of different tasks comparable: random play becomes 0 and scripted play 1, each the mean of the
// benchmark's score over as many episodes of the registered task. Tasks whose script does not beat random play, or that
// have none, are left out.
func Scales(episodes int, seed uint64) (map[string]paper.Scale, error) {
	scales := map[string]paper.Scale{}
	for _, t := range Tasks() {
		cfg, err := envs.Default(t.ID)
		if err != nil {
			return nil, err
		}
		random, err := Play(cfg, Random, episodes, seed)
		if err != nil {
			return nil, err
		}
		script, err := Play(cfg, Scripted, episodes, seed)
		if err != nil {
			return nil, err
		}
		if script == nil {
			continue
		}
		if s := (paper.Scale{From: stat.Mean(random.Dense, nil), To: stat.Mean(script.Dense, nil)}); s.To > s.From {
			scales[t.ID] = s
		}
	}
	return scales, nil
}
