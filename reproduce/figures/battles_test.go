// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/libtest"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/scripted"
	"cermic/envs/smac"
)

// The last million steps of ten, as the specification of the battles prints them, to the digits that it prints.
func TestPublishedBattlesEndAsTheirAuthorsReport(t *testing.T) {
	var file struct {
		Tasks map[string]map[string]struct {
			Runs    int
			LastWin []float64 `json:"mean_win_last_million_per_run"`
		}
	}
	must.Do(t, json.Unmarshal(battlesJSON, &file))
	for task, want := range map[string]map[string]float64{
		"smac/protoss_5_vs_5": {"QMIX": .71, "MAPPO": .57, "open-loop MAPPO": .07},
		"smac/zerg_5_vs_5":    {"QMIX": .40, "MAPPO": .43, "open-loop MAPPO": .07},
	} {
		for learner, r := range file.Tasks[path.Base(task)] {
			if got := stat.Mean(r.LastWin, nil); math.Abs(got-want[learner]) > 0.0051 || r.Runs != len(r.LastWin) {
				t.Errorf("%s %s: %.4f of %d runs, want %.2f", task, learner, got, r.Runs, want[learner])
			}
		}
		for _, s := range publishedCurves(task, 2e6) {
			if n := len(s.X); n != 10 || s.X[n-1] != 2e6 || len(s.Y[0]) != n || !s.Reference {
				t.Errorf("%s: %d points up to %g", s.Label, n, s.X[n-1])
			}
		}
	}
}

// The first row is the unchanged simulator. Every alternative has a row of its own.
func TestSensitivityBeginsWithTheSimulatorAsItIs(t *testing.T) {
	const episodes = 60
	s := must.Get(BattleSensitivity("smac/zerg_5_vs_5", scripted.Script, episodes, 3))(t)
	cfg := must.Get(envs.Default("smac/zerg_5_vs_5"))(t)
	p, err := scripted.Rollout(cfg, scripted.Script, episodes, 3)
	if err != nil || !slices.Equal(p.Dense, s.won[0]) {
		t.Errorf("the first row won %v, want %v (%v)", s.won[0], p.Dense, err)
	}
	var same []string
	for i, c := range s.cases[1:] {
		if slices.Equal(s.won[i+1], p.Dense) {
			same = append(same, c.Name)
		}
	}
	// Zealots and colossi are not among zerg; of the others, some change no outcome of so few episodes.
	if len(s.cases) != 1+len(smac.Alternatives()) || !slices.Contains(same, "both_at_once") || !slices.Contains(same, "beams_at_once") || len(same) > 5 {
		t.Errorf("%d rows, of which %v have the outcomes of the first", len(s.cases), same)
	}
	// Zerglings and hydralisks collide. The change within pairs of episodes is known more precisely than the two
	// separate means.
	at := slices.IndexFunc(s.cases, func(c smac.Alternative) bool { return c.Name == "no_collision" })
	table := SensitivityTable(s, s)
	want := stat.Mean(s.won[at], nil) - stat.Mean(p.Dense, nil)
	var difference, low, high float64
	if _, err := fmt.Sscanf(table.Rows[at][4], "%g [%g, %g]", &difference, &low, &high); err != nil || math.Abs(difference-want) > 0.0005 || high-low > 0.3 {
		t.Errorf("a difference of %s, want %g (%v)", table.Rows[at][4], want, err)
	}
	if len(table.Rows) != len(s.cases) || len(table.Rows[0]) != len(table.Header) || len(table.Header) != 7 {
		t.Errorf("%d rows of %d cells under %d heads", len(table.Rows), len(table.Rows[0]), len(table.Header))
	}
	if _, err := s.Plot(); err != nil {
		t.Error(err)
	}
}

func TestBattleCurvesSayWhenNobodyHasTrained(t *testing.T) {
	st := libtest.Store(t)
	panels, said, err := BattleCurves(st, "short", "dense", 2e6)
	if err != nil || len(panels.Rows[0]) != 2 || !strings.Contains(said, "No battle has been trained") || !strings.Contains(said, "oxwhirl/smacv2") {
		t.Errorf("%q, %v", said, err)
	}
}
