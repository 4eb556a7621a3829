// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/results"
	"cermic/viz"
)

// TestPathsAreMeasuredAsByHand has two agents on a line. The first goes from 0 to 1 and always predicts 1. It sees
// the second at the second of two steps. The second waits at 3 and predicts that.
func TestPathsAreMeasuredAsByHand(t *testing.T) {
	in := &results.Trace{Method: "mappo", Steps: 2, Agents: 2, Score: 7,
		Embed: [][]float64{{0}, {3}, {1}, {3}}, Predicted: [][]float64{{1}, {3}, {1}, {3}}, Bonus: []float64{1, 2, 5, 3},
		Visible: []bool{false, false, false, false, false, true, false, false}}
	p := pathsOf(in)
	mean := func(v []float64) float64 { return stat.Mean(v, nil) }
	for name, c := range map[string]struct{ got, want float64 }{
		"met": {mean(p.met), 0.25}, "nearest": {mean(p.nearest), (3 + 2 + 2 + 2) / 4.0}, "apart": {mean(p.apart), (3 + 3 + 2 + 2) / 4.0},
		"off": {mean(p.off), 0.25}, "moved": {mean(p.moved), 0.5}, "ahead": {mean(p.ahead), 0.5},
		"bonus seen": {mean(p.bonusSeen), 5}, "bonus alone": {mean(p.bonusAlone), 2},
		"spread": {spread([]*results.Trace{in}) * spread([]*results.Trace{in}), (1.75*1.75 + 1.25*1.25 + 0.75*0.75 + 1.25*1.25) / 4},
	} {
		if d := c.got - c.want; d > 1e-12 || d < -1e-12 { // a few additions in float64
			t.Errorf("%s is %g, want %g", name, c.got, c.want)
		}
	}
	table := PathsTable(in)
	if row := table.Rows[0]; len(row) != len(table.Header) || !slices.Equal(row[:4], []string{"mappo", "2", "7", "25 %"}) {
		t.Errorf("the table's row is %q under %q", row, table.Header)
	}
	in.Predicted = nil // a run without L_explore
	if row := PathsTable(in).Rows[0]; row[6] != viz.Missing || row[8] != viz.Missing || row[7] == viz.Missing {
		t.Errorf("without predictions the table's row is %q under %q", row, table.Header)
	}
}

// Two agents and 40 steps: r^i is 10 − block + 0.5·agent, so that the early half has mean 8.25 and the late one 3.25.
// Welch's t is 5 / √(2·2.5/5) = 5 of eight degrees of freedom, p = .00105.
func TestEpisodeFading_ComparesEarlyWithLateSteps(t *testing.T) {
	in := &results.Trace{Task: "vmas/balance", Method: "mappo-cermic", Steps: 40, Agents: 2}
	for step := range in.Steps {
		for agent := range in.Agents {
			in.Bonus = append(in.Bonus, 10-float64(step/4)+0.5*float64(agent))
		}
	}
	row := EpisodeFading(in).Rows[0]
	if row[3] != "8.25" || row[4] != "3.25" || row[5] != "5 [2.69, 7.31]" || row[6] != "0.0011" {
		t.Errorf("got %q", row)
	}
	short := &results.Trace{Steps: 2, Agents: 1, Bonus: []float64{2, 1}}
	if row := EpisodeFading(short).Rows[0]; row[3] != "2" || row[4] != "1" || row[5] != viz.Missing || row[6] != viz.Missing {
		t.Errorf("two steps are tested: %q", row)
	}
}

func TestTenths_AreOfTheBeginningAndTheEnd(t *testing.T) {
	points := make(results.Points, 20)
	for i := range points {
		points[i].Value = float64(-i)
	}
	if got := tenths(points); got != 18 { // (0 + −1)/2 − (−18 + −19)/2
		t.Errorf("got %g, want 18", got)
	}
}
