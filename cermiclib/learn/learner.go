// SPDX-License-Identifier: Apache-2.0

// Package learn holds the learners, which improve policies from collected experience.
package learn

import (
	"context"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// Learner trains a policy. Act and Update never overlap. Parameters in the build's store are saved with the run. A
// learner with other state between rollout batches must be an rl.Saver; otherwise, a resumed run would give other
// results.
type Learner interface {
	// Act computes the action distributions of all E·N rows in one graph call; it samples nothing.
	Act(in *rl.Obs, out *rl.Dist) error
	// Update trains on the rollout, whose reward is ExtrinsicWeight·Extrinsic + Intrinsic, and reports its scalars.
	// It returns ctx's error soon after ctx is cancelled; the run then returns to the start of the iteration.
	Update(ctx context.Context, x *rl.Rollout) (rl.Scalars, error)
	// HiddenLen is C, the length of the policy's recurrent state.
	HiddenLen() int
}

// OffPolicy is a Learner that trains on experience of earlier rollout batches.
type OffPolicy interface {
	Learner
	// Experience returns the replay, for explorers that also train on it. It is not part of checkpoints: a resumed run
	// repeats its action log and adds every rollout batch again, in order, without the intrinsic reward.
	Experience() *rl.Replay
}

// Config is a learner with all its settings; registered values are complete defaults.
type Config interface {
	Kind() string
	Build(b *nn.Build, p policy.Config) (Learner, error)
	// CollectFrames is the number of frames, environment steps summed over environments, that one iteration collects.
	CollectFrames() int
}

// ValueBased is a Config of an OffPolicy learner that compares the values of finitely many actions and explores with
// its own ε.
type ValueBased interface {
	Config
	// ValueBased does nothing; it sets these configs apart.
	ValueBased()
}

// Register registers a learner under its Kind.
func Register(proto Config) { conf.Register(proto) }
