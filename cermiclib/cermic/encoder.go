// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/envs"
)

// Scopes of the encoder θ and of its momentum copy θᵐ within the module's scope.
const (
	encoderScope  = "encoder"
	momentumScope = "momentum"
)

// embed maps o_t [B,I] to s_t = θ(o_t) [B,S].
//
// paper:encoder  s_t = θ(o_t), s_{t+1} = θᵐ(o_{t+1}); θᵐ has θ's structure and is a momentum average of it
//
// Reading: θ belongs to the module; actor and critic neither share nor train it, which keeps the module a plug-in
// (D22).
func (c Config) embed(sc *model.Scope, spec *envs.Spec, obs *Node) *Node {
	return nn.Encode(sc.At(encoderScope), spec, obs, c.Embed, c.EmbedNorm)
}

// embedNext maps o_{t+1} [B,I] to s_{t+1} = θᵐ(o_{t+1}) [B,S] without a gradient. embed must have created θ before.
func (c Config) embedNext(sc *model.Scope, spec *envs.Spec, next *Node) *Node {
	s := nn.Encode(sc.At(momentumScope), spec, next, c.Embed, c.EmbedNorm)
	nn.TargetCopy(sc.At(encoderScope), sc.At(momentumScope))
	return StopGradient(s)
}

// followEncoder moves θᵐ towards the θ of this graph: call it after the optimiser.
//
// paper:momentum  θᵐ ← (1-τ)·θᵐ + τ·θ
//
// Reading: the paper gives no τ for θᵐ; ema_tau is that of its target networks (D18).
func (c Config) followEncoder(sc *model.Scope, g *Graph) {
	nn.Follow(g, sc.At(encoderScope), sc.At(momentumScope), c.Polyak)
}
