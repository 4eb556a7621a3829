// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"slices"

	"cermic/envs/rng"
)

// meanInterval is the percentile bootstrap 95 % interval of the mean of v, the same for the same v. 1,000 resamples are
// plenty for a band: their own noise moves its edge by less than the width of a line.
func meanInterval(v []float64) [2]float64 {
	r := rng.New(0, "viz/band")
	means := make([]float64, 1000)
	for i := range means {
		sum := 0.0
		for range v {
			sum += v[r.IntN(len(v))]
		}
		means[i] = sum / float64(len(v))
	}
	slices.Sort(means)
	return [2]float64{means[25], means[974]}
}
