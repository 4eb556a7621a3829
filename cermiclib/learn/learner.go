// SPDX-License-Identifier: Apache-2.0

// Package learn holds the learners: what turns collected experience into a better policy.
package learn

import (
	"context"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// Learner trains a policy. Act and Update never overlap. Parameters in the build's store are saved with the run; a
// learner that keeps anything else from one rollout batch to the next is an rl.Saver, or a run that goes on would end
// elsewhere.
type Learner interface {
	// Act computes the action distributions of all E·N rows in one graph call; it samples nothing.
	Act(in *rl.Obs, out *rl.Dist) error
	// Update trains on the rollout, whose reward is ExtrinsicWeight·Extrinsic + Intrinsic, and reports its scalars.
	// It returns ctx's error soon after that is cancelled; the run then goes back to where the iteration began.
	Update(ctx context.Context, x *rl.Rollout) (rl.Scalars, error)
	// HiddenLen is C, the length of the policy's recurrent state.
	HiddenLen() int
}

// OffPolicy is a Learner that trains on experience of earlier rollout batches.
type OffPolicy interface {
	Learner
	// Experience holds it, for explorers that train on it as well. No checkpoint does: when a run goes on, its action
	// log is played again, and the replay gets every rollout batch anew, in order, all but the intrinsic reward.
	Experience() *rl.Replay
	// Rescore is called once, with what can score old experience anew, or nil if the explorer cannot; the error says
	// what to do then.
	Rescore(s rl.Scorer) error
}

// Config is a learner with all its settings; registered values are complete defaults.
type Config interface {
	Kind() string
	Build(b *nn.Build, p policy.Config) (Learner, error)
	// CollectFrames is the number of frames, environment steps summed over environments, that one iteration collects.
	CollectFrames() int
}

// ValueBased is a Config whose learner, an OffPolicy one, compares the values of finitely many actions and explores
// by an ε of its own.
type ValueBased interface {
	// BranchesFrom says why a run cannot go on from the state of one with parent's settings, nil if it can.
	BranchesFrom(parent Config) error
}

// Register makes a learner known by its Kind.
func Register(proto Config) { conf.Register(proto) }
