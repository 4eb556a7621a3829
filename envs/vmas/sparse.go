// SPDX-License-Identifier: Apache-2.0

package vmas

import "math"

// giveSparse fills sparse [N] with the sparse reward of environment c and updates the number of partial rewards
// given.
//
// paper:sparse  The paper rewards only success in the starred tasks. Every agent gets SuccessReward once per episode,
// at the first successful state. If the original reward is already sparse, it is used instead.
//
// With k milestones, the j-th of k equal parts is given when progress first reaches j/k. Success gives all remaining
// parts.
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
		reached = max(given, int32(min(share, float64(parts-1)))) // NaN counts as 0
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
