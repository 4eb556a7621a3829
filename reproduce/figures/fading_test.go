// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"testing"

	"cermic/cermiclib/results"
	"cermic/viz"
)

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
