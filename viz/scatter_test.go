// SPDX-License-Identifier: Apache-2.0

package viz_test

import (
	"math"
	"testing"

	"gonum.org/v1/plot/vg"

	"cermic/viz"
)

func TestScatterLooksAsBefore(t *testing.T) {
	var cloud, path viz.Cloud
	cloud.Label, path.Label, path.Trail = "mappo", "mappo-cermic", true
	for i := range 150 {
		a, r := float64(i)*2.4, math.Sqrt(float64(i))/6
		cloud.Points = append(cloud.Points, [2]float64{r * math.Cos(a), r * math.Sin(a)})
		if i < 60 {
			path.Points = append(path.Points, [2]float64{-2 + float64(i)/12, 1.5 * math.Sin(float64(i)/9)})
		}
	}
	p, err := viz.Scatter(viz.Figure{Title: "Latent states", X: "component 1", Y: "component 2"}, cloud, path)
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, "scatter", viz.Image(p, 4.5*vg.Inch, 3.5*vg.Inch))
}

func TestScatterRefusesPointsThatAreNowhere(t *testing.T) {
	if _, err := viz.Scatter(viz.Figure{}, viz.Cloud{Points: [][2]float64{{0, math.NaN()}}}); err == nil {
		t.Error("a point that is not a number was drawn")
	}
}
