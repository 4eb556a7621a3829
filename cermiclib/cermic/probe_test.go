// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"cermic/envs/rng"
)

func TestLinearProbe(t *testing.T) {
	const rows, fitted, width = 400, 200, 5
	r := rng.New(1, "probe")
	features, flat := mat.NewDense(rows, width, nil), mat.NewDense(rows, 1, nil)
	kept, lost := mat.NewDense(rows, 2, nil), mat.NewDense(rows, 2, nil)
	for k := range rows {
		for j := range width - 1 {
			features.Set(k, j, float64(r.Uniform(-1, 1)))
		}
		features.Set(k, width-1, 1)
		kept.SetRow(k, []float64{3*features.At(k, 0) - features.At(k, 1) + 7, features.At(k, 2)})
		lost.SetRow(k, []float64{float64(r.Uniform(-1, 1)), float64(r.Uniform(-1, 1))})
	}
	if r2, ok := linearProbe(features, kept, fitted); !ok || r2 < 0.99 {
		t.Errorf("R² of a linear target is %g, %v, want 1", r2, ok)
	}
	if r2, ok := linearProbe(features, lost, fitted); !ok || math.Abs(r2) > 0.1 {
		t.Errorf("R² of noise is %g, %v, want about 0", r2, ok)
	}
	if _, ok := linearProbe(features, flat, fitted); ok {
		t.Error("a constant target has an R²")
	}
	for k := fitted; k < rows; k++ {
		kept.SetRow(k, []float64{-kept.At(k, 0), -kept.At(k, 1)})
	}
	if r2, _ := linearProbe(features, kept, fitted); r2 > 0 {
		t.Errorf("R² is %g although the other half contradicts the fit", r2)
	}
}
