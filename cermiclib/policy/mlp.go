// SPDX-License-Identifier: Apache-2.0

package policy

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// MLP is a feed-forward network with Tanh between layers.
type MLP struct {
	Hidden []int `json:"hidden" range:"1..8192" help:"widths of the hidden layers; BenchMARL: 256, 256"`
}

func init() { Register(DefaultMLP()) }

// DefaultMLP is BenchMARL's model for VMAS and SMACv2 (conf/model/layers/mlp.yaml).
func DefaultMLP() MLP { return MLP{Hidden: []int{256, 256}} }

// Scheduled has layers of the schedule's width.
func (c MLP) Scheduled(s rl.Schedule) Config {
	if s.Width > 0 {
		c.Hidden = []int{s.Width, s.Width}
	}
	return c
}

// Kind is "mlp".
func (MLP) Kind() string { return "mlp" }

// Build checks the settings; the weights are made when a graph first uses them.
func (c MLP) Build(b *nn.Build) (Policy, error) { return mlp{c, b.Spec}, nil }

type mlp struct {
	MLP
	spec *envs.Spec
}

func (mlp) HiddenLen() int { return 0 }

// Net maps obs [B,N,I] to [B,N,out]; agents share the weights.
func (p mlp) Net(sc *model.Scope, obs, _ *Node, out int) (y, next *Node) {
	obs.AssertRank(3)
	d := obs.Shape().Dimensions
	y = nn.MLP(sc, nn.ReadObs(sc, p.spec, rows(obs)), p.Hidden, Tanh, out)
	return Reshape(y, d[0], d[1], out), nil
}

// GRU is BenchMARL's recurrent model (conf/model/layers/gru.yaml). One layer of gated recurrent units reads the
// observation, and a feed-forward network with Tanh between layers reads its state. The state starts every episode at
// zero.
//
// Deviation: BenchMARL trains on whole rollouts of an environment at once, hundreds of steps. A graph with hundreds of
// unrolled steps takes minutes to compile. Here gradients pass through chunks of bptt steps. Each chunk starts from the
// state that the agent had there when it acted (Kapturowski et al. 2019, "stored state").
type GRU struct {
	Width  int   `json:"gru_width" range:"1..8192" help:"C, length of the hidden state; BenchMARL: 128"`
	Hidden []int `json:"hidden" range:"1..8192" help:"widths of the feed-forward layers; BenchMARL: 256, 256"`
	Steps  int   `json:"bptt" range:"1..1000" help:"L, steps of truncated backpropagation through time"`
}

func init() { Register(DefaultGRU()) }

// DefaultGRU has BenchMARL's sizes and chunks of 20 steps.
func DefaultGRU() GRU { return GRU{Width: 128, Hidden: []int{256, 256}, Steps: 20} }

// Kind is "gru".
func (GRU) Kind() string { return "gru" }

// Build checks the settings; the weights are made when a graph first uses them.
func (c GRU) Build(b *nn.Build) (Policy, error) {
	return recurrent{
		width: c.Width, steps: c.Steps,
		read: func(sc *model.Scope, obs *Node) (x, beside *Node) { return nn.ReadObs(sc, b.Spec, obs), nil },
		head: func(sc *model.Scope, h, _ *Node, out int) *Node { return nn.MLP(sc, h, c.Hidden, Tanh, out) },
	}, nil
}

// recurrent is a network around one layer of gated recurrent units, whose weights agents share.
type recurrent struct {
	width, steps int
	read         func(sc *model.Scope, obs *Node) (x, beside *Node)        // [R,I] to the inputs of layer and head
	head         func(sc *model.Scope, h, beside *Node, out int) (y *Node) // states [R,C] to [R,out]
}

var _ Recurrent = recurrent{}

// HiddenLen is C, the width of the layer.
func (p recurrent) HiddenLen() int { return p.width }

// Chunk is L, the steps that gradients pass through.
func (p recurrent) Chunk() int { return p.steps }

// Net maps obs [B,N,I] and hidden state [B,N,C] to [B,N,out] and the next hidden state.
func (p recurrent) Net(sc *model.Scope, obs, hidden *Node, out int) (y, next *Node) {
	obs.AssertRank(3)
	d := obs.Shape().Dimensions
	x, beside := p.read(sc, rows(obs))
	cell := nn.NewGRU(sc.At("gru"), x, p.width)
	h := cell.Step(cell.Drive(x), rows(hidden))
	return Reshape(p.head(sc, h, beside, out), d[0], d[1], out), Reshape(h, d[0], d[1], p.width)
}

// Unroll maps obs [L,B,N,I] to [L,B,N,out].
func (p recurrent) Unroll(sc *model.Scope, obs, keep, hidden *Node, out int) *Node {
	obs.AssertRank(4)
	d := obs.Shape().Dimensions
	agents := d[1] * d[2]
	x, beside := p.read(sc, rows(obs))
	cell := nn.NewGRU(sc.At("gru"), x, p.width)
	h := cell.Unroll(Reshape(x, d[0], agents, -1), Reshape(keep, d[0], agents, 1), rows(hidden))
	return Reshape(p.head(sc, rows(h), beside, out), d[0], d[1], d[2], out)
}

// rows flattens all axes of x but the last into one.
func rows(x *Node) *Node {
	d := x.Shape().Dimensions
	return Reshape(x, -1, d[len(d)-1])
}
