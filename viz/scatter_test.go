// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"testing"
)

func TestScatterRefusesPointsThatAreNowhere(t *testing.T) {
	if _, err := scatter(Figure{}, cloud{Points: [][2]float64{{0, math.NaN()}}}); err == nil {
		t.Error("a point that is not a number was drawn")
	}
}
