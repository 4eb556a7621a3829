// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/envs/conf"
)

// Mixer is graph code that makes the value of a joint action out of the agents' utilities. Raising one agent's
// utility must never make its choice less attractive to the team, or the agents' own greedy choices would not be the
// team's.
type Mixer interface {
	// Mix returns Q_tot [B]; its variables lie below sc.
	Mix(sc *model.Scope, in QIn) *graph.Node
	// Cost returns a cost of the mixer's own beside the temporal difference, a scalar, or nil for none; the arguments
	// are those of Mix.
	Cost(sc *model.Scope, in QIn) *graph.Node
}

// QIn is what a mixer may use of B frames. It is used in training only.
type QIn struct {
	Chosen *graph.Node // [B,N] utilities of the chosen actions
	Max    *graph.Node // [B,N] utilities of the best allowed actions, of the same network
	OneHot *graph.Node // [B,N,K] chosen actions
	Obs    *graph.Node // [B,N,O]; of cells, their features [B,N,F] as the same network sees them, through which no gradient passes
	State  *graph.Node // [B,S]; of cells, Obs of all agents [B,N·F]
}

// MixerConfig is a mixer with all its settings; registered values are complete defaults.
type MixerConfig interface {
	Kind() string
	// Validate returns one sentence about the first impossible setting.
	Validate() error
	Build(b *nn.Build) (Mixer, error)
}

// RegisterMixer makes a mixer known by its Kind.
func RegisterMixer(proto MixerConfig) { conf.Register(proto) }
