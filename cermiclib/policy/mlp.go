// SPDX-License-Identifier: Apache-2.0

package policy

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/conf"
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

// Validate returns one sentence about the first impossible setting.
func (c MLP) Validate() error { return conf.Check(c) }

// Build checks the settings; the weights are made when a graph first uses them.
func (c MLP) Build(b *nn.Build) (Policy, error) { return mlp{c, b.Spec}, c.Validate() }

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
