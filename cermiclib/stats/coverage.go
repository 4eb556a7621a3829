// SPDX-License-Identifier: Apache-2.0

package stats

import "fmt"

// coverage is how often Bootstrap's interval of the mean of n runs covers the mean of infinitely many, where Level is
// meant: measured on draws of normal runs, which a test repeats. Of two and three runs the interval is their range,
// which misses the mean when all lie on one side of it: 1 − 2·2⁻ⁿ.
var coverage = map[int]float64{2: .50, 3: .75, 10: .90}

// Caution warns readers of bootstrap intervals over few runs.
var Caution = fmt.Sprintf("Bootstrap intervals of few seeds are too narrow: with three seeds they cover the mean %.0f times in 100, not %.0f (two: %.0f, ten: %.0f).",
	100*coverage[3], 100*Level, 100*coverage[2], 100*coverage[10])
