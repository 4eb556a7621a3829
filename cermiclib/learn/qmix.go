// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/envs/conf"
)

// QMIX mixes utilities by a two-layer network whose non-negative weights depend on the state. Q_tot therefore grows
// with each utility (Rashid et al. 2018). It follows BenchMARL 1.5.2 (torchrl's QMixer):
//
//	h     = ELU( qᵀ·|W₁(s)| + b₁(s) )
//	Q_tot = h·|w₂(s)| + v(s)
//
// W₁, b₁ and w₂ are linear in s, v has one hidden layer with ReLU.
type QMIX struct {
	Embed int `json:"mixing_embed_dim" range:"1..8192" help:"length of the mixing network's hidden layer; BenchMARL: 32"`

	// Former settings.
	_ conf.Constant `key:"hypernet_layers" value:"1"`
	_ conf.Constant `key:"hypernet_hidden" value:"64"`
}

func init() { RegisterMixer(DefaultQMIX()) }

// DefaultQMIX is BenchMARL's (conf/algorithm/qmix.yaml).
func DefaultQMIX() QMIX { return QMIX{Embed: 32} }

// Kind is "qmix".
func (QMIX) Kind() string { return "qmix" }

// Build checks the settings; the weights are made when a graph first uses them.
func (c QMIX) Build(b *nn.Build) (Mixer, error) {
	if b.Spec.State == 0 {
		return nil, fmt.Errorf("%s has no state for the mixer of qmix", b.Spec.Name)
	}
	return qmix{c}, nil
}

type qmix struct{ QMIX }

// Mix returns Q_tot [B] from utilities [B,N] and state [B,S].
func (m qmix) Mix(sc *model.Scope, in QIn) *Node {
	b, n := in.Chosen.Shape().Dimensions[0], in.Chosen.Shape().Dimensions[1]
	w1 := Reshape(Abs(nn.Linear(sc.At("w1").At("out"), in.State, n*m.Embed)), b, n, m.Embed)
	b1 := nn.Linear(sc.At("b1"), in.State, m.Embed)
	h := nn.ELU(Add(ReduceSum(Mul(ExpandAxes(in.Chosen, -1), w1), 1), b1))
	w2 := Abs(nn.Linear(sc.At("w2").At("out"), in.State, m.Embed))
	v := nn.Linear(sc.At("v_out"), nn.ReLU(nn.Linear(sc.At("v"), in.State, m.Embed)), 1)
	return Add(ReduceSum(Mul(h, w2), -1), Reshape(v, -1))
}

// Mixer is graph code that combines the agents' utilities into the value of a joint action. Raising one agent's utility
// must never make its choice less attractive to the team. Otherwise, the agents' own greedy choices would not be the
// team's.
type Mixer interface {
	// Mix returns Q_tot [B]; its variables lie below sc.
	Mix(sc *model.Scope, in QIn) *Node
}

// QIn is the input of a mixer for B frames. It is used in training only.
type QIn struct {
	Chosen *Node // [B,N] utilities of the chosen actions
	Max    *Node // [B,N] utilities of the best allowed actions, of the same network
	OneHot *Node // [B,N,K] chosen actions
	Obs    *Node // [B,N,O]; for cells, their features [B,N,F] in the same network, without a gradient
	State  *Node // [B,S]; for cells, Obs of all agents [B,N·F]
}

// MixerConfig is a mixer with all its settings; registered values are complete defaults.
type MixerConfig interface {
	Kind() string
	Build(b *nn.Build) (Mixer, error)
}

// RegisterMixer registers a mixer under its Kind.
func RegisterMixer(proto MixerConfig) { conf.Register(proto) }
