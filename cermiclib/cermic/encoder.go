// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
)

// Scopes of the encoder θ and of its momentum copy θᵐ below the module's.
const (
	encoderScope  = "encoder"
	momentumScope = "momentum"
)

// embed maps o_t [B,O] to s_t = θ(o_t) [B,S].
//
// paper:encoder  s_t = θ(o_t), s_{t+1} = θᵐ(o_{t+1}), one structure, θᵐ a momentum average of θ
//
// Reading: θ is the module's own; actor and critic neither share nor train it, which keeps the module a plug-in (D22).
func (c Config) embed(sc *model.Scope, obs *Node) *Node {
	return memory.Encode(sc.At(encoderScope), obs, c.Embed, c.EmbedNorm)
}

// embedNext maps o_{t+1} [B,O] to s_{t+1} = θᵐ(o_{t+1}) [B,S], through which no gradient passes. Before its first use in a
// graph, embed must have made θ: θᵐ starts as a copy.
func (c Config) embedNext(sc *model.Scope, next *Node) *Node {
	at := sc.At(momentumScope)
	fresh := len(nn.Variables(sc.Store(), at.Scope())) == 0
	s := memory.Encode(at, next, c.Embed, c.EmbedNorm)
	online, copies := encoderPairs(sc)
	for i, v := range copies {
		v.SetTrainable(false)
		if fresh {
			copyValue(v, online[i])
		}
	}
	return StopGradient(s)
}

// followEncoder moves θᵐ towards the θ of this graph: call it after the optimiser.
//
// paper:momentum  θᵐ ← (1-τ)·θᵐ + τ·θ
func (c Config) followEncoder(sc *model.Scope, g *Graph) {
	online, copies := encoderPairs(sc)
	for i, v := range copies {
		old := v.NodeValue(g)
		v.SetNodeValue(Add(MulScalar(old, 1-c.Polyak), MulScalar(online[i].NodeValue(g), c.Polyak)))
	}
}

// encoderPairs lists the variables of θ and of θᵐ in one order.
func encoderPairs(sc *model.Scope) (online, copies []*model.Variable) {
	return nn.Variables(sc.Store(), sc.At(encoderScope).Scope()), nn.Variables(sc.Store(), sc.At(momentumScope).Scope())
}

// copyValue sets to's value to from's. It panics on errors, as graph code does.
func copyValue(to, from *model.Variable) {
	value, err := from.MustValue().LocalClone()
	if err == nil {
		err = to.SetValue(value)
	}
	if err != nil {
		panic(err)
	}
}
