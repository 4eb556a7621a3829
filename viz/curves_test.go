// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
	"cermic/envs"
)

func TestAMutedSeriesIsAGreyMeanWithoutAName(t *testing.T) {
	s := Series{Label: "mace", Method: "mace", X: []float64{1, 2}, Y: [][]float64{{1, 3}, {3, math.NaN()}}}.Muted()
	if s.Y[0][0] != 2 || !math.IsNaN(s.Y[0][1]) {
		t.Errorf("the mean is %v, want 2 and none where a seed has no value", s.Y)
	}
	if looks := Looks(Series{Label: "mace"}, s); looks[1].Color == looks[0].Color || looks[1].Name != "" {
		t.Errorf("it looks as %+v", looks[1])
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

// What would draw nonsense is an error that names it.
func TestFiguresRefuseWhatTheyCannotDraw(t *testing.T) {
	run := func(id string) *results.Record {
		return &results.Record{ID: id, Seed: 1, Evals: []results.Eval{{Frames: 1, Scores: []float64{1}}}}
	}
	banded := Line("mappo", []float64{0, 1}, []float64{0, 1})
	banded.Low, banded.High = []float64{0, 0}, []float64{1}
	curves := func(s ...Series) func() (any, error) {
		return func() (any, error) { return Curves(Figure{}, s...) }
	}
	in, none, blind, visits := meeting(5), meeting(5), meeting(5), twoRooms()
	none.Graphs, none.Bonus, none.Latent, blind.Predicted, visits.Bonus = nil, none.Bonus[:3], nil, nil, nil
	arrow := someDiagram()
	arrow.Arrows[0].To = "bb"
	for name, c := range map[string]struct {
		draw func() (any, error)
		says string
	}{
		"infinite":         {curves(Series{Label: "mappo", X: []float64{0}, Y: [][]float64{{math.Inf(1)}}}), "at most"},
		"too few values":   {curves(Series{Label: "mappo", X: []float64{0, 1}, Y: [][]float64{{1}}}), "one for each x"},
		"too short a band": {curves(banded), "band"},
		"a seed twice":     {curves(Evals([]results.Group{{Label: "mappo", Runs: []*results.Record{run("a"), run("b")}}})...), `"mappo": two runs have seed 1`},
		"a point nowhere":  {func() (any, error) { return scatter(Figure{}, cloud{Points: [][2]float64{{0, math.NaN()}}}) }, "point 0"},
		"no graphs":        {func() (any, error) { return Memory(none, 0, 2) }, "explore.memory=graph"},
		"no such agent":    {func() (any, error) { return Memory(in, 3, 2) }, "agent 3"},
		"too few bonuses":  {func() (any, error) { return Encounters(none, 2) }, "r^i of 3"},
		"no codes":         {func() (any, error) { return Codes(none, 1) }, "x_t"},
		"no predictions":   {func() (any, error) { return Paths(1, blind) }, "L_explore"},
		"no episode":       {func() (any, error) { return Paths(1) }, "no episode"},
		"no bonus":         {func() (any, error) { return Visits(visits) }, "visits to 21, 21 and 0 cells, want 7 × 3"},
		"no scenes":        {func() (any, error) { return Strip(nil, 3) }, "no scenes"},
		"no rectangle":     {func() (any, error) { return Animate([]envs.Scene{{}}, 10) }, "rectangle"},
		"too wide":         {func() (any, error) { return Strip([]envs.Scene{{MaxX: 1e9, MaxY: 1}}, 1) }, "rectangle"},
		"no time":          {func() (any, error) { return Animate(lifting(2), 0) }, "more than 0"},
		"no box":           {func() (any, error) { return nil, arrow.Check() }, `"bb"`},
	} {
		if _, err := c.draw(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.says)
		}
	}
	if err := someDiagram().Check(); err != nil {
		t.Error(err)
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

func TestForksBranchOffTheirParents(t *testing.T) {
	lines := Scalar(ofCermic(forks...), "bonus")
	at := func(i, x int) float64 { return lines[i].Y[0][slices.Index(lines[i].X, float64(x))] }
	if got, want := at(1, 210_000), (at(0, 200_000)+at(0, 220_000))/2; math.Abs(got-want) > 1e-12 { // rounding of the mean
		t.Errorf("a fork between two points begins at %g, want %g on the line between them", got, want)
	}
	if got, want := at(3, 400_000), at(0, 400_000); got != want {
		t.Errorf("a fork whose parent has no later point begins at %g, want its last one, %g", got, want)
	}
	if lines[4].Branched || lines[4].X[0] != 520_000 {
		t.Errorf("a fork without its parent begins at %g", lines[4].X[0])
	}
}

func TestTrainingOfARunThatHasNotBegunShowsTheOthers(t *testing.T) {
	p, err := Training(&results.Record{}, ofCermic(trained("a", "mappo-cermic", 2e5, 600_000)), 2, measures...)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Legend) != 1 || p.Legend[0].Name != "MAPPO-CERMIC" || len(p.Rows) != 2 || len(p.Rows[1]) != 1 {
		t.Errorf("legend %v and %d rows, want the one method and three panels in two rows", p.Legend, len(p.Rows))
	}
	p.Image() // must not panic
}

// A run that has not begun, a projection that is no place in the world, and a bonus that is the same everywhere can be
// drawn, too.
func TestMapsOfVisitsThatSayLittle(t *testing.T) {
	none, lock, even := twoRooms(), twoRooms(), twoRooms()
	clear(none.Counts)
	clear(none.Recent)
	lock.Scene.MaxX, lock.Projection.Blocked = 3, nil
	clear(even.Bonus)
	for name, v := range map[string]*results.Visits{"none": none, "lock": lock, "even": even} {
		if p, err := Visits(v); err != nil || p.Image().Bounds().Empty() {
			t.Errorf("%s: %v", name, err)
		}
	}
}
