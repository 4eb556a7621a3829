// SPDX-License-Identifier: Apache-2.0

package results

import (
	"testing"
)

func TestTheFirstDifferenceIsNamedWithBothValues(t *testing.T) {
	record := func(score, success, kl float64, other ...Point) *Record {
		return &Record{Evals: []Eval{{Frames: 60, Scores: []float64{1, score}, Success: []float64{0, success}}},
			Scalars: map[string]Points{"kl": append([]Point{{Frames: 6, Value: 1}}, Point{Frames: 12, Value: kl}), "entropy": other}}
	}
	want := record(2, 1, 3)
	for _, c := range []struct {
		got  *Record
		says string
	}{
		{record(2, 1, 3), ""},
		{record(4, 0, 5), "the return of episode 2 at 60 frames is 4, not 2"},
		{record(2, 0, 5), "the success of episode 2 at 60 frames is 0, not 1"},
		{record(2, 1, 5, Point{}), "the scalar entropy has 1 values, not 0"},
		{record(2, 1, 5), "the scalar kl at 12 frames is 5, not 3"},
		{&Record{}, "0 evaluations instead of 1"},
	} {
		if says := Difference(want, c.got); says != c.says {
			t.Errorf("%q, want %q", says, c.says)
		}
	}
}
