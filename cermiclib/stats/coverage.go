// SPDX-License-Identifier: Apache-2.0

package stats

import "fmt"

// coverage is how often Bootstrap's interval of the mean of n runs, at index n, covers the mean of infinitely many, where Level is meant:
// measured on 4000 draws of normal runs with 2000 resamples, which a test repeats. Of two and three runs the interval is their range,
// which misses the mean when all lie on one side of it: 1 − 2·2⁻ⁿ.
var coverage = [...]float64{2: .50, 3: .75, 4: .81, 5: .84, 6: .86, 7: .88, 8: .89, 9: .90, 10: .90}

// Coverage is the measured coverage of the bootstrap interval of the mean of n runs on one task; ok is false for numbers of runs that
// were not measured.
func Coverage(n int) (share float64, ok bool) {
	if n < 2 || n >= len(coverage) {
		return 0, false
	}
	return coverage[n], true
}

// Caution is what a reader of bootstrap intervals of few runs must know.
var Caution = fmt.Sprintf("Bootstrap intervals of few seeds are too narrow: with three seeds they cover the mean %.0f times in 100, not %.0f (two: %.0f, ten: %.0f).",
	100*coverage[3], 100*Level, 100*coverage[2], 100*coverage[10])
