// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"

	"cermic/envs"
	"cermic/envs/conf"
)

// Settings are what all tasks of this family share; task configs embed them, so that they read as one flat struct.
type Settings struct {
	MaxSteps      int           `json:"max_steps" range:"1..1000000" help:"episode length of evaluation and of dense training, in steps; BenchMARL: 100"`
	Discrete      Discrete      `json:"discrete" oneof:"none,product9,cross5" help:"discrete actions; product9: −, 0 or + on each axis, cross5: on one axis at a time"`
	SparseHorizon SparseHorizon `json:"sparse_horizon" oneof:"default,literal" help:"episode length of sparse training; default: long enough for success, literal: max_steps"`
	SuccessReward float32       `json:"success_reward" help:"each agent's reward for success, once per episode; not in the paper"`
	Milestones    int           `json:"milestones" range:"1..1000" help:"number of equal partial rewards that make up success_reward; 1: all at success"`
	FieldOfView   float32       `json:"vmas_fov" help:"field of view of agents without a lidar, in world units; for detector labels only"`
}

// DefaultSettings returns the benchmark's horizon of 100 steps, continuous actions and a bonus of 10 given at once.
func DefaultSettings() Settings {
	return Settings{
		MaxSteps: 100, Discrete: Continuous, SparseHorizon: Extended, SuccessReward: 10, Milestones: 1, FieldOfView: 0.5,
	}
}

// Discrete names a finite set of actions.
type Discrete = envs.Discrete

// The action sets.
const (
	Continuous Discrete = "none"        // a force in the plane; BenchMARL's choice for policy gradients
	Product9            = envs.Product9 // per axis nothing, −range or +range; BenchMARL's choice for value learners
	Cross5     Discrete = "cross5"      // nothing, −x, +x, −y, +y; VMAS before 2024
)

// SparseHorizon says how long episodes of the sparse reward are.
type SparseHorizon string

// The horizons of the sparse reward.
const (
	// Extended gives tasks that cannot be solved within max_steps the longer horizon that WorldSpec.SparseMax states.
	// Reading: the paper names no horizon; at the benchmark's own, a success is out of reach for some of its tasks.
	Extended SparseHorizon = "default"
	Literal  SparseHorizon = "literal" // max_steps for every task
)

// rayLimit keeps observations and the work of lidars sane.
const rayLimit = 1000

// horizonLimit keeps step counters and buffers sane.
const horizonLimit = 1_000_000

// validate returns one sentence about the first impossible setting.
func (s *Settings) validate(task string) error {
	switch {
	case s.MaxSteps < 1 || s.MaxSteps > horizonLimit:
		return fmt.Errorf("%s: max_steps is %d, want 1 to %d", task, s.MaxSteps, horizonLimit)
	case !(s.SuccessReward > 0 && s.SuccessReward <= 1e6):
		return fmt.Errorf("%s: success_reward is %g, want more than 0 and at most 1e6", task, s.SuccessReward)
	case s.Milestones < 1 || s.Milestones > 1000:
		return fmt.Errorf("%s: milestones is %d, want 1 to 1000", task, s.Milestones)
	}
	if _, ok := actionSets[s.Discrete]; !ok && s.Discrete != Continuous {
		known := []string{string(Continuous), string(Product9), string(Cross5)}
		return fmt.Errorf("%s: unknown discrete %q%s", task, s.Discrete, conf.Near(string(s.Discrete), known))
	}
	if s.SparseHorizon != Extended && s.SparseHorizon != Literal {
		return fmt.Errorf("%s: sparse_horizon is %q, want %q or %q", task, s.SparseHorizon, Extended, Literal)
	}
	return wantNonNegative(task, "vmas_fov", s.FieldOfView)
}

// wantCount returns one sentence if a task's count is outside [low, high].
func wantCount(task, key string, n, low, high int) error {
	if n < low || n > high {
		return fmt.Errorf("%s: %s is %d, want %d to %d", task, key, n, low, high)
	}
	return nil
}

// wantPositive returns one sentence if a task's size, mass or other quantity is not between a thousandth and a thousand:
// enough for any experiment, and far from where squares and quotients of float32 overflow.
func wantPositive(task, key string, x float32) error {
	if !(x >= 1e-3 && x <= 1e3) {
		return fmt.Errorf("%s: %s is %g, want 0.001 to 1000", task, key, x)
	}
	return nil
}

// wantNonNegative is wantPositive for a quantity that may be 0.
func wantNonNegative(task, key string, x float32) error {
	if !(x >= 0 && x <= 1e3) {
		return fmt.Errorf("%s: %s is %g, want 0 to 1000", task, key, x)
	}
	return nil
}

// wantReward returns one sentence if a reward is so large that sums of it would lose their small parts.
func wantReward(task, key string, x float32) error {
	if !(x >= -1e6 && x <= 1e6) {
		return fmt.Errorf("%s: %s is %g, want -1e6 to 1e6", task, key, x)
	}
	return nil
}

func isFinite(x float32) bool { return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) }
