// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
)

// rising is a synthetic learning curve: it approaches top at the given pace, with seeds a fixed ripple apart.
func rising(label string, top, pace float64, seeds int) Series {
	s := Series{Label: label}
	for frames := 0.0; frames <= 600_000; frames += 30_000 {
		s.X = append(s.X, frames)
	}
	for seed := range seeds {
		y := make([]float64, len(s.X))
		for i, x := range s.X {
			ripple := 5 * math.Sin(x/70_000+float64(3*seed)) * math.Exp(-x/4e5)
			y[i] = top*(1-math.Exp(-x/pace)) + ripple - 3*float64(seed)
		}
		s.Y = append(s.Y, y)
	}
	return s
}

func exampleCurves() (*plot.Plot, error) {
	recorded := rising("BenchMARL MAPPO", 52, 1.4e5, 1)
	recorded.Reference = true
	return Curves(
		Figure{Title: "Four methods of different pace", X: "frames", Y: "mean episode return"},
		rising("mappo", 40, 1.8e5, 5), rising("qmix", 36, 3.5e5, 5),
		rising("qmix-cermic", 44, 2.6e5, 5), rising("mappo-cermic", 58, 1.1e5, 5), recorded)
}

func TestCurvesLookAsBefore(t *testing.T) {
	looksAsBefore(t, "curves")(exampleCurves())
}

// An empty frame must not look like a result: no numbers on its axes, and a word where lines would be.
func TestAMutedSeriesIsAGreyMeanWithoutAName(t *testing.T) {
	s := Series{Label: "mace", Method: "mace", X: []float64{1, 2}, Y: [][]float64{{1, 3}, {3, math.NaN()}}}.Muted()
	if s.Y[0][0] != 2 || !math.IsNaN(s.Y[0][1]) {
		t.Errorf("the mean is %v, want 2 and none where a seed has no value", s.Y)
	}
	if looks := Looks(Series{Label: "mace"}, s); looks[1].Color == looks[0].Color || looks[1].Name != "" {
		t.Errorf("it looks as %+v", looks[1])
	}
}

func TestCurvesOfNothingSayThatThereIsNothing(t *testing.T) {
	looksAsBefore(t, "empty")(Curves(Figure{Title: "nobody has trained", X: "frames", Y: "return"}, Series{Label: "mappo"}))
}

func TestCurvesRefuseInfiniteValues(t *testing.T) {
	bad := Series{Label: "mappo", X: []float64{0}, Y: [][]float64{{math.Inf(1)}}}
	if _, err := Curves(Figure{}, bad); err == nil {
		t.Error("an infinite value was drawn")
	}
	short := Series{Label: "mappo", X: []float64{0, 1}, Y: [][]float64{{1}}}
	if _, err := Curves(Figure{}, short); err == nil {
		t.Error("a seed with too few values was drawn")
	}
}

func TestEvalsAlignTheFramesOfAGroupsSeeds(t *testing.T) {
	gs := []results.Group{
		{Label: "mappo", Runs: []*results.Record{
			{Seed: 0, Evals: []results.Eval{{Frames: 0, Scores: []float64{1, 3}}, {Frames: 100, Scores: []float64{5}}}},
			{Seed: 1, Evals: []results.Eval{{Frames: 0, Scores: []float64{4}}}},
		}},
		{Label: "qmix", Runs: []*results.Record{{Seed: 0, Evals: []results.Eval{{Frames: 0, Scores: []float64{7}}}}}},
		{Label: "cpm", Runs: []*results.Record{{Seed: 0}}},
	}
	got := Evals(gs)
	if len(got) != 2 || got[0].Label != "mappo" || got[1].Label != "qmix" {
		t.Fatalf("got %+v, want mappo and qmix", got)
	}
	m := got[0]
	if len(m.X) != 2 || m.Y[0][0] != 2 || m.Y[0][1] != 5 || m.Y[1][0] != 4 || !math.IsNaN(m.Y[1][1]) {
		t.Errorf("mappo is %+v, want the episode means and a gap where seed 1 has no value", m)
	}
}

func TestALineCountsEverySeedOnce(t *testing.T) {
	run := func(id string) *results.Record {
		return &results.Record{ID: id, Seed: 1, Evals: []results.Eval{{Frames: 1, Scores: []float64{1}}}}
	}
	twice := Evals([]results.Group{{Label: "mappo", Runs: []*results.Record{run("a"), run("b")}}})
	if _, err := Curves(Figure{}, twice...); err == nil || !strings.Contains(err.Error(), `"mappo": two runs have seed 1`) {
		t.Errorf("got %v", err)
	}
}

// A name wider than the picture once left a negative width for the lines, along which dashes were drawn for ever.
func TestLongNamesLeaveRoomForTheLines(t *testing.T) {
	series := Line("mappo-cermic "+strings.Repeat("explore.memory.pretrained=0123456789abcdef ", 4), []float64{0, 1000, 3000}, []float64{0, 1, 2})
	series.Reference = true // dashed
	p, err := Curves(Figure{Title: "names", X: "frames", Y: "score"}, series)
	if err != nil {
		t.Fatal(err)
	}
	drawn := make(chan bool)
	go func() { Image(p, 3*vg.Inch, 2*vg.Inch); close(drawn) }()
	select {
	case <-drawn:
	case <-time.After(20 * time.Second):
		t.Fatal("the picture is still being drawn")
	}
}

// So many names do not fit beside the ends of their lines: they stand in a column that keeps to the frame.
func TestManyCurvesLookAsBefore(t *testing.T) {
	var series []Series
	for i := range 20 {
		s := rising(fmt.Sprintf("mappo-cermic explore.memory.pretrained=weights learner.lr=%d", i), 20+float64(2*i), 1e5, 1)
		s.Method = "mappo-cermic"
		series = append(series, s)
	}
	series = append(series, rising("qmix", -10, 1e5, 2))
	looksAsBefore(t, "many")(Curves(Figure{Title: "Many", X: "frames", Y: "score"}, series...))
}
