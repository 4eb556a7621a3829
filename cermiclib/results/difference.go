// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Difference describes the first number in which two records differ, with both values; "" means none. It compares
// evaluations in their order, then the scalars that want has, by name and to the digits of packed records.
func Difference(want, got *Record) string {
	if len(want.Evals) != len(got.Evals) {
		return fmt.Sprintf("%d evaluations instead of %d", len(got.Evals), len(want.Evals))
	}
	for i, a := range want.Evals {
		b := got.Evals[i]
		names, pairs := []string{"return", "success"}, [][2][]float64{{a.Scores, b.Scores}, {a.Success, b.Success}}
		for _, group := range slices.Sorted(maps.Keys(a.Groups)) {
			names, pairs = append(names, group+" return"), append(pairs, [2][]float64{a.Groups[group], b.Groups[group]})
		}
		for j, name := range names {
			for k := range max(len(pairs[j][0]), len(pairs[j][1])) {
				if x, y := exact(pairs[j][0], k), exact(pairs[j][1], k); x != y {
					return fmt.Sprintf("the %s of episode %d at %d frames is %s, not %s", name, k+1, a.Frames, y, x)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want.Scalars)) {
		a, b := want.Scalars[name], got.Scalars[name]
		if len(a) != len(b) {
			return fmt.Sprintf("the scalar %s has %d values, not %d", name, len(b), len(a))
		}
		for i := range a {
			if !sameScalar(b[i].Value, a[i].Value) {
				return fmt.Sprintf("the scalar %s at %d frames is %.9g, not %.9g", name, a[i].Frames, b[i].Value, a[i].Value)
			}
		}
	}
	return ""
}

// exact is element k of x with all its digits.
func exact(x []float64, k int) string {
	if k >= len(x) {
		return "missing"
	}
	return strconv.FormatFloat(x[k], 'g', -1, 64)
}
