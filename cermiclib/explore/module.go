// SPDX-License-Identifier: Apache-2.0

// Package explore holds the exploration axis of a method. An explorer may change the behaviour policy, add an intrinsic
// reward, and train itself on the collected experience. A method is a learner × an explorer × a policy model.
package explore

import (
	"context"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// Module is an explorer in a running experiment. As in Algorithm 1, the run calls Behave at every step of the rollout
// batch, then Reward once, then (after the learner's update) Update once. Parameters in the build's store are saved
// with the run. A module with other state between rollout batches must be an rl.Saver, or a resumed run would end
// elsewhere.
type Module interface {
	// Behave may change the action distribution of one step of the rollout batch (ε-greedy); frames counts those
	// trained so far. It is not called in evaluation.
	Behave(frames int, in *rl.Obs, d *rl.Dist) error
	// Reward and Update return ctx's error soon after it is cancelled; the run then goes back to where the iteration
	// began.
	//
	// Reward adds this module's intrinsic reward to x.Intrinsic, with the parameters as they were while collecting.
	// It may set x.ExtrinsicWeight, to the same in every rollout batch.
	Reward(ctx context.Context, x *rl.Rollout) (rl.Scalars, error)
	// Update trains the module on the rollout: own loss, own optimiser, own variables.
	Update(ctx context.Context, x *rl.Rollout) (rl.Scalars, error)
}

// Requirements are a module's needs of a run.
type Requirements struct {
	Labels  bool // rollouts hold the simulator's detector labels
	Context int  // F, length of the context that each actor reads from a ContextProvider; 0: none
}

// Requirer is a Config whose module has Requirements. They are known before anything is built, since the actor's
// network depends on them.
type Requirer interface {
	Requires(b *nn.Build) (Requirements, error)
}

// ContextProvider is a Module that gives every actor a context beside its observation. It depends only on that agent's
// own past, so execution stays without communication; actors read it in evaluation, too.
type ContextProvider interface {
	// ContextFor writes the context of every agent before it acts into dst [E,N,F]. It is called at every step, in time
	// order; isFirst [E] is 1 where an episode starts.
	ContextFor(in *rl.Obs, isFirst []uint8, dst []float32) error
	// Aside calls f, which plays other episodes from their start, and then restores the state before the call.
	Aside(f func() error) error
}

// Inspector is a Module that can show its view of agent steps without training on them, for plots of an episode and for
// measurements of a bonus. It is optional, since the result of Reward is all that most explorers have to show.
type Inspector interface {
	// Rate writes the raw intrinsic reward of the agent steps of x, whole episodes, into dst [T,E,N].
	Rate(ctx context.Context, dst []float32, x *rl.Rollout) error
	// Inspect fills in the module's view of every agent step of x, which begins with an episode.
	Inspect(ctx context.Context, x *rl.Rollout, into *results.Trace) error
	// Recall restores only the earlier agent steps that Rate and Inspect need, from the result of Save in a run of any
	// number of environments.
	Recall(state []byte) error
}

// Config is an explorer with all its settings; registered values are complete defaults.
type Config interface {
	Kind() string
	Build(b *nn.Build) (Module, error)
}

// Register makes an explorer known by its Kind.
func Register(proto Config) { conf.Register(proto) }

// None is no explorer: the learner's own policy and the extrinsic reward.
type None struct{}

func init() { Register(None{}) }

// Kind is "none".
func (None) Kind() string { return "none" }

// Build returns a module that does nothing.
func (None) Build(*nn.Build) (Module, error) { return none{}, nil }

// none is a module that does nothing; modules embed it for the calls that they do not need.
type none struct{}

func (none) Behave(int, *rl.Obs, *rl.Dist) error                     { return nil }
func (none) Reward(context.Context, *rl.Rollout) (rl.Scalars, error) { return nil, nil }
func (none) Update(context.Context, *rl.Rollout) (rl.Scalars, error) { return nil, nil }
