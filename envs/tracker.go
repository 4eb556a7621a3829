// SPDX-License-Identifier: Apache-2.0

package envs

// Tracker is implemented by environments that provide the true state of every agent. It is for pre-training only: no
// policy may read it.
type Tracker interface {
	// Track writes every agent's position x, y in the units of Step.RelPos, and the number of its type, from 0:
	// [E,N,3]. Values of dead agents are arbitrary.
	Track(dst []float32)
}
