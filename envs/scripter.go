// SPDX-License-Identifier: Apache-2.0

package envs

// Scripter is implemented by environments that can play a hand-written policy, as a yardstick and for demonstrations.
type Scripter interface {
	// Script fills act with the policy's action for the current state, and reports false if the task has no such policy.
	Script(act *Actions) bool
}
