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
	Note    string // what the paper leaves open about these numbers

	rewards string     // what a title says of what starred tasks are trained on; empty: as the paper has it
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
		cells = append(cells, Cell{Decimals: c.Decimals, Trial: *c.Trial.theorem(), Minus: c.Minus.theorem(), Dense: c.Dense.theorem()})
	}
	return cells
}

// Cell is one published number and how to get ours.
type Cell struct {
	Value     float64 // as published
	Decimals  int     // printed digits after the point
	HasSpread bool    // a ± is printed, in Table 3 only
	Spread    float64 // that ±, printed with two decimals
	Bold      bool    // as printed
	Trial     Trial
	Minus     *Trial // the cell is the difference Trial − Minus, as in Table 4; else nil
	Dense     *Trial // the same trained on the dense reward, of a starred task in Table 1; else nil
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

// changed is a changed copy of the trial; nil stays nil.
func (t *Trial) changed(change func(*Trial)) *Trial {
	if t == nil {
		return nil
	}
	out := *t
	change(&out)
	return &out
}

// theorem is the trial with Theorem 1's bonus instead of CERMIC's own; other methods keep theirs. nil stays nil.
func (t *Trial) theorem() *Trial {
	return t.changed(func(u *Trial) {
		if u.cermic() {
			u.Method += theoremSuffix
		}
	})
}

// Printed is the number as it stands in the paper, with its ± if it has one.
func (c Cell) Printed() string {
	s := strconv.FormatFloat(c.Value, 'f', c.Decimals, 64)
	if c.HasSpread {
		s += " ± " + strconv.FormatFloat(c.Spread, 'f', 2, 64)
	}
	return s
}

// The tables of results, by what they show.
var (
	Sota     = sota()     // Table 1: ten methods on fifteen tasks
	Agents   = agents()   // Table 2: contribution of each agent in Balance
	Ablation = ablation() // Table 3: losses, α and memory
	Density  = density()  // Table 4: trained on sparse or on dense reward
)

// Benchmarks are the tables of results in the paper's order. Tables 5 and 6 are settings: see Memories and Hyper.
var Benchmarks = []*Benchmark{Sota, Agents, Ablation, Density}

// FindBenchmark accepts a name or a number. The error names near ones.
func FindBenchmark(name string) (*Benchmark, error) {
	return find("table", name, Benchmarks, func(t *Benchmark) string { return t.Name },
		func(t *Benchmark) bool { return name == t.Name || name == strconv.Itoa(t.Number) })
}

// Published is the printed number of a task and a method, by their IDs, in a table of one trial a cell; ok is false
// where there is none.
func (t *Benchmark) Published(task, method string) (printed string, ok bool) {
	c, ok := t.of(Trial{Task: task, Method: method})
	if !ok {
		return "", false
	}
	return c.Printed(), true
}

// of is the first cell that is a trial's own number.
func (t *Benchmark) of(trial Trial) (Cell, bool) {
	for _, row := range t.Rows {
		for _, c := range row.Cells {
			if c.Minus == nil && c.Trial.Task == trial.Task && c.Trial.Method == trial.Method && slices.Equal(c.Trial.Set, trial.Set) {
				return c, true
			}
		}
	}
	return Cell{}, false
}

// rowOf is a row with the cells of each column.
func rowOf[T any](group, head string, columns []T, cells func(T) []Cell) Row {
	row := Row{Group: group, Head: head}
	for _, c := range columns {
		row.Cells = append(row.Cells, cells(c)...)
	}
	return row
}

// heads are the tasks with these names, and their abbreviations.
func heads(names []string) (tasks []Task, columns []string) {
	for _, name := range names {
		task := must(FindTask(name))
		tasks, columns = append(tasks, task), append(columns, task.Abbreviation)
	}
	return tasks, columns
}

func sota() *Benchmark {
	t := &Benchmark{Number: 1, Name: "sota",
		Caption: "Performance of ten methods on fifteen tasks; * marks tasks adapted to a sparse reward.",
		Note:    "The paper prints no standard deviation and no number of seeds."}
	for _, task := range Tasks {
		t.Columns = append(t.Columns, task.Abbreviation)
	}
	for _, m := range Methods {
		published := data.Sota.Methods[m.key]
		t.Rows = append(t.Rows, rowOf(string(m.Group), m.Name, Tasks, func(task Task) []Cell {
			cell := Cell{Value: published.Values[task.Name], Decimals: task.Decimals,
				Bold: slices.Contains(published.Bold, task.Name), Trial: Trial{Task: task.ID, Method: m.ID}}
			if task.Star {
				dense := RewardTrial(task, m.ID, "dense")
				cell.Dense = &dense
			}
			return []Cell{cell}
		}))
	}
	return t
}

func agents() *Benchmark {
	task := must(FindTask(data.Agents.Task))
	t := &Benchmark{Number: 2, Name: "agents", Caption: "Contribution of each agent in Balance*, by number of agents.",
		Note: "Read as the episode's reward divided by the number of agents."}
	for _, n := range data.Agents.NAgents {
		t.Columns = append(t.Columns, fmt.Sprintf("%d agents", n))
	}
	for _, key := range []string{"MAPPO-DB", "MAPPO-CERMIC"} {
		m := must(FindMethod(key))
		t.Rows = append(t.Rows, rowOf("", m.Name, data.Agents.NAgents, func(n int) []Cell {
			count := strconv.Itoa(n)
			trial := Trial{Task: task.ID, Method: m.ID, Agents: n}
			if n != balanceAgents {
				trial.Set = []string{"task.n_agents=" + count}
			}
			return []Cell{{Value: data.Agents.Methods[key][count], Decimals: task.Decimals,
				Bold: slices.Contains(data.Agents.Bold[key], count), Trial: trial}}
		}))
	}
	return t
}

// balanceAgents is the benchmark's own number of agents in Balance; a trial with it is a trial of Table 1.
const balanceAgents = 4

// ablationRows are the rows of Table 3 in its order. Three of them are MAPPO-CERMIC as it is, which has the graph
// memory, and share one trial.
var ablationRows = []struct {
	group, head, inFile string
	set                 []string
}{
	{"Loss ablations (α = 0.2)", "w/o L_explore", "loss_ablation_alpha_0.2", []string{"explore.alpha=0"}},
	{"Loss ablations (α = 0.2)", "w/o L_exploit", "loss_ablation_alpha_0.2", []string{"explore.exploit=false"}},
	{"Loss ablations (α = 0.2)", "MAPPO-CERMIC", "loss_ablation_alpha_0.2", nil},
	{"Coverage level α", "1.0", "coverage_level_alpha", []string{"explore.alpha=1"}},
	{"Coverage level α", "0.5", "coverage_level_alpha", []string{"explore.alpha=0.5"}},
	{"Coverage level α", "0.2", "coverage_level_alpha", nil},
	{"Memory type (α = 0.2)", "GRU", "memory_type_alpha_0.2", []string{"explore.memory=gru"}},
	{"Memory type (α = 0.2)", "Graph", "memory_type_alpha_0.2", nil},
}

func ablation() *Benchmark {
	t := &Benchmark{Number: 3, Name: "ablation", Caption: "Ablations of MAPPO-CERMIC.",
		Note: "The meaning of ± and the number of seeds are not stated."}
	method := must(FindMethod(data.Ablation.BaseMethod))
	var tasks []Task
	tasks, t.Columns = heads(data.Ablation.Columns)
	for _, r := range ablationRows {
		t.Rows = append(t.Rows, rowOf(r.group, r.head, tasks, func(task Task) []Cell {
			published := data.Ablation.Groups[r.inFile][r.head][task.Name]
			return []Cell{{Value: published.Mean, Spread: published.PM, HasSpread: true, Decimals: task.Decimals,
				Trial: Trial{Task: task.ID, Method: method.ID, Set: r.set}}}
		}))
	}
	return t
}

func density() *Benchmark {
	t := &Benchmark{Number: 4, Name: "density", Caption: "Trained on sparse or on dense reward.",
		Note: "The sparse columns repeat Table 1. Tested \"under a sparse-reward setting\" by the text, on the dense reward " +
			"by the appendix; Δ is dense − sparse, printed negative and called a drop."}
	tasks, columns := heads([]string{"Balance", "GiveWay", "Passage"})
	for _, column := range columns {
		t.Columns = append(t.Columns, column+" sparse", column+" dense", column+" Δ")
	}
	for _, key := range []string{"CPM", "QPLEX-ICES", "MAPPO-CERMIC"} {
		m := must(FindMethod(key))
		t.Rows = append(t.Rows, rowOf("", m.Name, tasks, func(task Task) []Cell {
			sparse, dense := RewardTrial(task, m.ID, "sparse"), RewardTrial(task, m.ID, "dense")
			cell := func(kind string, trial Trial, minus *Trial) Cell {
				return Cell{Value: data.Density.Methods[key][task.Name][kind], Decimals: task.Decimals,
					Bold: slices.Contains(data.Density.Bold[key][task.Name], kind), Trial: trial, Minus: minus}
			}
			return []Cell{cell("sparse", sparse, nil), cell("dense", dense, nil), cell("delta", dense, &sparse)}
		}))
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
	row, err := find("row", head, t.Rows, func(r Row) string { return r.Head },
		func(r Row) bool { return r.Head == head && strings.HasPrefix(r.Group, group) })
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", t.Name, err)
	}
	part := *t
	part.Rows = []Row{row}
	return &part, nil
}

// Only is the table with these columns alone, in this order. The error names near ones.
func (t *Benchmark) Only(columns ...string) (*Benchmark, error) {
	part := *t
	part.Columns, part.Rows, part.whole = columns, slices.Clone(t.Rows), cmp.Or(t.whole, t)
	for i, row := range t.Rows {
		part.Rows[i].Cells = nil
		for _, column := range columns {
			j := slices.Index(t.Columns, column)
			if j < 0 {
				return nil, fmt.Errorf("table %s has no column %q%s", t.Name, column, conf.Near(column, t.Columns))
			}
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

// With is the table in which the rows of CERMIC are trained with changed settings, each "key=value" as for -set; what a
// row sets itself stays. The published numbers stay beside them, so the caption says what was changed.
func (t *Benchmark) With(changes ...string) *Benchmark {
	if len(changes) == 0 {
		return t
	}
	set := func(u *Trial) { u.Set = slices.Concat(changes, u.Set) }
	with := t.changed(func(c *Cell) {
		if c.Trial.cermic() {
			set(&c.Trial)
			c.Minus, c.Dense = c.Minus.changed(set), c.Dense.changed(set)
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
