// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/conf"
	"cermic/cermiclib/results"
	"cermic/cermiclib/run"
	"cermic/cermiclib/stats"
	"cermic/viz"
)

// Explored is a study of which methods find what chance does not: every method, with every weight of its bonus, on every task.
type Explored struct {
	Tasks   []string // each with its settings behind it: "explore/rooms task.tv=screen"
	Methods []string // likewise: "mappo-cermic explore.int_form=elliptical"
	Weights []string // of the bonus beside the method's own, "0.05"; methods without a bonus have none
	Budget  string
	Seeds   int // 1 to Seeds
}

// ExploredMethods are those that a study of exploration compares: each learner alone, and with every explorer. CERMIC's module is there with
// the memory of the tables, the graph, and with the MLP, which costs a third.
var ExploredMethods = []string{"mappo", "mappo-eps", "qmix", "qplex", "mace", "mace explore.int_coef=0.05", "mappo-db", "qplex-ices",
	"mappo-cermic", "mappo-cermic explore.memory=mlp", "mappo-cermic-novelty", "mappo-cermic-novelty explore.memory=mlp", "mappo-cermic-literal"}

// solvedFrom is the share of episodes of the last evaluation from which on a run solves its task.
const solvedFrom = 0.5

// exploredRow is one method with one weight of its bonus.
type exploredRow struct {
	label  string // method and settings
	weight string // "" its own
	arms   []arm  // one a task
}

// rows composes the study. What is the same as an earlier row, as a weight that is the method's own, is not listed again.
func (x Explored) rows() (out []exploredRow, err error) {
	seen := map[string]bool{}
	for _, label := range x.Methods {
		for _, weight := range append([]string{""}, x.Weights...) {
			row := exploredRow{label: label, weight: weight}
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
				row.arms = append(row.arms, arm{label, es})
			}
			if !known {
				out = append(out, row)
			}
		}
	}
	return out, nil
}

// experiments are those of one cell, one a seed; none where the method has no bonus to weigh.
func (x Explored) experiments(task, method, weight string) ([]run.Experiment, error) {
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
	return Grid(t[:1], m[:1], x.Budget, x.Seeds, set...)
}

// weightOf is the key of a method's weight of curiosity: of its bonus or, for ICES, of the actions that its exploring policy takes.
func (x Explored) weightOf(task string, method []string) (string, error) {
	e, err := New(Request{Task: task, Method: method[0], Budget: x.Budget, Set: method[1:]})
	if err != nil {
		return "", err
	}
	keys := conf.Keys(e)
	for _, key := range []string{"explore.int_coef", "explore.int_ratio"} {
		if _, ok := find(keys, key); ok {
			return key, nil
		}
	}
	return "", nil
}

// Experiments lists the study's experiments, each once.
func (x Explored) Experiments() ([]run.Experiment, error) {
	rows, err := x.rows()
	if err != nil {
		return nil, err
	}
	var es []run.Experiment
	for _, row := range rows {
		for _, a := range row.arms {
			es = append(es, a.es...)
		}
	}
	return unique(es)
}

// solving counts the runs of an arm that st has complete, and those of them that solve their task.
func (a arm) solving(st *results.Store) (solved, n int, err error) {
	g, err := a.complete(st)
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
func (x Explored) Table(st *results.Store) (viz.Table, error) {
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
	for _, row := range rows {
		weight, err := x.shown(row)
		if err != nil {
			return t, err
		}
		line := []string{row.label, weight}
		solvedOfAll, all := 0, 0
		for _, a := range row.arms {
			solved, n, err := a.solving(st)
			if err != nil {
				return t, err
			}
			line = append(line, solvedCell(solved, n))
			solvedOfAll, all = solvedOfAll+solved, all+n
		}
		total := viz.Missing
		if all > 0 {
			total = fmt.Sprintf("%d/%d", solvedOfAll, all)
		}
		t.Rows = append(t.Rows, append(line, total))
	}
	return t, nil
}

// shown is the weight of a row: a method's own is that of its experiments.
func (x Explored) shown(row exploredRow) (string, error) {
	key, err := x.weightOf(strings.Fields(x.Tasks[0])[0], strings.Fields(row.label))
	if key == "" || err != nil || len(row.arms) == 0 {
		return viz.Missing, err
	}
	k, _ := find(conf.Keys(row.arms[0].es[0]), key)
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

// Coverage draws the share of a task's cells that have been visited over frames, a panel a task: every method with its own weight.
func (x Explored) Coverage(st *results.Store) (viz.Panels, error) {
	own := x
	own.Weights = nil
	rows, err := own.rows()
	if err != nil {
		return viz.Panels{}, err
	}
	var plots []*plot.Plot
	var labels []string
	for i, task := range x.Tasks {
		groups := make([]results.Group, len(rows)) // empty ones, too: their places give colours
		for k, row := range rows {
			if groups[k], err = row.arms[i].complete(st); err != nil {
				return viz.Panels{}, err
			}
			if i == 0 {
				labels = append(labels, row.label)
			}
		}
		lines := viz.Scalar(groups, "coverage")
		series := make([]viz.Series, len(rows))
		for k, g := range groups {
			series[k] = viz.Series{Label: g.Label}
			if j := slices.IndexFunc(lines, func(s viz.Series) bool { return s.Label == g.Label }); j >= 0 {
				series[k] = lines[j]
			}
		}
		p, err := viz.Curves(viz.Figure{Title: taskLabel(task), X: "frames", Y: "cells visited", Unlabelled: true, High: 1}, series...)
		if err != nil {
			return viz.Panels{}, err
		}
		plots = append(plots, p)
	}
	panels := viz.NewPanels(3, plots...)
	panels.Legend = viz.Styles(labels...)
	panels.Height = 2.3 * vg.Inch
	return panels, nil
}

// Verdict says in a line a task who solves it, as far as st knows: counts of complete runs, nothing more.
func (x Explored) Verdict(st *results.Store) (string, error) {
	rows, err := x.rows()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, task := range x.Tasks {
		var some, none []string
		missing := 0
		for _, row := range rows {
			solved, n, err := row.arms[i].solving(st)
			if err != nil {
				return "", err
			}
			who := fmt.Sprintf("%s %d/%d", row.name(), solved, n)
			switch {
			case n == 0:
				missing++
			case solved > 0:
				some = append(some, who)
			default:
				none = append(none, who)
			}
		}
		if missing == len(rows) {
			fmt.Fprintf(&b, "- **%s**: not tested, no run is complete.\n", taskLabel(task))
			continue
		}
		fmt.Fprintf(&b, "- **%s**: solved by %s", taskLabel(task), listed(some))
		if len(none) > 0 {
			fmt.Fprintf(&b, "; not by %s", listed(none))
		}
		if missing > 0 {
			fmt.Fprintf(&b, "; %d of %d settings have no complete run", missing, len(rows))
		}
		b.WriteString(".\n")
	}
	return b.String(), nil
}

// name tells a row from the others.
func (r exploredRow) name() string {
	if r.weight == "" {
		return r.label
	}
	return r.label + " at " + r.weight
}

// listed joins names, or says that there are none.
func listed(names []string) string {
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, ", ")
}
