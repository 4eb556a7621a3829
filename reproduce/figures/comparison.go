// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"math"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// comparisonReps is the number of resamples behind each interval: plenty for two digits.
const comparisonReps = 2000

// Compare says how sure the runs of two methods on one task can be of which is better: the mean over seeds of the last
// evaluation, its difference, and the probability that a run of the second method scores higher than one of the first,
// each with its bootstrap 95 % interval.
func Compare(rs []*results.Record) (viz.Table, error) {
	groups := plan.Groups(rs, "budget")
	if len(groups) != 2 {
		var labels []string
		for _, g := range groups {
			labels = append(labels, g.Label)
		}
		return viz.Table{}, fmt.Errorf("a comparison takes the runs of two methods, these are of %d: %v", len(groups), labels)
	}
	var methods []string
	var last [][]float64
	for _, g := range groups {
		for _, r := range g.Runs {
			if len(r.Evals) == 0 {
				return viz.Table{}, fmt.Errorf("seed %d of %s has not been evaluated yet: train it first", r.Seed, g.Label)
			}
			if r.Task != rs[0].Task {
				return viz.Table{}, fmt.Errorf("runs on %s cannot be compared with runs on %s", r.Task, rs[0].Task)
			}
		}
		scores, err := g.Scores()
		if err != nil {
			return viz.Table{}, err
		}
		methods, last = append(methods, g.Label), append(last, scores)
	}
	t := viz.Table{Title: fmt.Sprintf("%s, after %s frames", rs[0].Task, viz.Short(float64(rs[0].Frames))), Header: []string{"", "value", "95 % interval", "seeds"}}
	row := func(name string, i stats.Interval, seeds string) {
		interval := viz.Missing
		if !math.IsNaN(i.Low) {
			interval = fmt.Sprintf("%.4g to %.4g", i.Low, i.High)
		}
		t.Rows = append(t.Rows, []string{name, fmt.Sprintf("%.4g", i.Value), interval, seeds})
	}
	x, y, r := [][]float64{last[1]}, [][]float64{last[0]}, rng.New(0, "plan/compare")
	for k, scores := range [][][]float64{y, x} {
		row("last score of "+methods[k], stats.Bootstrap(scores, stats.Mean, comparisonReps, r), fmt.Sprint(len(scores[0])))
	}
	both := fmt.Sprintf("%d and %d", len(x[0]), len(y[0]))
	row(methods[1]+" minus "+methods[0], stats.Difference(x, y, stats.Mean, comparisonReps, r), both)
	row("the same, Welch's interval", stats.Welch(x[0], y[0]), both)
	row("probability of improvement", stats.BootstrapTwo(x, y, stats.Improvement, comparisonReps, r), both)
	if needed := paper.SeedsNeeded(x[0], y[0]); needed != "" {
		t.Rows = append(t.Rows, []string{"seeds for 80 % power", needed, viz.Missing, "of each"})
	}
	t.Notes = []string{"The difference is significant at 5 % only where both of its intervals exclude 0. Intervals are over seeds and of the bootstrap unless another is named. " +
		stats.Caution + " Seeds for 80 % power: so many of each method make this difference significant four times in five, by Welch's test at 5 %, if it and the standard deviations are as " +
		"measured; measured on few seeds, a rough guide."}
	return t, nil
}
