// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/viz"
)

// Step is one run that the paper's tables lack, and what it is worth.
type Step struct {
	Experiment experiment.Config
	Cells      []string // that show it: "sota: MAPPO, Balance*"
	Before     int      // complete seeds that these cells have when it is trained
	Hours      float64  // that it still takes, one run at a time
	Source     Source   // of the rate behind that; "assumed": of a method that nobody has measured, the slowest known rate
	Gain       float64  // how much it narrows what is known of its cells; see gain
}

// Assumed is the source of the rate of a method of which there is no run.
const Assumed Source = "assumed"

// Value is the information that an hour of training the run gives.
func (s Step) Value() float64 { return s.Gain / s.Hours }

// gain is how much another seed narrows the posterior variance of a cell's mean that has n: with a prior as wide as the spread over seeds,
// the variance with n seeds is 1/(n+1). The first seed is worth three times the second and six times the third.
func gain(n int) float64 { return 1 / (float64(n+1) * float64(n+2)) }

// ByValue lists the runs at a budget that the paper's tables of results need with seeds 1 to seeds and st lacks, those first that tell most in
// an hour: a cell that nobody has before another seed, a cheap method before a dear one. What no table shows is not among them.
func ByValue(st *results.Store, budget string, seeds int) ([]Step, error) {
	known, err := NewRates(st)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, t := range displayedTrials() {
		e, err := New(Request{Task: t.trial.Task, Method: t.trial.Method, Budget: budget, Set: t.trial.Set, Seed: 1})
		if err != nil {
			continue // what this program cannot train yet; table's own plan names it
		}
		rate := known.Of(e)
		if rate.FPS == 0 {
			rate = Rate{FPS: known.slowest(budget, kind(e.Task.Kind())), Source: Assumed}
		}
		if rate.FPS == 0 {
			rate.FPS = 1 // nothing at all is known: first come, first served
		}
		if steps, err = t.lacks(steps, e, rate, seeds, st); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(b.Value(), a.Value()) })
	return steps, nil
}

// displayed is a trial and the cells that show it.
type displayed struct {
	trial paper.Trial
	cells []string
}

// displayedTrials are the trials of all tables in their order, each once.
func displayedTrials() (all []displayed) {
	at := map[string]int{}
	for _, table := range paper.Benchmarks {
		for _, row := range table.Rows {
			for j, cell := range row.Cells {
				for _, trial := range cell.Trials() {
					key := paper.Label(trial.Task+" "+trial.Method, trial.Set)
					i, ok := at[key]
					if !ok {
						i = len(all)
						at[key], all = i, append(all, displayed{trial: trial})
					}
					all[i].cells = append(all[i].cells, fmt.Sprintf("%s: %s, %s", table.Name, row.Head, table.Columns[j]))
				}
			}
		}
	}
	return all
}

// lacks appends the seeds of the trial that are missing.
func (t displayed) lacks(steps []Step, e experiment.Config, rate Rate, seeds int, st *results.Store) ([]Step, error) {
	var missing []Step
	have := 0
	for seed := 1; seed <= seeds; seed++ {
		e.Seed = uint64(seed)
		r, err := begun(e, st)
		if err != nil {
			return nil, err
		}
		left := e.Budget.Frames
		if r != nil && r.Complete {
			have++
			continue
		}
		if r != nil {
			left = max(1, left-r.Frames)
		}
		missing = append(missing, Step{Experiment: e, Cells: t.cells, Hours: float64(left) / rate.FPS / 3600, Source: rate.Source})
	}
	for i := range missing {
		missing[i].Before = have + i
		missing[i].Gain = gain(have+i) * float64(len(t.cells))
	}
	return append(steps, missing...), nil
}

// ValueTable shows the first steps of a list, with the hours up to each of them, and sums up all.
func ValueTable(steps []Step, show int) viz.Table {
	t := viz.Table{Header: []string{"", "task", "method", "seed", "for", "hours", "altogether"}}
	sum, assumed, empty := 0.0, 0, map[string]bool{}
	for i, s := range steps {
		sum += s.Hours
		if s.Source == Assumed {
			assumed++
		}
		if s.Before == 0 {
			for _, c := range s.Cells {
				empty[c] = true
			}
		}
		if i >= show {
			continue
		}
		cells := s.Cells[0]
		if more := len(s.Cells) - 1; more > 0 {
			cells += fmt.Sprintf(" and %d more", more)
		}
		hours := fmt.Sprintf("%.2g", s.Hours)
		if s.Source == Assumed {
			hours += "?"
		}
		t.Rows = append(t.Rows, []string{fmt.Sprint(i + 1), s.Experiment.Task.Kind(), s.Experiment.Label(), fmt.Sprint(s.Experiment.Seed), cells, hours, fmt.Sprintf("%.3g", sum)})
	}
	if len(steps) == 0 {
		t.Notes = []string{"Nothing is missing."}
		return t
	}
	note := fmt.Sprintf("%d runs in the order of what an hour of them tells, %.3g hours one by one; %d cells have no run yet.", len(steps), sum, len(empty))
	if show < len(steps) {
		note += fmt.Sprintf(" The first %d are shown; -plan shows all.", show)
	}
	t.Notes = []string{note}
	if assumed > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("?: the method's rate has not been measured, as for %d of the runs; it is taken to be as slow as the slowest that is known. "+
			"campaign -plan -measure measures it.", assumed))
	}
	return t
}
