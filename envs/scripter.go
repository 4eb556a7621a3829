// SPDX-License-Identifier: Apache-2.0

package envs

// Scripter is implemented by environments with a scripted policy, for baselines and demonstrations.
type Scripter interface {
	// Script fills act with the policy's action for the current state. It returns false if the task has no such
	// policy.
	Script(act *Actions) bool
}
