// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"slices"
	"testing"

	"cermic/envs"
)

func TestLabelsNeedKeepLabels(t *testing.T) {
	s := spec()
	step := envs.NewStep(s)
	for i := range step.Visible {
		step.Visible[i] = uint8(i % 2)
		step.RelPos[2*i], step.RelPos[2*i+1] = float32(i), -float32(i)
	}
	x := NewRollout(s, 3, 0)
	x.Observe(2, step)
	if x.Visible != nil || x.RelPos != nil {
		t.Error("a rollout has labels without KeepLabels")
	}
	x.KeepLabels()
	x.Observe(2, step)
	n := len(step.Visible)
	if !slices.Equal(x.Visible[2*n:3*n], step.Visible) || !slices.Equal(x.RelPos[4*n:6*n], step.RelPos) {
		t.Error("row 2 does not hold the labels of the step")
	}
	if slices.Max(x.Visible[:2*n]) != 0 || slices.Max(x.Visible[3*n:]) != 0 {
		t.Error("Observe writes labels of other rows")
	}
}

// Both observations and cells are kept, including an episode's last.
func TestRolloutKeepsObservationsAndCells(t *testing.T) {
	s := &envs.Spec{NumEnvs: 2, Agents: 3, Obs: []int{5, 4}, Scalars: 7, Act: envs.ActSpec{Choices: 2}}
	step := envs.NewStep(s)
	for i := range step.Obs {
		step.Obs[i] = float32(i)
	}
	for i := range step.Cells {
		step.Cells[i] = uint16(i)
	}
	x := NewRollout(s, 3, 0)
	x.Observe(1, step)
	n, h := len(step.Obs), len(step.Cells)
	if !slices.Equal(x.Obs[n:2*n], step.Obs) || !slices.Equal(x.Cells[h:2*h], step.Cells) {
		t.Error("row 1 differs from the step's observations and cells")
	}
	x.End(0, 1, step)
	if !slices.Equal(x.last.Obs, step.Obs[3*7:]) || !slices.Equal(x.last.Cells, step.Cells[3*20:]) {
		t.Error("the last observation of environment 1 differs from the step's")
	}
	if row := (0*2+1)*3 + 2; !slices.Equal(x.NextRow(row), step.Obs[5*7:]) {
		t.Error("NextRow does not return the true last observation")
	}
}
