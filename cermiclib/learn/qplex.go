// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/envs/conf"
)

// QPLEX mixes utilities by a duplex dueling network (Wang et al. 2021). It represents every joint value whose greedy
// joint action consists of the agents' greedy actions, not only values that grow with each utility:
//
//	Q̃_i   = w_i(s)·Q_i(o_i, a_i) + b_i(s)        w_i > 0; Ṽ_i likewise of max_a Q_i
//	A_i   = sg(Q̃_i − Ṽ_i)                         not positive, 0 for a greedy action; no gradient
//	λ_i   = Σ_k |key_k(s)|·σ(g_ki(s))·σ(c_ki(s, a))   positive, depends on the joint action a
//	Q_tot = Σ_i Q̃_i + Σ_i (λ_i − 1)·A_i           = Σ_i Ṽ_i + Σ_i λ_i·A_i
//
// Source: the description of the authors' code (wjh720/QPLEX) with its settings for StarCraft.
type QPLEX struct {
	Hidden    int `json:"hypernet_hidden" range:"1..8192" help:"width of the hidden layers; the authors: 64"`
	Heads     int `json:"adv_heads" range:"1..256" help:"number K of attention heads of the advantage part; the authors: 4, or 10 in toy games"`
	AdvLayers int `json:"adv_layers" range:"1..64" help:"layers of the advantage networks; the authors: 1, or 3 in their toy games"`

	// Former settings.
	_ conf.Constant `key:"qplex_head" value:"dueling"`
	_ conf.Constant `key:"qatten_heads" value:"4"`
	_ conf.Constant `key:"qatten_embed" value:"32"`
	_ conf.Constant `key:"qatten_logit_cost" value:"0.001"`
}

func init() { RegisterMixer(DefaultQPLEX()) }

// DefaultQPLEX has the authors' settings.
func DefaultQPLEX() QPLEX {
	return QPLEX{Hidden: 64, Heads: 4, AdvLayers: 1}
}

// WithQPLEX is c with the QPLEX mixer and, as in its authors' code, double Q-learning.
func (c Q) WithQPLEX() Q {
	c.Mixer, c.DoubleQ = DefaultQPLEX(), true
	return c
}

// Kind is "qplex".
func (QPLEX) Kind() string { return "qplex" }

// Build checks the settings; the weights are made when a graph first uses them.
func (c QPLEX) Build(b *nn.Build) (Mixer, error) {
	if b.Spec.State == 0 {
		return nil, fmt.Errorf("%s has no state for the mixer of qplex", b.Spec.Name)
	}
	return qplex{c}, nil
}

type qplex struct{ QPLEX }

// positive keeps weights above 0, as the authors' code does.
const positive = 1e-10

// Mix returns Q_tot [B].
func (m qplex) Mix(sc *model.Scope, in QIn) *Node {
	n := in.Chosen.Shape().Dimensions[1]
	weight, bias := AddScalar(Abs(m.mlp(sc.At("weight"), in.State, 2, n)), positive), m.mlp(sc.At("bias"), in.State, 2, n)
	chosen := Add(Mul(weight, in.Chosen), bias)
	advantage := StopGradient(Mul(weight, Sub(in.Chosen, in.Max)))
	return Add(ReduceSum(chosen, -1), ReduceSum(Mul(AddScalar(m.lambda(sc.At("advantage"), in), -1), advantage), -1))
}

// lambda is λ [B,N], greater than 0.
func (m qplex) lambda(sc *model.Scope, in QIn) *Node {
	d := in.OneHot.Shape().Dimensions
	joint := Concatenate([]*Node{in.State, Reshape(in.OneHot, d[0], d[1]*d[2])}, -1)
	var sum *Node
	for k := range m.Heads {
		key := AddScalar(Abs(m.mlp(sc.At("key_%d", k), in.State, m.AdvLayers, 1)), positive)
		agents := Sigmoid(m.mlp(sc.At("agents_%d", k), in.State, m.AdvLayers, d[1]))
		action := Sigmoid(m.mlp(sc.At("action_%d", k), joint, m.AdvLayers, d[1]))
		head := Mul(key, Mul(agents, action))
		if sum == nil {
			sum = head
		} else {
			sum = Add(sum, head)
		}
	}
	return sum
}

// mlp maps x [B,in] to [B,out] through layers of linear maps with ReLU between.
func (m qplex) mlp(sc *model.Scope, x *Node, layers, out int) *Node {
	for i := range layers - 1 {
		x = nn.ReLU(nn.Linear(sc.At("layer_%d", i), x, m.Hidden))
	}
	return nn.Linear(sc.At("out"), x, out)
}
