// SPDX-License-Identifier: Apache-2.0

package vmas

import "math"

// giveSparse fills sparse [N] with the sparse reward of environment c and advances what has been given.
//
// paper:sparse  an agent is rewarded for the success of the starred tasks only. Every agent receives SuccessReward, once
// an episode, on the first step whose state is a success. Where the original reward already is sparse, it is used.
//
// With k milestones the j-th of k equal parts is given when j/k of the task's progress is first reached, the last one at
// the success itself, which also gives whatever is missing.
func (e *env) giveSparse(c int, success bool, dense, sparse []float32) {
	if e.world.spec.SparseIsDense {
		copy(sparse, dense)
		return
	}
	clear(sparse)
	parts, given := int32(e.settings.Milestones), e.given[c]
	if given == parts {
		return
	}
	reached := given
	if success {
		reached = parts
	} else if e.progresser != nil && parts > 1 {
		share := math.Floor(float64(e.progresser.Progress(e.world, c)) * float64(parts))
		reached = max(given, int32(min(share, float64(parts-1)))) // NaN compares as nothing reached
	}
	if reached == given {
		return
	}
	e.given[c] = reached
	bonus := e.settings.SuccessReward * float32(reached-given) / float32(parts)
	for i := range sparse {
		sparse[i] = bonus
	}
}
