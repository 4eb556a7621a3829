// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cermic/cermiclib/results"
	"cermic/envs/conf"
)

// Benchmark is one of the paper's four tables of results: rows and columns of published numbers, each with the trial
// that would produce our own.
type Benchmark struct {
	Number  int      // as compiled: 1 to 4
	Name    string   // on the command line: "sota"
	Caption string   // shortened
	Columns []string // heads, units left to Note
	Rows    []Row
	Note    string // points about these numbers that the paper leaves open

	rewards string     // training reward of starred tasks, as a title states it; empty: as the paper has it
	whole   *Benchmark // the table whose columns these are some of; nil: this one
}

// Row is one line of a table.
type Row struct {
	Group string // block heading
	Head  string
	Cells []Cell // one a column
}

// Theorems are the cells of a row of CERMIC trained with Theorem 1's bonus: ours, without published numbers. Other rows
// have none.
func (r Row) Theorems() (cells []Cell) {
	for _, c := range r.Cells {
		if !c.Trial.cermic() {
			return nil
		}
		ours := Cell{Decimals: c.Decimals, Trial: c.Trial, Minus: c.Minus, Dense: c.Dense}
		cells = append(cells, ours.changed(func(t *Trial) { t.Method += theoremSuffix }))
	}
	return cells
}

// Cell is one published number and how to get ours.
type Cell struct {
	Value    float64  // as published
	Decimals int      // printed digits after the point
	Spread   *float64 // the printed ±, with two decimals, in Table 3; else nil
	Bold     bool     // as printed
	Trial    Trial
	Minus    *Trial // the cell is the difference Trial − Minus, as in Table 4; else nil
	Dense    *Trial // the same trained on the dense reward, of a starred task in Table 1; else nil
}

// Trials are all that the cell shows: what is measured, what is taken from it, and the same on the dense reward.
func (c Cell) Trials() []Trial {
	out := []Trial{c.Trial}
	for _, t := range []*Trial{c.Minus, c.Dense} {
		if t != nil {
			out = append(out, *t)
		}
	}
	return out
}

// Trial says what to train for a cell, in our names.
type Trial struct {
	Task   string   // "vmas/balance"
	Method string   // "mappo-cermic"
	Set    []string // changes of the method's defaults, as for -set: "explore.alpha=0.5"
	Agents int      // divide the score by this many agents (Table 2); 0: do not
}

// cermic reports whether the trial is of a row of CERMIC.
func (t Trial) cermic() bool {
	return slices.ContainsFunc(Methods, func(m Method) bool { return m.ID == t.Method && m.Group == Ours })
}

// scores are the final scores of the trial's runs, one per seed, divided by the number of agents if the trial sets
// it.
func (t Trial) scores(g results.Group) ([]float64, error) {
	out, err := g.Scores()
	for i := range out {
		out[i] /= float64(max(1, t.Agents))
	}
	return out, err
}

// changed is the cell with a change in each of its trials.
func (c Cell) changed(change func(*Trial)) Cell {
	change(&c.Trial)
	for _, other := range []**Trial{&c.Minus, &c.Dense} {
		if *other != nil {
			t := **other
			change(&t)
			*other = &t
		}
	}
	return c
}

// Printed is the number as it stands in the paper, with its ± if it has one.
func (c Cell) Printed() string {
	s := strconv.FormatFloat(c.Value, 'f', c.Decimals, 64)
	if c.Spread != nil {
		s += " ± " + strconv.FormatFloat(*c.Spread, 'f', 2, 64)
	}
	return s
}

// The tables of results, by what they show.
var (
	Sota     = printed(1) // Table 1: ten methods on fifteen tasks
	Agents   = printed(2) // Table 2: contribution of each agent in Balance
	Ablation = printed(3) // Table 3: losses, α and memory
	Density  = printed(4) // Table 4: trained on sparse or on dense reward
)

// Benchmarks are the tables of results in the paper's order. Tables 5 and 6 are settings: see Memories and Hyper.
var Benchmarks = []*Benchmark{Sota, Agents, Ablation, Density}

// FindBenchmark accepts a name, a number, or the notebook's t1 to t4. The error names near ones.
func FindBenchmark(name string) (*Benchmark, error) {
	return find("table", name, Benchmarks, func(t *Benchmark) string { return t.Name },
		func(t *Benchmark) bool {
			return name == t.Name || strings.TrimPrefix(name, "t") == strconv.Itoa(t.Number)
		})
}

// Published is the printed number of a task and a method, by their IDs, in a table with one trial per cell. It is
// empty where there is none.
func (t *Benchmark) Published(task, method string) string {
	c, ok := t.of(Trial{Task: task, Method: method})
	if !ok {
		return ""
	}
	return c.Printed()
}

// of is the first cell that is a trial's own number.
func (t *Benchmark) of(trial Trial) (Cell, bool) {
	for _, row := range t.Rows {
		for _, c := range row.Cells {
			if c.Minus == nil && c.Trial.Task == trial.Task && c.Trial.Method == trial.Method &&
				slices.Equal(c.Trial.Set, trial.Set) {
				return c, true
			}
		}
	}
	return Cell{}, false
}

// printed is the table with this number.
func printed(number int) *Benchmark {
	in := data.Tables[number-1]
	t := &Benchmark{Number: in.Number, Name: in.Name, Caption: in.Caption, Note: in.Note}
	for _, column := range in.Columns {
		task := noError(FindTask(column.Task, Tasks))
		t.Columns = append(t.Columns, cmp.Or(column.Head, task.Abbreviation))
	}
	for _, r := range in.Rows {
		row := Row{Group: r.Group, Head: r.Head}
		for j, column := range in.Columns {
			task := noError(FindTask(column.Task, Tasks))
			trial := Trial{task.ID, r.Method, slices.Concat(column.Set, r.Set), column.Agents}
			cell := Cell{Value: r.Values[j], Decimals: task.Decimals, Bold: slices.Contains(r.Bold, j), Trial: trial}
			if len(r.Spreads) > 0 {
				cell.Spread = &r.Spreads[j]
			}
			if column.Difference {
				cell.Minus = &Trial{Task: task.ID, Method: r.Method, Set: r.Set}
			}
			if number == 1 && task.Star {
				dense := RewardTrial(task, r.Method, "dense")
				cell.Dense = &dense
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Label is the name of a method with changed settings, each "key=value", in sorted order: "mappo-cermic
// explore.alpha=0.5".
func Label(method string, changes []string) string {
	return strings.Join(append([]string{method}, slices.Sorted(slices.Values(changes))...), " ")
}

// Row is the table with one row alone, the one headed so in a group; an empty group means any. The error names near
// heads.
func (t *Benchmark) Row(group, head string) (*Benchmark, error) {
	of := slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool { return !strings.HasPrefix(r.Group, group) })
	row, err := conf.Find("row", head, of, func(r Row) string { return r.Head })
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", t.Name, err)
	}
	part := *t
	part.Rows = []Row{row}
	return &part, nil
}

// Names are the heads of the columns with tasks in full: "GiveWay*" for "GiveWa*".
func (t *Benchmark) Names() []string {
	names := slices.Clone(t.Columns)
	for i, head := range names {
		abbreviation, rest, _ := strings.Cut(head, " ")
		if j := slices.IndexFunc(Tasks, func(t Task) bool { return t.Abbreviation == abbreviation }); j >= 0 {
			names[i] = strings.TrimSpace(Tasks[j].Title() + " " + rest)
		}
	}
	return names
}

// Only is the table with these columns alone, in this order, each by its head or its full name. The error names near
// ones.
func (t *Benchmark) Only(columns ...string) (*Benchmark, error) {
	part := *t
	part.Columns, part.Rows, part.whole = nil, slices.Clone(t.Rows), cmp.Or(t.whole, t)
	for i := range part.Rows {
		part.Rows[i].Cells = nil
	}
	names := t.Names()
	for _, column := range columns {
		j := max(slices.Index(t.Columns, column), slices.Index(names, column))
		if j < 0 {
			return nil, fmt.Errorf("table %s has no column %q%s", t.Name, column, conf.Near(column, names))
		}
		part.Columns = append(part.Columns, t.Columns[j])
		for i, row := range t.Rows {
			part.Rows[i].Cells = append(part.Rows[i].Cells, row.Cells[j])
		}
	}
	return &part, nil
}

// changed is the table with a change in every cell.
func (t *Benchmark) changed(change func(*Cell)) *Benchmark {
	out := *t
	out.Rows = slices.Clone(t.Rows)
	for i, row := range t.Rows {
		out.Rows[i].Cells = slices.Clone(row.Cells)
		for j := range row.Cells {
			change(&out.Rows[i].Cells[j])
		}
	}
	return &out
}

// With is the table in which the rows of CERMIC are trained with changed settings, each "key=value" as for -set.
// Settings that a row sets itself stay. The published numbers stay beside them, so the caption states the changes.
func (t *Benchmark) With(changes ...string) *Benchmark {
	if len(changes) == 0 {
		return t
	}
	set := func(u *Trial) { u.Set = slices.Concat(changes, u.Set) }
	with := t.changed(func(c *Cell) {
		if c.Trial.cermic() {
			*c = c.changed(set)
		}
	})
	with.Note = strings.TrimSpace(t.Note + " CERMIC with " + strings.Join(changes, ", ") + ".")
	return with
}

// OnDense is the table with every starred task trained on the dense reward, where it says how.
func (t *Benchmark) OnDense() *Benchmark {
	dense := t.changed(func(c *Cell) {
		if c.Dense != nil {
			c.Trial, c.Dense = *c.Dense, nil
		}
	})
	dense.rewards = ", all trained on the dense reward"
	return dense
}

// Runs are the complete runs at one budget that the table's cells are measured with, each experiment once.
func (t *Benchmark) Runs(src Source) ([]results.Group, error) {
	return t.runs(src, func(r Row) []Cell { return r.Cells })
}

// TheoremRuns are the runs of the rows set apart, ours with Theorem 1's bonus.
func (t *Benchmark) TheoremRuns(src Source) ([]results.Group, error) {
	return t.runs(src, Row.Theorems)
}

func (t *Benchmark) runs(src Source, cells func(Row) []Cell) ([]results.Group, error) {
	var out []results.Group
	for _, row := range t.Rows {
		for _, cell := range cells(row) {
			for _, trial := range cell.Trials() {
				g, err := src.Runs(trial)
				if err != nil {
					return nil, err
				}
				same := func(o results.Group) bool { return o.Runs[0].ID == g.Runs[0].ID }
				if len(g.Runs) > 0 && !slices.ContainsFunc(out, same) {
					out = append(out, g)
				}
			}
		}
	}
	return out, nil
}
