// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
	"cermic/envs"
)

// Ranges that axes once could not draw: within rounding, tiny, huge, far from 0.
var ranges = [][2]float64{
	{0.1, 0.10000000000000002}, {63.001, 63.004}, {1_000_001, 1_000_010}, {1e15 - 1, 1e15 + 1}, {-1e15 - 1, -1e15 + 1},
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

func FuzzTicks(f *testing.F) {
	for _, r := range ranges {
		f.Add(r[0], r[1])
	}
	f.Fuzz(checkTicks)
}

// Whatever numbers are measured, a figure is drawn, or an error refuses those that are infinite or not numbers.
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
				Image(p, 2*vg.Inch, 2*vg.Inch)
			}
		}
	}
	for _, r := range ranges {
		v := &results.Visits{Projection: envs.Projection{Columns: 2, Rows: 1}, Counts: []uint64{1, 1}, Recent: []uint64{1, 1}}
		v.Bonus = r[:]
		p, err := Visits(v)
		if err == nil {
			p.Image()
		}
	}
}
