// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// QPLEX mixes utilities by a duplex dueling network (Wang et al. 2021). It represents every joint value whose greedy
// joint action consists of the agents' greedy actions, not only values that grow with each utility:
//
//	Q̃_i   = w_i(s)·Q_i(o_i, a_i) + b_i(s)        w_i > 0; Ṽ_i likewise of max_a Q_i
//	A_i   = sg(Q̃_i − Ṽ_i)                         not positive, 0 for a greedy action; no gradient
//	λ_i   = Σ_k |key_k(s)|·σ(g_ki(s))·σ(c_ki(s, a))   positive, depends on the joint action a
//	Q_tot = Σ_i Q̃_i + Σ_i (λ_i − 1)·A_i           = Σ_i Ṽ_i + Σ_i λ_i·A_i
//
// Source: the description of the authors' code (wjh720/QPLEX) with its settings for StarCraft. qplex_head = qatten
// takes w_i from attention over agents, as in a configuration of ICES. It has four queries from the state, keys from
// the observations, and a softmax over agents, summed over heads; b_i = V(s)/n. A penalty on their squares keeps the
// attention logits small. Reconstructed: its queries share a hidden layer.
type QPLEX struct {
	Head      string  `json:"qplex_head" oneof:"dueling,qatten" help:"network of the weights w and biases b; dueling: as in QPLEX"`
	Hidden    int     `json:"hypernet_hidden" range:"1..8192" help:"width of the hidden layers; the authors: 64"`
	Heads     int     `json:"adv_heads" range:"1..256" help:"number K of attention heads of the advantage part; the authors: 4, or 10 in toy games"`
	AdvLayers int     `json:"adv_layers" range:"1..64" help:"layers of the advantage networks; the authors: 1, or 3 in their toy games"`
	Attention int     `json:"qatten_heads" range:"1..256" help:"attention heads, with qplex_head=qatten; the authors: 4"`
	Embed     int     `json:"qatten_embed" range:"1..8192" help:"length of queries and keys, with qplex_head=qatten; the authors: 32"`
	Penalty   float64 `json:"qatten_logit_cost" range:"0.." help:"weight of the mean squared attention logit in the loss; the authors: 0.001"`
}

// The heads of qplex_head.
const (
	HeadDueling = "dueling"
	HeadQatten  = "qatten"
)

func init() { RegisterMixer(DefaultQPLEX()) }

// DefaultQPLEX has the authors' settings.
func DefaultQPLEX() QPLEX {
	return QPLEX{Head: HeadDueling, Hidden: 64, Heads: 4, AdvLayers: 1, Attention: 4, Embed: 32, Penalty: 0.001}
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
	weight, bias := m.transform(sc, in)
	chosen := Add(Mul(weight, in.Chosen), bias)
	advantage := StopGradient(Mul(weight, Sub(in.Chosen, in.Max)))
	return Add(ReduceSum(chosen, -1), ReduceSum(Mul(AddScalar(m.lambda(sc.At("advantage"), in), -1), advantage), -1))
}

// transform returns w [B,N] and b, [B,N] or [B,1].
func (m qplex) transform(sc *model.Scope, in QIn) (weight, bias *Node) {
	n := in.Chosen.Shape().Dimensions[1]
	if m.Head == HeadQatten {
		attention := Softmax(m.logits(sc, in), -1)
		value := m.mlp(sc.At("value"), in.State, 2, 1)
		return AddScalar(ReduceSum(attention, 1), positive), DivScalar(value, n)
	}
	return AddScalar(Abs(m.mlp(sc.At("weight"), in.State, 2, n)), positive), m.mlp(sc.At("bias"), in.State, 2, n)
}

// logits are the attention of every head to every agent before the softmax, [B,heads,N].
func (m qplex) logits(sc *model.Scope, in QIn) *Node {
	d := in.Obs.Shape().Dimensions
	query := Reshape(m.mlp(sc.At("query"), in.State, 2, m.Attention*m.Embed), d[0], m.Attention, m.Embed)
	rows := Reshape(in.Obs, d[0]*d[1], d[2])
	key := Reshape(nn.Linear(sc.At("key"), rows, m.Attention*m.Embed), d[0], d[1], m.Attention, m.Embed)
	return DivScalar(Einsum("bhe,bnhe->bhn", query, key), math.Sqrt(float64(m.Embed)))
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

// Cost is the penalty on large attention logits, a scalar, or nil without attention.
func (m qplex) Cost(sc *model.Scope, in QIn) *Node {
	if m.Head != HeadQatten || m.Penalty == 0 {
		return nil
	}
	return nn.Times(ReduceAllMean(Square(m.logits(sc, in))), sc.Scope()+"/penalty", m.Penalty)
}
