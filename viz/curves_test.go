// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"fmt"
	"image/color"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/envtest/must"
)

func TestAMutedSeriesIsAGreyMeanWithoutAName(t *testing.T) {
	s := Series{Label: "mace", Method: "mace", X: []float64{1, 2}, Y: [][]float64{{1, 3}, {3, math.NaN()}}}.Muted()
	if s.Y[0][0] != 2 || !math.IsNaN(s.Y[0][1]) {
		t.Errorf("the mean is %v, want 2 and none where a seed has no value", s.Y)
	}
	if looks := looksOf(Series{Label: "mace"}, s); looks[1].Color == looks[0].Color || looks[1].Name != "" {
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

// Data that cannot be drawn sensibly give an error that names them.
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
	p := must.Get(Training(&results.Record{}, ofCermic(trained("a", "mappo-cermic", 2e5, 600_000)), 2, measures...))(t)
	if len(p.Legend) != 1 || p.Legend[0].Name != "MAPPO-CERMIC" || len(p.Rows) != 2 || len(p.Rows[1]) != 1 {
		t.Errorf("legend %v and %d rows, want the one method and three panels in two rows", p.Legend, len(p.Rows))
	}
	p.Drawing().Image() // must not panic
}

// In a session of many branches a run keeps its colour, whatever comes after it, and the earliest become grey.
func TestRunsKeepTheirColoursWhileOthersAreAdded(t *testing.T) {
	board, was := NewDashboard(2, measures...), map[string]color.NRGBA{}
	var rs []*results.Record
	for k := range 9 {
		r := trained(fmt.Sprint(9-k), "mappo-cermic", 1e5, 300_000)
		r.Method = fmt.Sprintf("mappo-cermic explore.alpha=0.%d", 9-k)
		rs = append(rs, r)
		p := must.Get(board.Draw(r, ofCermic(rs...)))(t)
		now := map[string]color.NRGBA{}
		for _, look := range p.Legend {
			now[look.Name] = look.Color
			if before, ok := was[look.Name]; ok && before != look.Color {
				t.Errorf("with %d runs, %s changes its colour", k+1, look.Name)
			}
		}
		_, front := now[fmt.Sprintf("MAPPO-CERMIC alpha=0.%d", 9-k)]
		_, others := now["others"]
		if !front || others != (k >= len(spare)) || len(now) != min(k+1, len(spare)+1) {
			t.Errorf("with %d runs the legend is %v", k+1, now)
		}
		colours := slices.Collect(maps.Values(now))
		for i, c := range colours {
			if slices.Index(colours, c) < i {
				t.Errorf("with %d runs two lines have one colour: %v", k+1, now)
			}
		}
		was = now
		p.Drawing().Image() // must not panic
	}
}

// Ranges that axes once could not draw: within rounding, a few floats wide, tiny, huge, far from 0.
var ranges = [][2]float64{
	{0.1, 0.10000000000000002}, {63.001, 63.004}, {1_000_001, 1_000_010}, {1e15 - 1, 1e15 + 1}, {-1e15 - 1, -1e15 + 1},
	{32.095931706544569, 32.095931706544604}, {-18305342450.680309, -18305342450.68029}, {1.0983063316188075e-298, 1.0983063316188115e-298},
	{0, 1e-300}, {0, 5e-324}, {-1e300, 1e300}, {1e300, 1e300}, {-1e300, -1e300}, {math.Copysign(0, -1), 0},
	{-0.25, 1}, {0, 1_250_000}, {12_000_000, 12_010_000}, {9999, 10_001},
	{math.Inf(-1), math.Inf(1)}, {math.NaN(), 1}, {1, 0}, {-math.MaxFloat64, math.MaxFloat64},
}

// checkTicks draws the axis of values from low to high.
func checkTicks(t *testing.T, low, high float64) {
	low, high = limits(low, high)
	for _, about := range []float64{3, 5} {
		marks, seen := ticks{about}.Ticks(low, high), map[string]bool{}
		if len(marks) > 3*int(about) || len(marks) < 1 && high <= largest && low >= -largest {
			t.Errorf("%d ticks from %g to %g", len(marks), low, high)
		}
		for _, m := range marks {
			if seen[m.Label] || math.IsNaN(m.Value) || len(m.Label) > 30 {
				t.Errorf("ticks %v from %g to %g: want finite ones with labels that differ", marks, low, high)
				break
			}
			seen[m.Label] = true
		}
	}
}

func TestEveryRangeHasAFewTicksThatDiffer(t *testing.T) {
	for _, r := range ranges {
		checkTicks(t, r[0], r[1])
	}
	for want, r := range map[string][2]float64{
		"63.001 63.0015 63.002 63.0025 63.003 63.0035 63.004": {63.001, 63.004},
		"1000002 1000004 1000006 1000008 1000010":             {1_000_001, 1_000_010},
		"−1e300 −5e299 0 5e299 1e300":                         {-1e300, 1e300},
		"0 0.25M 0.5M 0.75M 1M 1.25M":                         {0, 1_250_000},
		"0 0.025 0.05 0.075 0.1":                              {0.1, 0.10000000000000002},
		"999999999999999 999999999999999.5 1000000000000000 1000000000000000.5 1000000000000001": {1e15 - 1, 1e15 + 1},
	} {
		var got []string
		for _, m := range (ticks{5}).Ticks(limits(r[0], r[1])) {
			got = append(got, m.Label)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("from %g to %g: ticks %q, want %q", r[0], r[1], s, want)
		}
	}
}

// Any measured numbers give a figure, or an error if they are infinite or NaN.
func TestFiguresOfAnyNumbers(t *testing.T) {
	for name, figure := range map[string]func(low, high float64) (*plot.Plot, error){
		"curves": func(low, high float64) (*plot.Plot, error) {
			seeds := [][]float64{{low, high}, {low, low}, {high, low}}
			return Curves(Figure{}, Series{Label: "mappo", X: []float64{0, 1}, Y: seeds})
		},
		"curves within limits": func(low, high float64) (*plot.Plot, error) {
			f := Figure{Low: low, High: high, Marks: []mark{{From: low}, {From: low, To: high}}}
			return Curves(f, Line("mappo", []float64{0, 1}, []float64{-1, 1}))
		},
		"bars": func(low, high float64) (*plot.Plot, error) {
			b := Bar{Label: "mappo", Value: low, Low: math.NaN(), High: high}
			b.Seeds = []float64{low, high}
			return Bars(Figure{}, Group{Bars: []Bar{b}})
		},
		"scatter": func(low, high float64) (*plot.Plot, error) {
			return scatter(Figure{}, cloud{Label: "mappo", Points: [][2]float64{{low, high}, {high, low}}})
		},
	} {
		for _, r := range ranges {
			p, err := figure(r[0], r[1])
			infinite := undrawable(r[0]) || undrawable(r[1])
			switch {
			case err == nil && infinite && name != "curves within limits", err != nil && !infinite && !math.IsNaN(r[0]):
				t.Errorf("%s of %g and %g: error %v", name, r[0], r[1], err)
			case err == nil:
				Plotted(p, 2*vg.Inch, 2*vg.Inch).Image()
			}
		}
	}
}

// Maps of degenerate visits can be drawn: of none, of a projection to no place in the world, and of any bonus.
func TestMapsOfAnyVisits(t *testing.T) {
	none, lock, even := twoRooms(), twoRooms(), twoRooms()
	clear(none.Counts)
	clear(none.Recent)
	lock.Scene.MaxX, lock.Projection.Blocked = 3, nil
	clear(even.Bonus)
	all := []*results.Visits{none, lock, even}
	for _, r := range ranges {
		all = append(all, &results.Visits{Projection: envs.Projection{Columns: 2, Rows: 1}, Counts: []uint64{1, 1},
			Recent: []uint64{1, 1}, Bonus: r[:]})
	}
	for _, v := range all {
		p, err := Visits(v)
		if infinite := slices.ContainsFunc(v.Bonus, undrawable); infinite != (err != nil) {
			t.Errorf("r^i of %v: %v", v.Bonus, err)
		} else if err == nil && p.Drawing().Image().Bounds().Empty() {
			t.Errorf("r^i of %v is not drawn", v.Bonus)
		}
	}
}

func TestAFigureIsWrittenInEveryFormat(t *testing.T) {
	line := Line("MAPPO-ε-greedy", []float64{0, 1}, []float64{-2, -1})
	p := must.Get(Curves(Figure{Title: "ε-greedy below zero", X: "frames", Y: "r^i (√nats)"}, line))(t)
	for ext, begin := range map[string]string{".png": "\x89PNG", ".svg": "<?xml"} {
		path := filepath.Join(t.TempDir(), "figure"+ext)
		must.Do(t, os.WriteFile(path, []byte("an older figure"), 0o666))
		if err := Plotted(p, Width, Height).Write(path); err != nil {
			t.Errorf("%s: %v", ext, err)
		}
		data, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(data), begin) || len(data) < 4000 {
			t.Errorf("%s: %d bytes that begin with %.8q, %v", ext, len(data), data, err)
		}
		if families := []byte("font-family:Liberation Sans, Arial, sans-serif;"); ext == ".svg" && !bytes.Contains(data, families) {
			t.Error("the letters of an SVG have no other family to fall back on")
		}
		if texts := bytes.Count(data, []byte("<text ")); ext == ".svg" && (texts < 4 || bytes.Count(data, []byte("<text textLength=")) != texts) {
			t.Errorf("%d texts of an SVG, of which %d say how long they are", texts, bytes.Count(data, []byte("<text textLength=")))
		}
	}
	must.Refuse(t, Plotted(p, Width, Height).Write(filepath.Join(t.TempDir(), "figure.gif")), ".png or .svg")
}
