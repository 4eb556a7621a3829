// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"maps"
	"slices"
)

// Difference names the first number in which two records differ and both its values, "" if none does: evaluations in their order,
// then scalars by name.
func Difference(want, got *Record) string {
	if len(want.Evals) != len(got.Evals) {
		return fmt.Sprintf("%d evaluations instead of %d", len(got.Evals), len(want.Evals))
	}
	for i := range want.Evals {
		a, b := want.Evals[i], got.Evals[i]
		lists := []struct {
			name      string
			want, got []float64
		}{{"return", a.Scores, b.Scores}, {"success", a.Success, b.Success}}
		for _, group := range slices.Sorted(maps.Keys(a.Groups)) {
			lists = append(lists, struct {
				name      string
				want, got []float64
			}{group + " return", a.Groups[group], b.Groups[group]})
		}
		for _, of := range lists {
			if k := firstUnequal(of.want, of.got); k >= 0 {
				return fmt.Sprintf("the %s of episode %d at %d frames is %s, not %s", of.name, k+1, a.Frames, written(of.got, k), written(of.want, k))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want.Scalars)) { // what is written down since is no difference
		a, b := want.Scalars[name], got.Scalars[name]
		for i := range max(len(a), len(b)) {
			if i >= len(a) || i >= len(b) {
				return fmt.Sprintf("the scalar %s has %d values, not %d", name, len(b), len(a))
			}
			if !SameScalar(b[i].Value, a[i].Value) {
				return fmt.Sprintf("the scalar %s at %d frames is %.9g, not %.9g", name, a[i].Frames, b[i].Value, a[i].Value)
			}
		}
	}
	return ""
}

// firstUnequal is the first place at which two lists differ, -1 if none is.
func firstUnequal(a, b []float64) int {
	for k := range max(len(a), len(b)) {
		if k >= len(a) || k >= len(b) || a[k] != b[k] {
			return k
		}
	}
	return -1
}

// written is element k of x, or says that there is none.
func written(x []float64, k int) string {
	if k >= len(x) {
		return "missing"
	}
	return fmt.Sprintf("%.9g", x[k])
}
