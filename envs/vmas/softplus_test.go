// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"math"
	"testing"
)

func TestSoftplusIsRightToTheLastBit(t *testing.T) {
	for z := float32(0); z < 25; z += 0.00137 {
		want := float64(z) + math.Log1p(math.Exp(-float64(z)))
		ulp := float64(math.Nextafter32(float32(want), math.MaxFloat32) - float32(want))
		// Half a unit from rounding, plus the table's error.
		if got := float64(softplus(z)); math.Abs(got-want) > 0.5*ulp+5e-9 {
			t.Fatalf("softplus(%g) is %.10g, want %.10g", z, got, want)
		}
	}
	if got := softplus(float32(math.NaN())); got == got {
		t.Errorf("softplus(NaN) is %g", got)
	}
}
