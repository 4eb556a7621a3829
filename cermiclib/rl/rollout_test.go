// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"slices"
	"testing"

	"cermic/envs"
)

func TestLabelsAreKeptOnlyIfAskedFor(t *testing.T) {
	s := spec()
	step := envs.NewStep(s)
	for i := range step.Seen {
		step.Seen[i] = uint8(i % 2)
		step.RelPos[2*i], step.RelPos[2*i+1] = float32(i), -float32(i)
	}
	x := NewRollout(s, 3, 0)
	x.See(2, step)
	if x.Seen != nil || x.RelPos != nil {
		t.Error("labels are there although nobody asked")
	}
	x.KeepLabels()
	x.See(2, step)
	n := len(step.Seen)
	if !slices.Equal(x.Seen[2*n:3*n], step.Seen) || !slices.Equal(x.RelPos[4*n:6*n], step.RelPos) {
		t.Error("row 2 does not hold the labels of the step")
	}
	if slices.Max(x.Seen[:2*n]) != 0 || slices.Max(x.Seen[3*n:]) != 0 {
		t.Error("other rows are written")
	}
}
