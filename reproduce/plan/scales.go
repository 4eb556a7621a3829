// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"

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
		random, script, err := playedMeans(cfg, episodes, seed)
		if err != nil {
			return nil, err
		}
		if script > random { // never of NaN
			scales[t.ID] = paper.Scale{From: random, To: script}
		}
	}
	return scales, nil
}

// playedMeans are the mean scores of random and of scripted play, the latter NaN for a task without a script.
func playedMeans(cfg envs.Config, episodes int, seed uint64) (random, script float64, err error) {
	p, err := Play(cfg, Random, episodes, seed)
	if err != nil {
		return 0, 0, err
	}
	random = stat.Mean(p.Dense, nil)
	if p, err = Play(cfg, Scripted, episodes, seed); err != nil || p == nil {
		return random, math.NaN(), err
	}
	return random, stat.Mean(p.Dense, nil), nil
}
