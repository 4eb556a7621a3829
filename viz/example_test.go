// SPDX-License-Identifier: Apache-2.0

package viz_test

import (
	"fmt"
	"log"

	"cermic/viz"
)

// Two methods over training, each the mean of its seeds with a bootstrap band.
func ExampleCurves() {
	frames := []float64{0, 200_000, 400_000, 600_000}
	p, err := viz.Curves(viz.Figure{Title: "vmas/balance", X: "frames", Y: "mean episode return"},
		viz.Series{Label: "mappo", X: frames, Y: [][]float64{{0, 12, 20, 24}, {-1, 10, 21, 22}}},
		viz.Series{Label: "mappo-cermic", X: frames, Y: [][]float64{{0, 20, 29, 31}, {-2, 18, 25, 30}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(viz.Image(p, viz.Width, viz.Height).Bounds().Size())
	// Output: (868,490)
}

// A single group has its names on the axis.
func ExampleBars() {
	p, err := viz.Bars(viz.Figure{Title: "Memory", Y: "mean episode return"}, viz.Group{Bars: []viz.Bar{
		{Label: "graph", Value: 31, Low: 27, High: 33},
		{Label: "GRU", Value: 26, Low: 24, High: 29},
	}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(viz.Image(p, viz.Width, viz.Height).Bounds().Size())
	// Output: (868,490)
}

// What changing one thing at a time makes of a number.
func ExampleForest() {
	p, err := viz.Forest(viz.Figure{X: "win rate"}, viz.Bar{Label: "as it is", Value: 0.45, Low: 0.43, High: 0.47},
		viz.Bar{Label: "changed", Value: 0.52, Low: 0.5, High: 0.54})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(viz.Image(p, viz.Width, viz.Height).Bounds().Size())
	// Output: (868,490)
}

// A path of latents through the plane.
func ExampleScatter() {
	p, err := viz.Scatter(viz.Figure{Title: "x_t", X: "component 1", Y: "component 2"},
		viz.Cloud{Label: "mappo-cermic", Points: [][2]float64{{0, 0}, {1, 0.5}, {1.5, 2}}, Trail: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(viz.Image(p, viz.Width, viz.Height).Bounds().Size())
	// Output: (868,490)
}

// Several plots with one legend.
func ExamplePanels() {
	f := viz.Figure{Title: "vmas/balance", X: "frames", Unlabelled: true}
	p, err := viz.Curves(f, rising("mappo", 30, 1e5, 3))
	if err != nil {
		log.Fatal(err)
	}
	panels := viz.NewPanels(2, p, p)
	panels.Legend = viz.Styles("mappo")
	fmt.Println(panels.Image().Bounds().Size())
	// Output: (899,408)
}

// Ours beside what the paper printed.
func ExampleScoreTable() {
	published := 30.5
	g := viz.ScoreTable{Columns: []string{"Balance*"}, Rows: []viz.Row{
		{Head: "MAPPO-CERMIC", Cells: []viz.Cell{
			{Ours: 31, Low: 27, High: 33, Seeds: 3, Frames: 600_000, Published: &published, Decimals: 1}}},
		{Head: "MAPPO", Cells: []viz.Cell{{}}},
	}}
	fmt.Print(g.Text(70))
	// Output:
	//               Balance*
	// ───────────────────────────────
	// MAPPO-CERMIC  31.0 [27.0, 33.0]
	//   published   30.5 (+0.5)
	// MAPPO         –
	//
	// Ours: mean of 3 seeds of 600k frames, bootstrap 95 % interval.
	// Published: as printed in the paper, then ours − published. Bootstrap
	// intervals of few seeds are too narrow: with three seeds they cover the
	// mean 75 times in 100, not 95 (two: 50, ten: 90).
}

// Three moments of an episode beside each other.
func ExampleStrip() {
	m, err := viz.Strip(lifting(41), 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Bounds().Size())
	// Output: (1072,394)
}

// An episode as an animated GIF.
func ExampleAnimate() {
	film, err := viz.Animate(lifting(5), 10)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(film.Image), "frames of", film.Image[0].Bounds().Size())
	// Output: 5 frames of (396,396)
}
