// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/reproduce/paper"
	"cermic/viz"
)

// framesOf returns the frames of a preset budget.
func framesOf(budget string) int {
	p, _ := cermiclib.FindPreset(budget) // of the name of one
	return p.Budget.Frames
}

// Cell is one number of a table of the paper with the experiments that reproduce it.
type Cell struct {
	Name        string              // "Table 1, MAPPO-CERMIC on Balanc*"
	Experiments []experiment.Config // one per seed; for a difference, one per seed and reward

	part     *paper.Benchmark // the table with this row and this column alone
	budget   string
	settings []string // of a row with changes, for which the paper has no number; else empty
}

// NewCell finds the number in a row and a column, as the table heads them. Settings, each "key=value" or "key=default",
// change rows of CERMIC where the row itself does not set them. The paper has no number for a changed experiment.
func NewCell(t *paper.Benchmark, row, column, budget string, seeds int, settings ...string) (*Cell, error) {
	if seeds < 1 {
		return nil, fmt.Errorf("the number of seeds is %d, want 1 or more", seeds)
	}
	part, err := t.Row("", row)
	if err != nil {
		return nil, err
	}
	if part, err = part.Only(column); err != nil {
		return nil, err
	}
	part.Rows[0].Cells[0].Dense = nil // the same method on another reward is another number
	name := fmt.Sprintf("Table %d, %s on %s", t.Number, row, column)
	c := &Cell{Name: name, part: part.With(withoutDefaults(settings)...), budget: budget}
	own, err := experimentsOf(part, budget, 1)
	if err != nil {
		return nil, err
	}
	if c.Experiments, err = experimentsOf(c.part, budget, seeds); err != nil {
		return nil, err
	}
	if c.Experiments[0].Label() == own[0].Label() {
		c.part = part // the settings change nothing, so the row keeps its own note
		return c, nil
	}
	d, err := describe(c.Experiments[0])
	c.settings = d.Changes
	return c, err
}

// withoutDefaults leaves out settings with the value "default", which menus offer.
func withoutDefaults(settings []string) []string {
	return slices.DeleteFunc(slices.Clone(settings), func(s string) bool { return strings.HasSuffix(s, "=default") })
}

// Changed returns the settings, each "key=value", that differ from the defaults of a method with CERMIC's module; none
// of other methods.
func Changed(method, budget string, settings ...string) ([]string, error) {
	if !strings.Contains(method, "cermic") {
		return nil, nil
	}
	e, err := New(Request{Task: "balance", Method: method, Budget: budget, Set: withoutDefaults(settings)})
	if err != nil {
		return nil, err
	}
	d, err := describe(e)
	return d.Changes, err
}

func experimentsOf(part *paper.Benchmark, budget string, seeds int) (es []experiment.Config, err error) {
	for _, trial := range part.Rows[0].Cells[0].Trials() {
		some, err := Grid([]string{trial.Task}, []string{trial.Method}, budget, seeds, trial.Set...)
		if err != nil {
			return nil, err
		}
		es = append(es, some...)
	}
	return es, nil
}

// Runs returns the complete runs of the number.
func (c *Cell) Runs(st *results.Store) ([]results.Group, error) { return c.part.Runs(At(st, c.budget)) }

// Report compares the paper's number with ours: mean over seeds, Student's 95 % interval, difference, significance.
func (c *Cell) Report(st *results.Store) (viz.Box, error) {
	src, cell := At(st, c.budget), c.part.Rows[0].Cells[0]
	table, err := c.part.Results(src)
	if err != nil {
		return viz.Box{}, err
	}
	ours, scores, err := cell.Score(src)
	if err != nil {
		return viz.Box{}, err
	}
	changed := len(c.settings) > 0
	printed := strings.Replace(cell.Printed(), "-", "−", 1)
	published := "Published: " + printed + "."
	if changed {
		published = "Published: none with " + strings.Join(c.settings, ", ") + "; " + printed +
			" with the row's own settings."
	}
	box := viz.Box{Head: "not trained", Text: fmt.Sprintf("%s, budget %s.", c.Name, c.budget), Lines: []string{published}}
	if len(scores) == 0 {
		return box, nil
	}
	var each []string
	for _, x := range scores {
		each = append(each, viz.Fixed(x, cell.Decimals))
	}
	measured := table.Rows[0].Cells[0]
	line := fmt.Sprintf("Ours: %s, %s × %s frames.",
		paper.Rounded(ours, cell.Decimals), viz.Count(measured.Seeds, "seed"), viz.Short(float64(measured.Frames)))
	if cell.Minus == nil {
		line += " Seeds: " + strings.Join(each, ", ") + "."
	}
	box.Lines = append(box.Lines, line)
	difference := stats.Interval{Value: ours.Value - cell.Value, Low: ours.Low - cell.Value, High: ours.High - cell.Value}
	less, share := "Ours less published: "+paper.Rounded(difference, cell.Decimals)+".", ""
	if all := framesOf("paper"); measured.Frames < all {
		share = fmt.Sprintf("%s of the paper's %s frames. ", commas(measured.Frames), commas(all))
	}
	switch {
	case changed:
		box.Head, less, share = "no published number", "", ""
	case measured.FirstSteps > 0:
		box.Head, share = "not comparable", ""
		less = "The paper does not say whether it scores whole episodes or their first steps."
	case measured.Frames < framesOf("short"):
		box.Head = "too short to compare"
	case math.IsNaN(ours.Low):
		box.Head = "too few seeds to test"
	case difference.Excludes(0):
		box.Mark, box.Head = viz.Bad, "differs from the paper"
	default:
		box.Mark, box.Head = viz.Good, "not distinguishable from the paper"
		less += fmt.Sprintf(" These seeds would show a difference of %s or more.",
			viz.Fixed(ours.High-ours.Value, cell.Decimals))
	}
	box.Text = share + box.Text
	if less != "" {
		box.Lines = append(box.Lines, less)
	}
	box.Lines = append(box.Lines, "Brackets: Student's 95 % interval. "+
		"The verdict compares it with the published number, which has no interval.", table.Caption)
	return box, nil
}

// commas writes a number of frames in full: 3,000,000.
func commas(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", commas(n/1000), n%1000)
}

// Takes returns the time that training es takes here one by one, less the frames that st has, at the rates of the runs
// in measured: "about 12 min 05 s".
func Takes(es []experiment.Config, st, measured *results.Store) (string, error) {
	known, err := NewRates(measured)
	if err != nil {
		return "", err
	}
	costs, err := CostsAt(known, es, st)
	if err != nil {
		return "", err
	}
	seconds, unknown, assumed, quick := 0.0, 0, "", true
	for _, c := range costs {
		switch {
		case c.Frames == 0:
		case c.FPS == 0:
			unknown += c.Runs - c.Done
			quick = quick && c.ImageAgents == 0 && c.Longest <= framesOf("smoke") // with any method, on vectors
		case c.Source == Slowest:
			assumed = ", methods without runs counted as the slowest one"
		}
		seconds += c.Takes(c.Frames).Seconds()
	}
	seconds = max(1, seconds) // a run is evaluated and stored even if no frame is left
	switch {
	case unknown == 0:
		return "about " + viz.Clock(seconds) + assumed, nil
	case unknown == len(es) && quick:
		return "under a minute a run", nil
	case unknown == len(es):
		return "an unknown time, since no run like these is stored", nil
	}
	return fmt.Sprintf("about %s%s, without %s of unknown rate",
		viz.Clock(seconds), assumed, viz.Count(unknown, "run")), nil
}
