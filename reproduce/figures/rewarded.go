// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Rewarded is how often methods met a reward while they trained on success alone: what exploration has to bring about
// before there is anything to learn from. It is asked on VMAS, where success is the only reward and is never negative.
type Rewarded struct {
	tasks   []paper.Task
	methods []string
	shares  [][][]float64 // [task][method][seed] of the rollout batches
}

// RewardedOf finds the complete runs of methods at a budget on VMAS's starred tasks; changes are as for DensityAxis.
func RewardedOf(st *results.Store, methods []string, budget string, changes ...string) (*Rewarded, error) {
	out := &Rewarded{methods: methods}
	runs := plan.At(st, budget)
	for _, task := range paper.Tasks {
		if task.Suite != paper.VMAS || !task.Star {
			continue
		}
		row := make([][]float64, len(methods))
		for m, method := range methods {
			if _, err := plan.FindMethod(method); err != nil {
				return nil, err
			}
			trial := paper.RewardTrial(task, method, "sparse")
			trial.Set = append(trial.Set, ofCERMIC(method, changes)...)
			g, err := runs.Runs(trial)
			if err != nil {
				return nil, err
			}
			row[m] = rewardedShares(g)
		}
		out.tasks, out.shares = append(out.tasks, task), append(out.shares, row)
	}
	return out, nil
}

// Plot draws a group of bars for each task that anybody was rewarded on: one for the first method and for each that
// ever was.
func (r *Rewarded) Plot() (*plot.Plot, error) {
	met := func(seeds []float64) bool { return slices.Max(append([]float64{0}, seeds...)) > 0 }
	shown := make([]bool, len(r.methods))
	for _, shares := range r.shares {
		for m, seeds := range shares {
			shown[m] = shown[m] || m == 0 || met(seeds)
		}
	}
	var groups []viz.Group
	for j, task := range r.tasks {
		if !slices.ContainsFunc(r.shares[j], met) {
			continue
		}
		group := viz.Group{Label: task.Abbreviation}
		for m, method := range r.methods {
			if shown[m] {
				group.Bars = append(group.Bars, meanBar(method, r.shares[j][m]))
			}
		}
		groups = append(groups, group)
	}
	p, err := viz.Bars(viz.Figure{Title: "Trained on success alone", X: "task", Y: "rollout batches with a reward"}, groups...)
	if err == nil {
		p.Y.Max = 1
	}
	return p, err
}

// Table has a row for each task and a column for each method: the share of a run's rollout batches, seed by seed.
func (r *Rewarded) Table() viz.Table {
	t := viz.Table{Title: "Rollout batches with a reward, trained on success alone", Header: []string{"task"}, Notes: []string{rewardedNote}}
	t.Header = append(t.Header, displayNames(r.methods)...)
	for j, task := range r.tasks {
		row := []string{task.Abbreviation}
		for m := range r.methods {
			row = append(row, rewardedCell(r.shares[j][m]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Differences compares each method with the first of them wherever both have runs that can be tested.
func (r *Rewarded) Differences() viz.Table {
	d := paper.NewDifferences("How much more often than "+paper.DisplayName(r.methods[0])+" a method is rewarded", "the share of rollout batches with a reward", "task", "method")
	for j, task := range r.tasks {
		d.AddEach(r.shares[j], displayNames(r.methods), task.Abbreviation)
	}
	return d.Table()
}

const rewardedNote = "One number a seed: of all rollout batches of training, those in which any agent of any environment was rewarded. 0 % × 3: none, in three seeds. " +
	"A run without any reward has learned nothing from success; whatever its score did came of other things, a bonus or chance. A dash: no run."

// rewardedShares are the shares of rollout batches with a reward, one a run; a run that kept no rewards has none.
func rewardedShares(g results.Group) (out []float64) {
	for _, r := range g.Runs {
		if share, ok := paper.RewardedShare(r); ok {
			out = append(out, share)
		}
	}
	return out
}

// rewardedCell writes shares in percent, once with the number of seeds where all are alike.
func rewardedCell(shares []float64) string {
	if len(shares) == 0 {
		return viz.Missing
	}
	percent := make([]string, len(shares))
	for i, s := range shares {
		percent[i] = fmt.Sprintf("%.0f", 100*s)
		if s > 0 && percent[i] == "0" {
			percent[i] = "under 1"
		}
	}
	if one := slices.Compact(slices.Clone(percent)); len(one) == 1 {
		return fmt.Sprintf("%s %% × %d", one[0], len(shares))
	}
	return strings.Join(percent, ", ") + " %"
}
