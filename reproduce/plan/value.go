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

// Campaign is all that the paper's tables of results need at a budget, each run once, however many of them show it. What no table shows
// is not part of it.
type Campaign struct {
	Budget  string
	Missing []Step // those first that tell most in an hour: a cell that nobody has before another seed, a cheap method before a dear one
	trials  []surveyed
}

// surveyed is a trial of the tables with its runs.
type surveyed struct {
	displayed
	complete []experiment.Config // in the store
	training int                 // of those that are missing, now
	missing  []Step
}

// NewCampaign finds what the tables need at a budget with seeds 1 to seeds, and what of it st has.
func NewCampaign(st *results.Store, budget string, seeds int) (*Campaign, error) {
	if _, err := FindPreset(budget); err != nil {
		return nil, err
	}
	known, err := NewRates(st)
	if err != nil {
		return nil, err
	}
	c := &Campaign{Budget: budget}
	for _, t := range displayedTrials() {
		e, err := New(Request{Task: t.trial.Task, Method: t.trial.Method, Budget: budget, Set: t.trial.Set, Seed: 1})
		if err != nil {
			continue // what this program cannot train yet; table's own plan names it
		}
		rate := known.On(e)
		if rate.FPS == 0 {
			rate = Rate{FPS: known.slowest(budget, kind(e.Task.Kind())), Source: Assumed}
		}
		if rate.FPS == 0 {
			rate.FPS = 1 // nothing at all is known: first come, first served
		}
		s, err := t.survey(e, rate, seeds, st)
		if err != nil {
			return nil, err
		}
		c.trials = append(c.trials, s)
		c.Missing = append(c.Missing, s.missing...)
	}
	slices.SortStableFunc(c.Missing, func(a, b Step) int { return cmp.Compare(b.Value(), a.Value()) })
	return c, nil
}

// Experiments are the runs that are there, and behind them the missing ones in their order.
func (c *Campaign) Experiments() (all []experiment.Config) {
	for _, t := range c.trials {
		all = append(all, t.complete...)
	}
	for _, s := range c.Missing {
		all = append(all, s.Experiment)
	}
	return all
}

// displayed is a trial and the cells that show it.
type displayed struct {
	trial  paper.Trial
	cells  []string
	tables []string // names of the tables that these are in, each once
}

// displayedTrials are the trials of all tables in their order, each once.
func displayedTrials() (all []displayed) {
	at := map[string]int{}
	for _, table := range paper.Benchmarks {
		for _, row := range table.Rows {
			for j, cell := range slices.Concat(row.Cells, row.Theorems()) {
				head, column := row.Head, table.Columns[j%len(table.Columns)]
				if j >= len(row.Cells) {
					head += " with " + paper.TheoremBonus
				}
				for _, trial := range cell.Trials() {
					key := paper.Label(trial.Task+" "+trial.Method, trial.Set)
					i, ok := at[key]
					if !ok {
						i = len(all)
						at[key], all = i, append(all, displayed{trial: trial})
					}
					all[i].cells = append(all[i].cells, fmt.Sprintf("%s: %s, %s", table.Name, head, column))
					if !slices.Contains(all[i].tables, table.Name) {
						all[i].tables = append(all[i].tables, table.Name)
					}
				}
			}
		}
	}
	return all
}

// survey finds the trial's seeds in st.
func (t displayed) survey(e experiment.Config, rate Rate, seeds int, st *results.Store) (surveyed, error) {
	out := surveyed{displayed: t}
	for seed := 1; seed <= seeds; seed++ {
		e.Seed = uint64(seed)
		r, err := begun(e, st)
		if err != nil {
			return out, err
		}
		left := e.Budget.Frames
		if r != nil && r.Complete {
			out.complete = append(out.complete, e)
			continue
		}
		if r != nil {
			left = max(1, left-r.Frames)
			if st.Training(r.ID) {
				out.training++
			}
		}
		out.missing = append(out.missing, Step{Experiment: e, Cells: t.cells, Hours: float64(left) / rate.FPS / 3600, Source: rate.Source})
	}
	slices.SortStableFunc(out.missing, func(a, b Step) int { return cmp.Compare(a.Hours, b.Hours) }) // one that is half trained is the first to fill a cell
	for i := range out.missing {
		out.missing[i].Before = len(out.complete) + i
		out.missing[i].Gain = gain(len(out.complete)+i) * float64(len(t.cells))
	}
	return out, nil
}

// Standing shows how far the tables are, each on a line and the last for all of them together: runs that several tables show count in each, and once there.
func (c *Campaign) Standing() viz.Table {
	t := viz.Table{Header: []string{"table", "", "done", "training", "to go", "hours left"}}
	line := func(head, table string) {
		done, training, left, hours, mark := 0, 0, 0, 0.0, ""
		for _, s := range c.trials {
			if table != "" && !slices.Contains(s.tables, table) {
				continue
			}
			done, training, left = done+len(s.complete), training+s.training, left+len(s.missing)-s.training
			for _, step := range s.missing {
				hours += step.Hours
				if step.Source == Assumed {
					mark = "?"
				}
			}
		}
		bar := viz.ProgressBar(float64(done)/float64(max(1, done+training+left)), 24)
		t.Rows = append(t.Rows, []string{head, bar, fmt.Sprint(done), fmt.Sprint(training), fmt.Sprint(left), fmt.Sprintf("%.3g%s", hours, mark)})
	}
	for _, table := range paper.Benchmarks {
		line(table.Name, table.Name)
	}
	line("all", "")
	t.Marked = []int{len(t.Rows) - 1}
	t.Notes = []string{fmt.Sprintf("Runs of the budget %s; hours if one run is trained after the other, what is training included. A run that several tables show counts in each of them, and once in the last line.", c.Budget)}
	return t
}

// Table shows the first of the missing runs, with the hours up to each of them, and sums up all.
func (c *Campaign) Table(show int) viz.Table {
	t := viz.Table{Header: []string{"", "task", "method", "seed", "for", "hours", "altogether"}}
	sum, assumed, empty := 0.0, 0, map[string]bool{}
	for i, s := range c.Missing {
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
	if len(c.Missing) == 0 {
		t.Notes = []string{"Nothing is missing."}
		return t
	}
	note := fmt.Sprintf("%d runs in the order of what an hour of them tells, %.3g hours one by one; %d cells lack all runs of something that they show.", len(c.Missing), sum, len(empty))
	if show < len(c.Missing) {
		note += fmt.Sprintf(" The first %d are shown; -plan shows all.", show)
	}
	t.Notes = []string{note}
	if assumed > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("?: the method's rate has not been measured, as for %d of the runs; it is taken to be as slow as the slowest that is known. "+
			"campaign -plan -measure measures it.", assumed))
	}
	return t
}
