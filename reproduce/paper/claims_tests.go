// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/stats"
)

// contrast measures the weighted sum of the groups' means.
func contrast(weights ...float64) func([][]float64) measured {
	return func(groups [][]float64) measured {
		estimate, p := stats.Contrast(groups, weights)
		return measured{estimate: estimate, p: p}
	}
}

// twoOf compares the last evaluations of two trials.
func twoOf(on, of string, x, y Trial) comparison {
	return comparison{on: on, of: of, trials: []Trial{x, y}, measure: contrast(1, -1)}
}

// against compares a method with each of others on each of tasks, trained as Table 1 has it.
func against(tasks []Task, method string, others ...string) (out []comparison) {
	for _, t := range tasks {
		for _, other := range others {
			of := noError(FindMethod(method)).Name + " − " + noError(FindMethod(other)).Name
			out = append(out, twoOf(t.Title(), of, Trial{Task: t.ID, Method: method}, Trial{Task: t.ID, Method: other}))
		}
	}
	return out
}

// rowsOf compares two rows of a table, column by column.
func rowsOf(t *Benchmark, upper, lower string) (out []comparison) {
	for j, column := range t.Columns {
		out = append(out, twoOf(column, upper+" − "+lower, t.trial(upper, j), t.trial(lower, j)))
	}
	return out
}

// trial is that of the cell under a head and in the column with this number.
func (t *Benchmark) trial(head string, column int) Trial {
	return noError(t.Row("", head)).Rows[0].Cells[column].Trial
}

// changed are the comparisons with a change in each.
func changed(cs []comparison, change func(*comparison)) []comparison {
	for i := range cs {
		change(&cs[i])
	}
	return cs
}

// early turns comparisons of last evaluations into such of those in the first quarter of training.
func early(cs []comparison) []comparison {
	return changed(cs, func(c *comparison) {
		c.of, c.score = c.of+", mean of the evaluations in the first quarter", firstQuarter
	})
}

// noisy turns comparisons into such with the noise region of the figure on noise: side 1 around the origin, standard
// deviation 1.
func noisy(cs []comparison) []comparison {
	return changed(cs, func(c *comparison) {
		for i := range c.trials {
			c.trials[i].Set = []string{"task.noise.width=1", "task.noise.height=1", "task.noise.scale=1"}
		}
	})
}

// variances turns comparisons of means into such of the variances over seeds.
func variances(cs []comparison) []comparison {
	return changed(cs, func(c *comparison) {
		c.of, c.null = "variance of "+strings.Replace(c.of, " − ", " / variance of ", 1), 1
		c.measure = func(groups [][]float64) measured {
			estimate, p := stats.VarianceRatio(groups[0], groups[1])
			return measured{estimate: estimate, p: p}
		}
	})
}

// mechanism marks comparisons as tests of a mechanism of CERMIC's module, whose runs are evidence only where it is
// active.
func mechanism(cs []comparison) []comparison {
	return changed(cs, func(c *comparison) { c.mechanism = true })
}

// starred are the tasks adapted to a sparse reward.
func starred() []Task { return tasksWith(Tasks, func(t Task) bool { return t.Star }) }

// suiteTasks are the tasks of Table 1 in a suite.
func suiteTasks(s Suite) []Task { return tasksWith(Tasks, func(t Task) bool { return t.Suite == s }) }

// curiosity compares on each task the mean over the curiosity-driven methods with the mean over the traditional ones,
// CERMIC left out.
func curiosity() (out []comparison) {
	for _, t := range Tasks {
		c := comparison{on: t.Title(), of: "mean of curiosity-driven methods − mean of traditional ones"}
		var weights []float64
		for _, m := range Methods {
			switch m.Group {
			case Curiosity:
				weights = append(weights, 1./3)
			case Baseline:
				weights = append(weights, -1./3)
			default:
				continue
			}
			c.trials = append(c.trials, Trial{Task: t.ID, Method: m.ID})
		}
		c.measure = contrast(weights...)
		out = append(out, c)
	}
	return out
}

// strongest compares the relative gain on Melting Pot with that on the other suites.
func strongest() []comparison {
	return []comparison{
		gains("Melting Pot against VMAS", suiteTasks(MeltingPot), suiteTasks(VMAS)),
		gains("Melting Pot against SMACv2", suiteTasks(MeltingPot), suiteTasks(SMACv2)),
	}
}

// gains compares the mean over upper of (MAPPO-CERMIC − MAPPO)/|MAPPO| with that over lower. Tasks where MAPPO's mean
// is zero have no share and are left out.
func gains(on string, upper, lower []Task) comparison {
	c := comparison{on: on, of: "relative gain over MAPPO where it scores anything, difference"}
	for _, t := range slices.Concat(upper, lower) {
		c.trials = append(c.trials, Trial{Task: t.ID, Method: "mappo-cermic"}, Trial{Task: t.ID, Method: "mappo"})
	}
	c.measure = func(scores [][]float64) measured {
		groups, weights := slices.Clone(scores), make([]float64, len(scores))
		half := 2 * len(upper)
		shares(groups[:half], weights[:half], 1)
		shares(groups[half:], weights[half:], -1)
		return contrast(weights...)(groups)
	}
	return c
}

// shares sets the weights of a mean relative gain, times sign, over tasks. Groups are pairs of scores: a method's, then
// the baseline's. By the delta method it scales each baseline's deviations from its mean by the ratio of the two
// means. The reason is that (x − b)/|b| changes with b by −x/(b·|b|), x/b times its weight. A baseline near zero
// makes a share uncertain.
func shares(groups [][]float64, weights []float64, sign float64) {
	n := 0.
	for k := 1; k < len(groups); k += 2 {
		base := average(groups[k])
		if base == 0 {
			continue
		}
		weights[k-1], weights[k] = sign/math.Abs(base), -sign/math.Abs(base)
		ratio, scaled := average(groups[k-1])/base, make([]float64, len(groups[k]))
		for i, score := range groups[k] {
			scaled[i] = base + ratio*(score-base)
		}
		groups[k] = scaled
		n++
	}
	for k := range weights {
		weights[k] /= n // NaN where no task has a share: nothing to compare
	}
}

// drops compares training on the sparse reward with training on the dense one, by the differences of Table 4.
func drops() (out []comparison) {
	for _, row := range Density.Rows {
		for j, c := range row.Cells {
			if c.Minus != nil {
				of := row.Head + ", trained on the sparse − on the dense reward"
				out = append(out, twoOf(strings.TrimSuffix(Density.Columns[j], " Δ"), of, *c.Minus, c.Trial))
			}
		}
	}
	return out
}

// smallerDrops compares the drop of other methods with CERMIC's, the last row.
func smallerDrops() (out []comparison) {
	const tasks = 3
	all := drops()
	others, ours := all[:len(all)-tasks], all[len(all)-tasks:]
	for i, other := range others {
		own := ours[i%tasks]
		method, _, _ := strings.Cut(other.of, ",")
		out = append(out, comparison{on: other.on, of: "drop of " + method + " − drop of MAPPO-CERMIC",
			trials: slices.Concat(other.trials, own.trials), measure: contrast(1, -1, -1, 1)})
	}
	return out
}

func average(x []float64) float64 { return stat.Mean(x, nil) }

// Title is the paper's name with its star.
func (t Task) Title() string {
	if t.Star {
		return t.Name + "*"
	}
	return t.Name
}

// best compares on each task the better of the two methods with CERMIC with the best of the others; see bestOf.
func best() (out []comparison) {
	var ours, others []int
	for i, m := range Methods {
		if m.Group == Ours {
			ours = append(ours, i)
		} else {
			others = append(others, i)
		}
	}
	for _, t := range Tasks {
		c := comparison{on: t.Title(), of: "the best with CERMIC − the best without",
			measure: func(scores [][]float64) measured { return bestOf(scores, ours, others) }}
		for _, m := range Methods {
			c.trials = append(c.trials, Trial{Task: t.ID, Method: m.ID})
		}
		out = append(out, c)
	}
	return out
}

// bestOf compares the best of ours with the best of others, both chosen by their means. Ours is the best only if it is
// above each of the others. It is not the best only if one of the others is above all of ours. The largest p of these
// tests counts, times the number of methods from which that one was chosen (Bonferroni).
func bestOf(scores [][]float64, ours, others []int) measured {
	highest := func(of []int) int {
		return slices.MaxFunc(of, func(a, b int) int { return cmp.Compare(average(scores[a]), average(scores[b])) })
	}
	difference := func(i, j int) measured { return contrast(1, -1)([][]float64{scores[i], scores[j]}) }
	own, other := highest(ours), highest(others)
	m := measured{estimate: difference(own, other).estimate, pair: []int{own, other}}
	candidates := len(ours)
	if average(scores[own]) < average(scores[other]) {
		candidates = len(others)
		for _, i := range ours {
			m.p = max(m.p, difference(i, other).p) // NaN if any is
		}
	} else {
		for _, j := range others {
			m.p = max(m.p, difference(own, j).p)
		}
	}
	m.p = min(1, m.p*float64(candidates))
	return m
}
