// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"cmp"
	"slices"

	"cermic/cermiclib/stats"
)

// choice is a comparison of two trials that was chosen by the scores.
type choice struct {
	pair    [2]int   // of the trials' indices: the number is the first's score less the second's
	against [][2]int // pairs that must all differ, of which pair is one
	of      int      // as many trials might have been chosen instead of the one that all of against have: p is multiplied by it (Bonferroni)
}

// p is the p value of a choice.
func (c choice) p(scores [][]float64) float64 {
	worst := 0.
	for _, pair := range c.against {
		_, p := stats.Contrast(two(scores, pair), []float64{1, -1})
		worst = max(worst, p) // NaN if any is
	}
	return min(1, worst*float64(c.of))
}

// two are the elements with these indices.
func two[T any](of []T, pair [2]int) []T { return []T{of[pair[0]], of[pair[1]]} }

// best compares on each task the better of the two methods with CERMIC with the best of the others, which are both
// chosen by their means. It is the best only if it is above each of the others, and is not only if one of them is above
// both: the largest p of these counts, times the number of methods of which the one was chosen.
func best() (out []comparison) {
	var ours, others []int
	for i, m := range Methods {
		if m.Group == Ours {
			ours = append(ours, i)
		} else {
			others = append(others, i)
		}
	}
	choose := func(scores [][]float64) choice {
		highest := func(of []int) int {
			return slices.MaxFunc(of, func(a, b int) int { return cmp.Compare(average(scores[a]), average(scores[b])) })
		}
		own, other := highest(ours), highest(others)
		c := choice{pair: [2]int{own, other}, of: len(ours)}
		for _, k := range others {
			c.against = append(c.against, [2]int{own, k})
		}
		if average(scores[own]) < average(scores[other]) {
			c.of, c.against = len(others), nil
			for _, k := range ours {
				c.against = append(c.against, [2]int{k, other})
			}
		}
		return c
	}
	for _, t := range Tasks {
		c := comparison{on: t.Title(), of: "the best with CERMIC − the best without", terms: with(1, -1), choose: choose}
		for _, m := range Methods {
			c.trials = append(c.trials, Trial{Task: t.ID, Method: m.ID})
		}
		out = append(out, c)
	}
	return out
}
