// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/stream"
	"cermic/viz"
)

// What was computed once is found by all of its settings, and by no others.
func TestStreamsAreComputedOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("runs streams")
	}
	t.Setenv("GOMLX_BACKEND", nn.Sequential)
	st := libtest.Store(t)
	s := stream.Default()
	s.Iterations, s.Every, s.NumEnvs, s.Steps = 2, 1, 2, 2
	some := StreamBonuses()[len(StreamBonuses())-1:]
	if some[0].Label != "rnd" {
		t.Fatalf("the last bonus is %s", some[0].Label)
	}
	if none, err := Streams(t.Context(), st, s, some, 1, false); err != nil || len(none) != 1 || none[0].Runs != nil {
		t.Fatalf("before: %+v, %v", none, err)
	}
	told, err := Streams(t.Context(), st, s, some, 1, true)
	if err != nil || len(told[0].Runs) != 1 || !slices.Equal(told[0].Runs[0].Iterations, []int{1, 2}) {
		t.Fatalf("computed: %+v, %v", told, err)
	}
	again, err := Streams(t.Context(), st, s, some, 2, false)
	if err != nil || !reflect.DeepEqual(again, told) {
		t.Errorf("stored are %+v, %v; want %+v of the first seed alone", again, err, told)
	}
	s.NumEnvs = 3
	if other, err := Streams(t.Context(), st, s, some, 1, false); err != nil || other[0].Runs != nil {
		t.Errorf("of another stream: %+v, %v", other, err)
	}
	panels, err := StreamCurves(told)
	if err != nil || len(panels.Rows) != 2 || len(panels.Rows[0]) != 2 {
		t.Errorf("curves: %v", err)
	}
}

func TestTheStreamsTableAnswersByItsLimits(t *testing.T) {
	run := func(seed uint64, rarity, noise float64) StreamTrace {
		return StreamTrace{Seed: seed, Iterations: []int{1, 2}, Rarity: []float64{0, rarity}, Noise: []float64{0, noise}, Restless: []float64{0, 0.6}, Frequent: []float64{0, 0.9}, Unvisited: []float64{0, 0.5}}
	}
	table := StreamTable([]Streamed{
		{"both", []StreamTrace{run(1, 0.9, 0.5), run(2, 0.6, 0.6)}}, {"neither", []StreamTrace{run(1, 0.9, 0.6), run(2, 0.5, 0.8)}}, {Label: "none"},
	})
	for i, want := range []string{
		"both|2|0.90, 0.60|0.50, 0.50|0.50, 0.60|0.60, 0.60|0.90, 0.90|yes|yes|yes", "neither|2|0.90, 0.50|0.50, 0.50|0.60, 0.80|0.60, 0.60|0.90, 0.90|no|no|yes",
		"none|0" + strings.Repeat("|"+viz.Missing, 8),
	} {
		if got := strings.Join(table.Rows[i], "|"); got != want {
			t.Errorf("row %q, want %q", got, want)
		}
	}
}

// Every bonus is one that the stream can be asked of.
func TestEveryStreamBonusIsValid(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range StreamBonuses() {
		if err := b.Config.Validate(); err != nil {
			t.Errorf("%s: %v", b.Label, err)
		}
		key, err := streamKey(stream.Default(), b.Config)
		if err != nil || seen[key] {
			t.Errorf("%s: key %q is that of another bonus, or %v", b.Label, key, err)
		}
		seen[key] = true
	}
}

// The traces that are committed are those that the notebook asks for: all of them, and no others.
func TestTheCommittedStreamsAreThoseOfEveryBonus(t *testing.T) {
	const seeds = 3
	told, err := Streams(t.Context(), libtest.Store(t), stream.Default(), StreamBonuses(), seeds, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range told {
		if len(b.Runs) != seeds {
			t.Errorf("%s: %d committed traces, want %d", b.Label, len(b.Runs), seeds)
		}
	}
	var committed map[string]StreamTrace
	if err := json.Unmarshal(committedStreams, &committed); err != nil || len(committed) != seeds*len(told) {
		t.Errorf("streams.json keeps %d traces, %v; want %d", len(committed), err, seeds*len(told))
	}
}
