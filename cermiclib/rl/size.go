// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"fmt"

	"cermic/envs"
)

// rolloutSize is the number of bytes of a rollout without its labels and last observations. The paper's rollout batch
// of 36,000 frames takes 0.1 GB with 7 agents and 11 by 11 cells of two bytes. It is a float64, since absurd settings
// overflow an integer.
func rolloutSize(s *envs.Spec, t, hidden int) float64 {
	e, n, k := float64(s.NumEnvs), float64(s.Agents), float64(s.Act.Choices)
	observed := n*float64(4*s.ObsLen()+2*s.CellLen()+1) + 4*float64(s.State)
	if s.Masked {
		observed += n * k
	}
	action := 4.0
	if k == 0 {
		action = 8 * float64(s.Act.Dim) // before and after squashing
	}
	const row = 4 * 6         // log-probability, importance, value, both rewards, dense
	const frame = 4 + 3*1 + 4 // score, three flags, index of a last observation
	return e * (float64(t+1)*observed + float64(t)*(n*(action+row+4*float64(hidden))+frame))
}

// Fits returns an error if this machine lacks the memory for a rollout of t steps; hidden is as in NewRollout.
func Fits(s *envs.Spec, t, hidden int) error {
	return fitsMachine(rolloutSize(s, t, hidden), "rollout batch", t*s.NumEnvs, s.Name, "collect fewer frames")
}

// fitsMachine returns an error with advice if size, the bytes of frames of a task, exceeds the machine's memory.
func fitsMachine(size float64, what string, frames int, task, advice string) error {
	if machine := float64(machineMemory()); machine > 0 && size > machine {
		return fmt.Errorf("a %s of %d frames of %s takes %.2f GB, more than the %.2f GB of this machine: %s",
			what, frames, task, size/GB, machine/GB, advice)
	}
	return nil
}
