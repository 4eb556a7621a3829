// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"cermic/cermiclib/stats"
	"cermic/viz"
)

// Differences makes a table of pairs of methods, one per row, with Welch's interval of the difference of their means
// over seeds. All comparisons of one method form its family, testable or not.
type Differences struct {
	table viz.Table
	ps    map[string][]float64 // by method, of its whole family; 1 of what cannot be tested
	at    []int                // of each row of the table, in its method's family
}

// NewDifferences begins a table; heads are of the columns that name a pair, the method last, and of is what is
// compared: "the sparse return".
func NewDifferences(title, of string, heads ...string) *Differences {
	note := "Difference of the means of " + of + " over seeds with Welch's 95 % interval, wherever both have two seeds " +
		"or more that are not all alike; p with Holm's correction over N comparisons, all those of the method in its row " +
		"that this table asks for, trained or not. Runs of the same seed begin from the same episodes whatever the " +
		"method; intervals and p take them for independent, and so are rather too wide."
	t := viz.Table{Title: title, Header: append(heads, "difference", "p", "seeds"), Notes: []string{note}}
	return &Differences{ps: map[string][]float64{}, table: t}
}

// Add appends own − base under the names of the pair, the method last. Both have one number per seed. A difference
// that cannot be tested has no row, but belongs to the method's family.
func (d *Differences) Add(own, base []float64, names ...string) {
	method := names[len(names)-1]
	difference, p := stats.Contrast([][]float64{own, base}, []float64{1, -1})
	if math.IsNaN(p) {
		d.ps[method] = append(d.ps[method], 1)
		return
	}
	d.at, d.ps[method] = append(d.at, len(d.ps[method])), append(d.ps[method], p)
	d.table.Rows = append(d.table.Rows, append(names, difference.String(), "",
		fmt.Sprintf("%d and %d", len(own), len(base))))
}

// Table is what has been added, or a note that nothing could be.
func (d *Differences) Table() viz.Table {
	t := d.table
	if len(t.Rows) == 0 {
		t.Notes = []string{"No difference can be tested yet: it takes two seeds or more of both methods."}
	}
	for i, row := range t.Rows {
		ps := d.ps[row[len(row)-4]]
		row[len(row)-2] = fmt.Sprintf("%.2g (Holm over %s)", stats.Holm(ps)[d.at[i]], viz.Count(len(ps), "comparison"))
	}
	return t
}

// Differences compares the rows of the table with the one under a head, column by column, as claims do. A comparison
// that claims do not test has no row. The family of a row spans all columns of the whole table, even if this is a
// part of it.
func (t *Benchmark) Differences(src Source, base string) (viz.Table, error) {
	whole := cmp.Or(t.whole, t)
	first, err := whole.Row("", base)
	if err != nil {
		return viz.Table{}, err
	}
	d := NewDifferences("Differences from "+base+t.rewards, "the last score", "task", "method")
	for _, row := range whole.Rows {
		for _, cells := range [][]Cell{row.Cells, row.Theorems()} {
			for j, cell := range cells {
				if row.Head == base || cell.Minus != nil {
					continue
				}
				test := twoOf(whole.Columns[j], DisplayName(cell.Trial.Method), cell.Trial, first.Rows[0].Cells[j].Trial)
				found, err := test.find(src)
				if err != nil {
					return viz.Table{}, err
				}
				pair := make([][]float64, 2)
				if found != nil && found.Untested == "" {
					pair = found.groups
				}
				d.Add(pair[0], pair[1], test.on, test.of)
			}
		}
	}
	table := d.Table()
	table.Rows = slices.DeleteFunc(table.Rows, func(row []string) bool { return !slices.Contains(t.Columns, row[0]) })
	return table, nil
}
