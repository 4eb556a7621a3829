// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"cermic/cermiclib/stats"
)

// ScoreTable is a table of measured numbers beside published ones. HTML renders it for a notebook, Text for a terminal.
type ScoreTable struct {
	Title   string
	Caption string // what is compared; how to read a cell is added by the rendering
	Columns []string
	Rows    []Row
}

// Row is one line of a ScoreTable.
type Row struct {
	Group string // heading of the block it belongs to; "" for none
	Head  string
	Ours  string // of a row set apart below the one with this Head: what is ours in it; empty: a row of the paper
	Cells []Cell // one a column
}

// Cell is one measurement. The zero Cell is 0 from no seeds, which renders as missing.
type Cell struct {
	Ours      float64  // mean over seeds
	Low, High float64  // bootstrap 95 % interval; NaN where there is none
	Seeds     int      // 0: not run
	Frames    int      // trained, each seed
	Published *float64 // nil: none
	Spread    *float64 // the published ±; nil: none
	Decimals  int      // digits after the point
	Bold      bool     // significantly above every other row that has runs (stats.Differ)

	// A task with two scores has one of whole episodes and one of their first steps. Ours is the first. It is not
	// known which of the two is published.
	FirstSteps int     // steps that the second counts; 0: the task has one score
	First      float64 // mean over seeds; NaN where the runs did not note it

	Dense *Cell // the same, trained on the dense reward, if Ours is trained on the sparse one; nil: not requested
}

// Difference is ours − published, NaN if either is missing or they may be different scores.
func (c Cell) Difference() float64 {
	if c.Published == nil || c.Seeds == 0 || c.FirstSteps > 0 {
		return math.NaN()
	}
	return c.Ours - *c.Published
}

// Missing marks what was not run or not published.
const Missing = "–"

// number writes v with the cell's digits and a real minus sign.
func (c Cell) number(v float64) string { return Fixed(v, c.Decimals) }

func (c Cell) ours() string {
	if c.Seeds == 0 {
		return Missing
	}
	return c.number(c.Ours)
}

func (c Cell) interval() string {
	if c.Seeds == 0 || math.IsNaN(c.Low+c.High) {
		return ""
	}
	return "[" + c.number(c.Low) + ", " + c.number(c.High) + "]"
}

// lines are our score, its notes and the published number. perCell adds seeds and frames.
func (c Cell) lines(perCell bool) (out []string) {
	out = []string{c.ours()}
	if c.Bold {
		out[0] = emphasis + out[0]
	}
	add := func(parts ...string) {
		if text := oneLine(strings.Join(parts, " ")); text != "" {
			out = append(out, text)
		}
	}
	effort := func(c Cell) string {
		if !perCell || c.Seeds == 0 {
			return ""
		}
		return fmt.Sprintf("%d × %s", c.Seeds, Short(float64(c.Frames)))
	}
	add(c.interval())
	if c.twoScores() {
		add(fmt.Sprintf("first %d steps: %s", c.FirstSteps, c.number(c.First)))
	}
	add(effort(c))
	if c.onDense() {
		add("dense", c.Dense.ours(), c.Dense.interval(), effort(*c.Dense))
	}
	if c.Published != nil {
		add("paper", c.compared())
	}
	return out
}

// twoScores reports whether a cell has a second score, and onDense whether it has runs on the dense reward.
func (c Cell) twoScores() bool { return c.Seeds > 0 && c.FirstSteps > 0 }
func (c Cell) onDense() bool   { return c.Dense != nil && c.Dense.Seeds > 0 }

// compared is the published number and the difference of ours to it, if both are known: "30.1 ± 0.2 (+1.1)".
func (c Cell) compared() string {
	out := c.number(*c.Published)
	if c.Spread != nil {
		out += " ± " + strconv.FormatFloat(*c.Spread, 'f', 2, 64)
	}
	switch d := c.Difference(); {
	case d > 0:
		out += " (+" + c.number(d) + ")"
	case d <= 0:
		out += " (" + c.number(d) + ")"
	}
	return out
}

// effort is what all measured cells have in common, "3 seeds of 600k frames", or empty if they differ.
func (g ScoreTable) effort() string {
	var all []string
	for _, r := range g.Rows {
		for _, c := range r.Cells {
			for _, c := range []*Cell{&c, c.Dense} {
				if c != nil && c.Seeds > 0 {
					all = append(all, fmt.Sprintf("%s of %s frames", Count(c.Seeds, "seed"), Short(float64(c.Frames))))
				}
			}
		}
	}
	if all = slices.Compact(all); len(all) != 1 {
		return ""
	}
	return all[0]
}

// fewSeeds is the number below which a reader is warned of intervals.
const fewSeeds = 10

// HTML renders the grid for a notebook.
func (g ScoreTable) HTML() string { return g.table().HTML() }

// Text renders the grid for a terminal of the given width in characters. A star stands before a number that is bold
// elsewhere.
func (g ScoreTable) Text(width int) string { return g.table().text(width) }

// table lays the grid out: a row for each heading of a block and for each row.
func (g ScoreTable) table() Table {
	t := Table{Title: g.Title, Header: append([]string{""}, g.Columns...),
		Notes: []string{g.guide(), g.Caption}, wide: true}
	perCell := g.effort() == ""
	for i, r := range g.Rows {
		if r.Group != "" && (i == 0 || g.Rows[i-1].Group != r.Group) {
			heading := make([]string, len(t.Header))
			heading[0] = "[" + r.Group + "]"
			t.Rows = append(t.Rows, heading)
		}
		row := []string{cmp.Or(r.Ours, r.Head)}
		for _, c := range r.Cells {
			row = append(row, strings.Join(c.lines(perCell), below))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// guide says how to read a cell, in one or two sentences.
func (g ScoreTable) guide() string {
	var said []string
	say := func(applies bool, sentence string) {
		if applies {
			said = append(said, sentence)
		}
	}
	effort, interval, run := g.effort(), "", g.any(func(c Cell) bool { return c.Seeds > 0 })
	if g.any(func(c Cell) bool { return c.interval() != "" }) {
		interval = ", bootstrap 95 % interval"
	}
	say(effort != "", "Ours: mean of "+effort+interval+".")
	say(effort == "" && run, "Ours: mean"+interval+", seeds × frames.")
	say(effort == "" && !run, "Ours: "+Missing+", not run yet.")
	say(g.any(func(c Cell) bool { return c.Published != nil }),
		"Published: as printed in the paper, then ours − published.")
	say(g.any(Cell.onDense), "Dense: trained on the benchmark's dense reward and scored alike; "+
		"the published number and bold type belong to the first line of a cell.")
	say(g.any(Cell.twoScores), "Where an episode has two scores, ours is that of the whole one; the published number may "+
		"be either, so no difference is taken. "+Missing+" behind first steps: the runs did not note it.")
	say(g.any(func(c Cell) bool { return c.interval() != "" && c.Seeds < fewSeeds }), stats.Caution)
	say(g.any(func(c Cell) bool { return c.Bold }), "Bold, or ★ in text: above every other row that has runs, both the "+
		"bootstrap's interval of the difference and Welch's excluding zero.")
	say(slices.ContainsFunc(g.Rows, func(r Row) bool { return r.Ours != "" }),
		"Set apart below a row: ours, not the paper's, and not compared for bold type.")
	return strings.Join(said, " ")
}

// any reports whether a predicate holds for some cell.
func (g ScoreTable) any(is func(Cell) bool) bool {
	return slices.ContainsFunc(g.Rows, func(r Row) bool { return slices.ContainsFunc(r.Cells, is) })
}
