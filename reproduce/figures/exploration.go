// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/conf"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Exploration is a study of which methods find what chance does not: every method, with every weight of its bonus, on
// every task.
type Exploration struct {
	Tasks   []string // each with its settings behind it: "explore/rooms task.tv=screen"
	Methods []string // likewise: "mappo-cermic explore.int_form=elliptical"
	Weights []string // of the bonus beside the method's own, "0.05"; methods without a bonus have none
	Budget  string
	Seeds   int // 1 to Seeds
}

// ExplorationMethods are the methods of the exploration study: each learner alone, and with every explorer. CERMIC's module is
// there with the graph memory of the tables and with the MLP, which costs a third.
var ExplorationMethods = []string{"mappo", "mappo-eps", "qmix", "qplex", "mace", "mace explore.int_coef=0.05", "mappo-db", "qplex-ices",
	"mappo-rff", "mappo-cermic", "mappo-cermic explore.memory=graph", "mappo-cermic-literal", "mappo-cermic-ucb", "mappo-cermic-st",
	"mappo-cermic-st explore.int_form.filter=", "mappo-cermic-st explore.memory=graph"}

// solvedFrom is the share of episodes of the last evaluation from which on a run solves its task.
const solvedFrom = 0.5

// explorationRow is one method with one weight of its bonus.
type explorationRow struct {
	label  string     // method and settings
	weight string     // "" its own
	arms   []plan.Arm // one a task
}

// rows composes the study. What is the same as an earlier row, as a weight that is the method's own, is not listed
// again.
func (x Exploration) rows() (out []explorationRow, err error) {
	seen := map[string]bool{}
	for _, label := range x.Methods {
		for _, weight := range append([]string{""}, x.Weights...) {
			row := explorationRow{label: label, weight: weight}
			known := true
			for _, task := range x.Tasks {
				es, err := x.experiments(task, label, weight)
				if err != nil {
					return nil, err
				}
				if len(es) == 0 {
					continue
				}
				id, err := es[0].ID()
				if err != nil {
					return nil, err
				}
				known = known && seen[id]
				seen[id] = true
				row.arms = append(row.arms, plan.Arm{Label: label, Experiments: es})
			}
			if !known {
				out = append(out, row)
			}
		}
	}
	return out, nil
}

// experiments lists the experiments of one cell, one a seed; none where the method has no bonus to weigh.
func (x Exploration) experiments(task, method, weight string) ([]experiment.Config, error) {
	t, m := strings.Fields(task), strings.Fields(method)
	if len(t) == 0 || len(m) == 0 {
		return nil, fmt.Errorf("task %q and method %q: want a name each, with settings behind it", task, method)
	}
	set := slices.Concat(t[1:], m[1:])
	if weight != "" {
		key, err := x.weightOf(t[0], m)
		if key == "" || err != nil {
			return nil, err
		}
		set = append(set, key+"="+weight)
	}
	return plan.Grid(t[:1], m[:1], x.Budget, x.Seeds, set...)
}

// weightOf is the key of a method's weight of curiosity: of its bonus or, for ICES, of the actions that its exploring
// policy takes.
func (x Exploration) weightOf(task string, method []string) (string, error) {
	e, err := plan.New(plan.Request{Task: task, Method: method[0], Budget: x.Budget, Set: method[1:]})
	if err != nil {
		return "", err
	}
	keys := conf.Keys(e)
	for _, key := range []string{"explore.int_coef", "explore.int_ratio"} {
		if _, ok := plan.FindKey(keys, key); ok {
			return key, nil
		}
	}
	return "", nil
}

// Experiments lists the study's experiments, each once.
func (x Exploration) Experiments() ([]experiment.Config, error) {
	rows, err := x.rows()
	if err != nil {
		return nil, err
	}
	lists := make([][]plan.Arm, len(rows))
	for i, row := range rows {
		lists[i] = row.arms
	}
	return experiments(lists...)
}

// solving counts the complete runs of an arm in st, and how many of them solve their task.
func solving(a plan.Arm, st *results.Store) (solved, n int, err error) {
	g, err := a.Complete(st)
	for _, r := range g.Runs {
		if share := lastSuccess(r); !math.IsNaN(share) {
			if n++; share >= solvedFrom {
				solved++
			}
		}
	}
	return solved, n, err
}

// Table says how many of the complete runs of each cell solve their task, with the exact interval of that probability.
func (x Exploration) Table(st *results.Store) (viz.Table, error) {
	t := viz.Table{Title: "Who solves what", Header: []string{"method", "weight"}, Notes: []string{fmt.Sprintf(
		"Runs that solve the task of all complete ones, and the exact 95 %% interval of that probability (Clopper and Pearson 1934). A run solves it if "+
			"at least half of the episodes of its last evaluation succeed. Weight: int_coef or, of qplex-ices, int_ratio. A dash: no run is complete. "+
			"Budget %s, seeds 1 to %d.", x.Budget, x.Seeds)}}
	for _, task := range x.Tasks {
		t.Header = append(t.Header, taskLabel(task))
	}
	t.Header = append(t.Header, "all")
	rows, err := x.rows()
	if err != nil {
		return t, err
	}
	var without []string
	for _, row := range rows {
		weight, err := x.shown(row)
		if err != nil {
			return t, err
		}
		line := []string{row.label, weight}
		solvedOfAll, all := 0, 0
		for _, a := range row.arms {
			solved, n, err := solving(a, st)
			if err != nil {
				return t, err
			}
			line = append(line, solvedCell(solved, n))
			solvedOfAll, all = solvedOfAll+solved, all+n
		}
		if all == 0 {
			without = append(without, strings.TrimSuffix(row.label+" "+row.weight, " "))
			continue
		}
		t.Rows = append(t.Rows, append(line, fmt.Sprintf("%d/%d", solvedOfAll, all)))
	}
	if len(without) > 0 {
		t.Notes = append(t.Notes, "No complete run yet: "+strings.Join(without, ", ")+".")
	}
	return t, nil
}

// shown is the weight of a row: a method's own is that of its experiments.
func (x Exploration) shown(row explorationRow) (string, error) {
	key, err := x.weightOf(strings.Fields(x.Tasks[0])[0], strings.Fields(row.label))
	if key == "" || err != nil || len(row.arms) == 0 {
		return viz.Missing, err
	}
	k, _ := plan.FindKey(conf.Keys(row.arms[0].Experiments[0]), key)
	if row.weight == "" {
		return k + " (own)", nil
	}
	return k, nil
}

// solvedCell writes k of n with its exact interval.
func solvedCell(solved, n int) string {
	if n == 0 {
		return viz.Missing
	}
	i := stats.Exact(solved, n)
	return fmt.Sprintf("%d/%d [%.2f, %.2f]", solved, n, i.Low, i.High)
}

// taskLabel is a task's name without its family and, behind it, its settings without "task.".
func taskLabel(task string) string {
	fields := strings.Fields(task)
	for i, f := range fields {
		fields[i] = strings.TrimPrefix(f, "task.")
	}
	fields[0] = path.Base(fields[0])
	return strings.Join(fields, " ")
}

// Coverage draws the share of a task's cells that have been visited over frames, a panel a task: every method with its
// own weight.
func (x Exploration) Coverage(st *results.Store) (viz.Panels, error) {
	own := x
	own.Weights = nil
	rows, err := own.rows()
	if err != nil {
		return viz.Panels{}, err
	}
	all := make([][]viz.Series, len(x.Tasks))
	labels := make([]string, len(rows)) // of what no panel shows, an empty one keeps its place
	few, many := 0, 0
	for i := range x.Tasks {
		list := make([]plan.Arm, len(rows))
		for k, row := range rows {
			list[k] = row.arms[i]
		}
		groups, err := complete(st, list)
		if err != nil {
			return viz.Panels{}, err
		}
		lines := viz.Scalar(groups, "coverage")
		series := make([]viz.Series, len(rows))
		for k, g := range groups {
			series[k] = viz.Series{Label: g.Label}
			if j := slices.IndexFunc(lines, func(s viz.Series) bool { return s.Label == g.Label }); j >= 0 {
				series[k], labels[k] = lines[j], rows[k].label
				n := len(g.Runs)
				if many = max(many, n); few == 0 || n < few {
					few = n
				}
			}
		}
		all[i] = series
	}
	note := fmt.Sprintf("mean of %d to %d seeds: thin lines up to five, of more the bootstrap 95 %% interval", few, many) // one for all panels
	var plots []*plot.Plot
	for i, task := range x.Tasks {
		p, err := viz.Curves(viz.Figure{Title: taskLabel(task), X: "frames", Y: "cells visited", Unlabelled: true, High: 1, Note: note}, all[i]...)
		if err != nil {
			return viz.Panels{}, err
		}
		plots = append(plots, p)
	}
	panels := viz.NewPanels(3, plots...)
	panels.Legend = slices.DeleteFunc(viz.Styles(labels...), func(s viz.Style) bool { return s.Name == "" })
	panels.Height = 2.3 * vg.Inch
	return panels, nil
}

// Verdict counts, on each task, the complete runs of st that solve it: supported where a method with a bonus solves
// what none without one does, on every task; contradicted where on none, and all have runs of both. It is a count
// without a test of significance.
func (x Exploration) Verdict(st *results.Store) (viz.Box, error) {
	rows, err := x.rows()
	if err != nil {
		return viz.Box{}, err
	}
	found, asked := 0, 0
	var lines []string
	for i, task := range x.Tasks {
		t, err := x.tally(st, rows, i)
		if err != nil {
			return viz.Box{}, err
		}
		if t.curious > 0 && t.plain > 0 {
			asked++
		}
		if t.solvedCurious && !t.solvedPlain && t.plain > 0 {
			found++
		}
		lines = append(lines, taskLabel(task)+": "+t.sentence(len(rows)))
	}
	state, mark := paper.NotTested, viz.Open
	switch {
	case found == len(x.Tasks):
		state, mark = paper.Supported, viz.Good
	case found == 0 && asked == len(x.Tasks):
		state, mark = paper.Contradicted, viz.Bad
	}
	lines = append([]string{fmt.Sprintf("That is so on %d of %d tasks, by counting runs; significance is not tested.", found, len(x.Tasks))}, lines...)
	return viz.Box{Mark: mark, Head: string(state), Text: "A method with an intrinsic reward solves what no method without one that was run does.", Lines: lines}, nil
}

// tally is who solves one task.
type tally struct {
	some, none                 []string // settings with and without a run that solves it
	curious, plain             int      // settings with and without a bonus that have complete runs
	solvedCurious, solvedPlain bool
}

// tally counts the runs of each row on task number i.
func (x Exploration) tally(st *results.Store, rows []explorationRow, i int) (t tally, err error) {
	for _, row := range rows {
		solved, n, err := solving(row.arms[i], st)
		if err != nil {
			return t, err
		}
		if n == 0 {
			continue
		}
		bonus, err := x.weightOf(strings.Fields(x.Tasks[i])[0], strings.Fields(row.label))
		if err != nil {
			return t, err
		}
		if bonus != "" {
			t.curious, t.solvedCurious = t.curious+1, t.solvedCurious || solved > 0
		} else {
			t.plain, t.solvedPlain = t.plain+1, t.solvedPlain || solved > 0
		}
		who := fmt.Sprintf("%s %d/%d", row.name(), solved, n)
		if solved > 0 {
			t.some = append(t.some, who)
		} else {
			t.none = append(t.none, who)
		}
	}
	return t, nil
}

// sentence says who solves the task, of so many settings.
func (t tally) sentence(settings int) string {
	tried := t.curious + t.plain
	if tried == 0 {
		return "no run is complete."
	}
	out := "solved by " + listed(t.some)
	if len(t.none) > 0 {
		out += "; not by " + listed(t.none)
	}
	if missing := settings - tried; missing > 0 {
		out += fmt.Sprintf("; %d of %d settings have no complete run", missing, settings)
	}
	return out + "."
}

// name tells a row from the others.
func (r explorationRow) name() string {
	if r.weight == "" {
		return r.label
	}
	return r.label + " at " + r.weight
}

// listed joins names, or says that there are none.
func listed(names []string) string {
	if len(names) == 0 {
		return "no method"
	}
	return strings.Join(names, ", ")
}
