// SPDX-License-Identifier: Apache-2.0

// Package policy holds the networks that map an agent's observation to its action distribution or utilities.
package policy

import (
	"context"
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// Policy is graph code, shared by all agents of a team. Row (b, i) of its output may depend only on row (b, i) of its
// inputs, so execution is decentralised. It panics on misuse, as GoMLX does.
type Policy interface {
	// HiddenLen is C, the length of the recurrent state of one agent; 0 for feed-forward networks.
	HiddenLen() int
	// Net maps obs [B,N,I] and hidden state [B,N,C] (nil if C is 0) to y [B,N,out] and the next hidden state. I is
	// Spec.InLen(), and Build.Context numbers of an explorer follow. nn.ReadObs(sc, ...) comes first, so that other
	// code finds the policy's observation encoder there.
	Net(sc *model.Scope, obs, hidden *graph.Node, out int) (y, next *graph.Node)
}

// Recurrent is a Policy with a state, trained on chunks of successive steps of one environment. A policy with a state
// that is not Recurrent is trained on single steps, its stored hidden state taken as given.
type Recurrent interface {
	Policy
	// Chunk is L, the number of steps that gradients pass through, at least 1.
	Chunk() int
	// Unroll maps obs [L,B,N,I] to y [L,B,N,out], as Net does step by step. keep [L,B,N] is 0 where an episode starts,
	// and hidden is the state before the first step [B,N,C].
	Unroll(sc *model.Scope, obs, keep, hidden *graph.Node, out int) (y *graph.Node)
}

// Chunk is the number of steps that p is trained on together; 1 for all but recurrent policies.
func Chunk(p Policy) int {
	if r, ok := p.(Recurrent); ok {
		return r.Chunk()
	}
	return 1
}

// SelfTraining is a Policy with a part that has a loss of its own, apart from the learner's. The interface is optional,
// so policies of other packages may have such a part with any learner, and most need no code for it.
type SelfTraining interface {
	Policy
	// Trainer compiles that training for the network at a scope path, such as "/actor". The learner runs it after each of
	// its updates, on the same rollout and with the updated weights.
	Trainer(b *nn.Build, path string) (Training, error)
}

// Training trains on a rollout and reports its scalars. It returns ctx's error soon after that is cancelled.
type Training func(ctx context.Context, x *rl.Rollout) (rl.Scalars, error)

// TrainerOf compiles the training of p's own part; a policy without one gets a Training that does nothing.
func TrainerOf(p Policy, b *nn.Build, path string) (Training, error) {
	if s, ok := p.(SelfTraining); ok {
		return s.Trainer(b, path)
	}
	return func(context.Context, *rl.Rollout) (rl.Scalars, error) { return nil, nil }, nil
}

// refuseContext refuses a policy that cannot read a context behind the observation.
func refuseContext(b *nn.Build, c Config) error {
	if b.Context == 0 {
		return nil
	}
	return fmt.Errorf("policy %s cannot read a context behind the observation: set explore.actor_uses_context=false, "+
		"or policy=%s", c.Kind(), MLP{}.Kind())
}

// Config is a policy model with all its settings; registered values are complete defaults.
type Config interface {
	Kind() string
	Build(b *nn.Build) (Policy, error)
}

// Register makes a policy model known by its Kind.
func Register(proto Config) { conf.Register(proto) }
