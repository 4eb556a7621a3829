// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cermic/cermiclib/results"
	"cermic/envs/conf"
)

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

// With is the table in which the rows of CERMIC are trained with changed settings, each "key=value" as for -set; what a row sets itself
// stays. The published numbers stay beside them, so the caption says what was changed.
func (t *Benchmark) With(changes ...string) *Benchmark {
	if len(changes) == 0 {
		return t
	}
	with := *t
	with.Rows = slices.Clone(t.Rows)
	for i, row := range t.Rows {
		with.Rows[i].Cells = slices.Clone(row.Cells)
		for j, c := range row.Cells {
			if m, err := FindMethod(c.Trial.Method); err == nil && m.Group == Ours {
				cell := &with.Rows[i].Cells[j]
				cell.Trial.Set = slices.Concat(changes, c.Trial.Set)
				cell.Minus, cell.Dense = c.Minus.with(changes), c.Dense.with(changes)
			}
		}
	}
	with.Note = strings.TrimSpace(t.Note + " CERMIC with " + strings.Join(changes, ", ") + ".")
	return &with
}

// with is the trial with further changes, nil of none.
func (t *Trial) with(changes []string) *Trial {
	if t == nil {
		return nil
	}
	changed := *t
	changed.Set = slices.Concat(changes, t.Set)
	return &changed
}

// OnDense is the table with every starred task trained on the dense reward, where it says how.
func (t *Benchmark) OnDense() *Benchmark {
	dense := *t
	dense.rewards = ", all trained on the dense reward"
	dense.Rows = slices.Clone(t.Rows)
	for i, row := range t.Rows {
		dense.Rows[i].Cells = slices.Clone(row.Cells)
		for j, c := range row.Cells {
			if c.Dense != nil {
				dense.Rows[i].Cells[j].Trial, dense.Rows[i].Cells[j].Dense = *c.Dense, nil
			}
		}
	}
	return &dense
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
