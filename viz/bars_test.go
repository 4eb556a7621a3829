// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

var none = math.NaN()

func bar(label string, value, low, high float64) Bar {
	return Bar{Label: label, Value: value, Low: low, High: high}
}

func TestBarsLookAsBefore(t *testing.T) {
	looksAsBefore(t, "bars")(Bars(Figure{Title: "Two tasks", Y: "mean episode return"},
		Group{Label: "vmas/balance", Bars: []Bar{
			bar("qmix", 14, 12, 17), bar("mappo", 22, 20, 24), bar("mappo-cermic", 31, 27, 33)}},
		Group{Label: "vmas/wheel", Bars: []Bar{
			bar("qmix", -4, -5, -3), bar("mappo", -2.5, -3, -2), bar("mappo-cermic", none, none, none)}}))
}

func TestOneGroupOfBarsLooksAsBefore(t *testing.T) {
	looksAsBefore(t, "bars_alone")(Bars(Figure{Title: "Coverage level", Y: "mean episode return"}, Group{Bars: []Bar{
		bar("α = 0.05", 14, 12, 17), bar("α = 0.1", 22, 20, 24), bar("α = 0.2", 25, 21, 26)}}))
}

// A row whose interval leaves out that of the first is filled.
func TestForestsLookAsBefore(t *testing.T) {
	looksAsBefore(t, "forest")(Forest(Figure{Title: "Focused fire", X: "win rate", Note: "mean and 95 % interval over episodes"},
		Bar{Label: "as decided", Value: 0.45, Low: 0.43, High: 0.47}, Bar{Label: "no_collision", Value: 0.44, Low: 0.42, High: 0.46},
		Bar{Label: "retarget", Value: 0.52, Low: 0.5, High: 0.54}, Bar{Label: "ladder", Value: 0.4, Low: 0.37, High: 0.43}))
}

func TestForestsRefuseWhatIsNoNumber(t *testing.T) {
	if _, err := Forest(Figure{}, Bar{Label: "x", Value: 1, Low: math.NaN(), High: 2}); err == nil {
		t.Error("a row without an interval was drawn")
	}
}

func TestPanelsLookAsBefore(t *testing.T) {
	var plots []*plot.Plot
	for i, task := range []string{"vmas/balance", "vmas/dispersion", "vmas/flocking", "vmas/navigation", "vmas/wheel"} {
		f := Figure{Title: task, X: "frames", Unlabelled: true}
		if i%3 == 0 {
			f.Y = "mean episode return"
		}
		k := float64(i)
		p, err := Curves(f, rising("mappo", 30+k*8, 1e5+k*5e4, 3), rising("qmix-cermic", 45-k, 2e5, 3),
			rising("mappo-cermic", 50+k*k*10, 1e5, 3))
		if err != nil {
			t.Fatal(err)
		}
		plots = append(plots, p)
	}
	panels := NewPanels(3, plots...)
	panels.Title, panels.Legend = "Five tasks, three seeds", Styles("mappo", "qmix-cermic", "mappo-cermic")
	panels.Width, panels.Height = 2.6*vg.Inch, 2*vg.Inch
	checkImage(t, "panels", panels.Image())
}

// An empty place would read as a score of 0.
func TestBarsSayWhatWasNotRun(t *testing.T) {
	looksAsBefore(t, "missing")(Bars(Figure{Title: "Two of four", X: "parts in which the reward is paid", Y: "score"}, Group{Bars: []Bar{
		bar("1", none, none, none), bar("2", 22, 20, 24), bar("4", none, none, none), bar("dense", 31, none, none)}}))
}

func TestSeedsOfBarsLookAsBefore(t *testing.T) {
	seeds := func(label string, values ...float64) Bar {
		b := bar(label, 0, none, none)
		for _, v := range values {
			b.Value += v / float64(len(values))
		}
		b.Method, b.Seeds = "mappo-cermic", values
		return b
	}
	looksAsBefore(t, "bars_seeds")(Bars(Figure{Title: "One method", X: "parts in which the reward is paid", Y: "score"}, Group{Bars: []Bar{
		seeds("1", -3, -4, -7), seeds("4", 1, 1.5, 0.2), seeds("dense", 2, 3, 4, 6)}}))
}
