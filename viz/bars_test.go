// SPDX-License-Identifier: Apache-2.0

package viz_test

import (
	"math"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/viz"
)

var none = math.NaN()

func bar(label string, value, low, high float64) viz.Bar {
	return viz.Bar{Label: label, Value: value, Low: low, High: high}
}

func TestBarsLookAsBefore(t *testing.T) {
	p, err := viz.Bars(viz.Figure{Title: "Two tasks", Y: "mean episode return"},
		viz.Group{Label: "vmas/balance", Bars: []viz.Bar{
			bar("qmix", 14, 12, 17), bar("mappo", 22, 20, 24), bar("mappo-cermic", 31, 27, 33)}},
		viz.Group{Label: "vmas/wheel", Bars: []viz.Bar{
			bar("qmix", -4, -5, -3), bar("mappo", -2.5, -3, -2), bar("mappo-cermic", none, none, none)}})
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, "bars", viz.Image(p, viz.Width, viz.Height))
}

func TestOneGroupOfBarsLooksAsBefore(t *testing.T) {
	p, err := viz.Bars(viz.Figure{Title: "Coverage level", Y: "mean episode return"}, viz.Group{Bars: []viz.Bar{
		bar("α = 0.05", 14, 12, 17), bar("α = 0.1", 22, 20, 24), bar("α = 0.2", 25, 21, 26)}})
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, "bars_alone", viz.Image(p, viz.Width, viz.Height))
}

// A row whose interval leaves out that of the first is filled.
func TestForestsLookAsBefore(t *testing.T) {
	p, err := viz.Forest(viz.Figure{Title: "Focused fire", X: "win rate", Note: "mean and 95 % interval over episodes"},
		viz.Bar{Label: "as decided", Value: 0.45, Low: 0.43, High: 0.47}, viz.Bar{Label: "no_collision", Value: 0.44, Low: 0.42, High: 0.46},
		viz.Bar{Label: "retarget", Value: 0.52, Low: 0.5, High: 0.54}, viz.Bar{Label: "ladder", Value: 0.4, Low: 0.37, High: 0.43})
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, "forest", viz.Image(p, viz.Width, viz.Height))
}

func TestForestsRefuseWhatIsNoNumber(t *testing.T) {
	if _, err := viz.Forest(viz.Figure{}, viz.Bar{Label: "x", Value: 1, Low: math.NaN(), High: 2}); err == nil {
		t.Error("a row without an interval was drawn")
	}
}

func TestPanelsLookAsBefore(t *testing.T) {
	var plots []*plot.Plot
	for i, task := range []string{"vmas/balance", "vmas/dispersion", "vmas/flocking", "vmas/navigation", "vmas/wheel"} {
		f := viz.Figure{Title: task, X: "frames", Unlabelled: true}
		if i%3 == 0 {
			f.Y = "mean episode return"
		}
		k := float64(i)
		p, err := viz.Curves(f, rising("mappo", 30+k*8, 1e5+k*5e4, 3), rising("qmix-cermic", 45-k, 2e5, 3),
			rising("mappo-cermic", 50+k*k*10, 1e5, 3))
		if err != nil {
			t.Fatal(err)
		}
		plots = append(plots, p)
	}
	panels := viz.NewPanels(3, plots...)
	panels.Title, panels.Legend = "Five tasks, three seeds", viz.Styles("mappo", "qmix-cermic", "mappo-cermic")
	panels.Width, panels.Height = 2.6*vg.Inch, 2*vg.Inch
	checkImage(t, "panels", panels.Image())
}

// An empty place would read as a score of 0.
func TestBarsSayWhatWasNotRun(t *testing.T) {
	p, err := viz.Bars(viz.Figure{Title: "Two of four", X: "parts in which the reward is paid", Y: "score"}, viz.Group{Bars: []viz.Bar{
		bar("1", none, none, none), bar("2", 22, 20, 24), bar("4", none, none, none), bar("dense", 31, none, none)}})
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, "missing", viz.Image(p, viz.Width, viz.Height))
}

func TestSeedsOfBarsLookAsBefore(t *testing.T) {
	seeds := func(label string, values ...float64) viz.Bar {
		b := bar(label, 0, none, none)
		for _, v := range values {
			b.Value += v / float64(len(values))
		}
		b.Method, b.Seeds = "mappo-cermic", values
		return b
	}
	p, err := viz.Bars(viz.Figure{Title: "One method", X: "parts in which the reward is paid", Y: "score"}, viz.Group{Bars: []viz.Bar{
		seeds("1", -3, -4, -7), seeds("4", 1, 1.5, 0.2), seeds("noise", 2, 3, 4, 6)}})
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, "bars_seeds", viz.Image(p, viz.Width, viz.Height))
}
