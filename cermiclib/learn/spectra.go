// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/envs/conf"
)

// SPECTra mixes utilities by a two-layer network whose weights come from a set network, the ST-HyperNet of SPECTra
// (Park, Seong and Ko 2025). No parameter depends on the number of agents, and their order does not matter. Each of the
// two hypernetworks is
//
//	x = embedding of each agent's row,  z = LayerNorm( x + MHA(x; X) )
//	t = MLP(z), u = another MLP(z)                 weight and bias tokens, ReLU after both layers
//	W = mean over heads of ⟨Q·t_i, K·t_j⟩/√d  [N,N]    b = mean over heads of ⟨Q'·seed, K'·u_j⟩/√d  [N]
//
// and with q the utilities in a row
//
//	Q_tot = Σ_k [ ELU( q·|W₁| + b₁ )·|W₂| + b₂ ]_k
//
// where Q, K, Q' and K' are linear maps with biases. Without them, W would be symmetric, and |W| = W for tokens that
// are not negative. The one seed is learned, from N(0,1).
//
// Source: the description of the authors' code (funny-rl/SPECTra). Reconstructed: the row of an agent is its
// observation, as tasks here have no state by unit. For the same reason, there are no rows of enemies, and rows lack
// last actions and time. Where an observation has a part for each peer, the first layer's width depends on the number
// of agents.
type SPECTra struct {
	Embed int `json:"mixing_embed_dim" range:"1..8192" help:"length of rows and tokens; the authors: 32"`
	Heads int `json:"mixing_heads" range:"1..256" help:"attention heads of the mixer; the authors: 4"`

	_ conf.Constant `key:"revision" value:"2"` // since tokens are projected before they are multiplied
}

func init() { RegisterMixer(DefaultSPECTra()) }

// DefaultSPECTra has the authors' sizes.
func DefaultSPECTra() SPECTra { return SPECTra{Embed: 32, Heads: 4} }

// Kind is "spectra".
func (SPECTra) Kind() string { return "spectra" }

// Validate returns one sentence about the first impossible setting.
func (c SPECTra) Validate() error {
	if c.Embed%c.Heads != 0 {
		return fmt.Errorf("mixing_embed_dim is %d, want a multiple of mixing_heads %d", c.Embed, c.Heads)
	}
	return nil
}

// Build checks the settings; the weights are made when a graph first uses them.
func (c SPECTra) Build(*nn.Build) (Mixer, error) { return spectra{c}, nil }

type spectra struct{ SPECTra }

// Mix returns Q_tot [B] from utilities [B,N] and observations [B,N,O].
func (m spectra) Mix(sc *model.Scope, in QIn) *Node {
	w1, b1 := m.hyper(sc.At("first"), in.Obs)
	w2, b2 := m.hyper(sc.At("second"), in.Obs)
	hidden := nn.ELU(Add(times(in.Chosen, Abs(w1)), b1))
	return ReduceSum(Add(times(hidden, Abs(w2)), b2), -1)
}

// times is the product of rows x [B,N] and matrices w [B,N,N].
func times(x, w *Node) *Node { return ReduceSum(Mul(InsertAxes(x, -1), w), 1) }

// hyper maps the agents' rows [B,N,O] to weights [B,N,N] and biases [B,N].
func (m spectra) hyper(sc *model.Scope, agents *Node) (weight, bias *Node) {
	d := agents.Shape().Dimensions
	x := nn.Linear(sc.At("embed"), Reshape(agents, d[0]*d[1], d[2]), m.Embed)
	z := nn.Normalize(Add(x, m.attention(sc.At("attention"), x, d[0], d[1])))
	token := func(name string) *Node {
		return nn.ReLU(nn.Linear(sc.At("%s_out", name), nn.ReLU(nn.Linear(sc.At("%s", name), z, m.Embed)), m.Embed))
	}
	t, u := token("weight"), token("bias")
	seed := nn.Weight(sc, x, "seed", nn.Normal, 1, m.Embed)
	project := func(name string, x *Node) *Node { return nn.Linear(sc.At("%s", name), x, m.Embed) }
	each := func(x *Node) *Node { return Reshape(x, d[0], d[1], m.Embed) }
	// The mean over heads of their dot products is one dot product of all.
	scale := 1 / (float64(m.Heads) * math.Sqrt(float64(m.Embed/m.Heads)))
	w := pairs(each(project("weight_query", t)), each(project("weight_key", t)))
	b := ReduceSum(Mul(each(project("bias_key", u)), ExpandLeftToRank(project("bias_query", seed), 3)), -1)
	return MulScalar(w, scale), MulScalar(b, scale)
}

// attention is multi-head attention between the agents, rows [B·N,E].
func (m spectra) attention(sc *model.Scope, x *Node, b, n int) *Node {
	part := func(name string) *Node { return Reshape(nn.Linear(sc.At("%s", name), x, m.Embed), b, n, m.Heads, -1) }
	scores := DivScalar(pairs(part("query"), part("key")), math.Sqrt(float64(m.Embed/m.Heads))) // [B,N,N,H]
	return Reshape(ReduceSum(Mul(InsertAxes(Softmax(scores, 2), -1), InsertAxes(part("value"), 1)), 2), b*n, m.Embed)
}

// pairs maps x and y [B,N,...,E] to the dot products of every row of x with every row of y [B,N,N,...]. It avoids
// Einsum: XLA's batched product of such small matrices is slower than sums of elementwise products.
func pairs(x, y *Node) *Node { return ReduceSum(Mul(InsertAxes(x, 2), InsertAxes(y, 1)), -1) }
