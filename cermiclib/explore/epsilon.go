// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// Epsilon makes a policy ε-greedy unless it is so already, as value learners' policies are. Each agent takes a uniform
// allowed action (a uniform point of its box) with probability ε. ε falls linearly and is constant within a rollout
// batch.
//
//	μ(a|o) = (1 − ε)·π(a|o) + ε·u(a|o)
//
// With MAPPO this is MAPPO-ε-greedy. The paper gives only its name; all else is reconstructed. A policy gradient must
// account for data from μ. Here it trains μ_new against μ_old with the same ε. The ratio then starts at 1 and
// stays bounded, and an action that looks random moves π less, since ∇log μ = (1−ε)·π/μ · ∇log π. The critic values the
// ε-soft policy, and evaluation uses π alone.
type Epsilon struct {
	Init   float64 `json:"egreedy_eps_init" range:"0..1" help:"initial ε; the paper: 0.8"`
	End    float64 `json:"egreedy_eps_end" range:"0..1" help:"final ε; the paper: 0.01"`
	Frames int     `json:"egreedy_anneal_frames" range:"1..1000000000000" help:"frames over which ε falls linearly; BenchMARL: a third of all frames"`

	_ conf.Constant `key:"egreedy_ratio" value:"mixture"` // a former setting
}

func init() { Register(DefaultEpsilon()) }

// Scheduled lets ε fall within the training.
func (c Epsilon) Scheduled(s rl.Schedule) Config {
	c.Frames = s.Within()
	return c
}

// DefaultEpsilon has the schedule of the paper's table.
func DefaultEpsilon() Epsilon { return Epsilon{Init: 0.8, End: 0.01, Frames: 1_000_000} }

// Kind is "epsilon".
func (Epsilon) Kind() string { return "epsilon" }

// Build needs nothing from the task.
func (c Epsilon) Build(*nn.Build) (Module, error) { return epsilon{Epsilon: c}, nil }

type epsilon struct {
	none
	Epsilon
}

// Behave sets the share of uniform actions.
func (e epsilon) Behave(frames int, _ *rl.Obs, d *rl.Dist) error {
	d.Eps = float32(rl.Anneal(e.Init, e.End, frames, e.Frames))
	return nil
}

// Reward adds nothing.
func (e epsilon) Reward(_ context.Context, x *rl.Rollout) (rl.Scalars, error) {
	return rl.Scalars{"epsilon": rl.Anneal(e.Init, e.End, x.Frames, e.Frames)}, nil
}
