// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/stats"
	"cermic/viz"
)

// Differences makes a table of pairs of methods, one a row, with Welch's interval of the difference of their means over seeds.
type Differences struct {
	table viz.Table
	ps    []float64 // of the rows
}

// NewDifferences begins a table; heads are of the columns that name a pair, and of is what is compared: "the sparse return".
func NewDifferences(title, of string, heads ...string) *Differences {
	return &Differences{table: viz.Table{Title: title, Header: append(heads, "difference", "p", "seeds", "seeds for 80 % power"),
		Notes: []string{"Difference of the means of " + of + " over seeds with Welch's 95 % interval, wherever both have two seeds or more that are not all alike; p with Holm's correction over all rows, " +
			"of which there are more as more is trained. Runs of the same seed begin from the same episodes whatever the method; intervals and p take them for independent, and so are rather too wide. " +
			"The last column: so many seeds of each method would make an uncorrected difference significant at 5 % four times in five, if it and the standard deviations are as measured; on few seeds a rough guide."}}}
}

// Add appends own − base, each one number a seed, under the names of the pair; what cannot be tested is left out.
func (d *Differences) Add(own, base []float64, names ...string) {
	if min(len(own), len(base)) < 2 || stat.Variance(own, nil)+stat.Variance(base, nil) == 0 {
		return
	}
	difference, p := stats.Contrast([][]float64{own, base}, []float64{1, -1})
	d.ps = append(d.ps, p)
	d.table.Rows = append(d.table.Rows, append(names, difference.String(), "", fmt.Sprintf("%d and %d", len(own), len(base)), cmp.Or(SeedsNeeded(own, base), viz.Missing)))
}

// AddEach adds each method but the first beside it: values are one list of seeds a method, and before the names of methods stands where that is.
func (d *Differences) AddEach(values [][]float64, methods []string, where ...string) {
	for m := 1; m < len(values); m++ {
		d.Add(values[m], values[0], append(slices.Clone(where), methods[m])...)
	}
}

// Table is what has been added, or a note that nothing could be.
func (d *Differences) Table() viz.Table {
	t := d.table
	if len(t.Rows) == 0 {
		t.Notes = []string{"No difference can be tested yet: it takes two seeds or more of both methods."}
	}
	t.Rows = slices.Clone(t.Rows)
	for i, p := range stats.Holm(d.ps) {
		row := t.Rows[i]
		row[len(row)-3] = fmt.Sprintf("%.2g", p)
	}
	return t
}

// SeedsNeeded writes how many runs of each method would find the difference of x and y; nothing where they do not say.
func SeedsNeeded(x, y []float64) string {
	switch n := stats.SeedsNeeded([][]float64{x, y}, []float64{1, -1}, 1-stats.Level); {
	case n == 0:
		return ""
	case n > stats.MostSeeds:
		return fmt.Sprintf("more than %d", stats.MostSeeds)
	default:
		return fmt.Sprint(n)
	}
}

// Differences compares the rows of the table with the one under a head, column by column.
func (t *Benchmark) Differences(src Source, base string) (viz.Table, error) {
	first, err := t.Row("", base)
	if err != nil {
		return viz.Table{}, err
	}
	runs := asked{src: src}
	d := NewDifferences("Differences from "+base+t.rewards, "the last score", "task", "method")
	for j, column := range t.Columns {
		from := runs.scores(first.Rows[0].Cells[j].Trial)
		for _, row := range t.Rows {
			if row.Head != base && row.Cells[j].Minus == nil {
				d.Add(runs.scores(row.Cells[j].Trial), from, column, row.Head)
			}
		}
	}
	return d.Table(), runs.err
}
