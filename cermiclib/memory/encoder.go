// SPDX-License-Identifier: Apache-2.0

package memory

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

// EncoderHidden is the width of the encoder's two hidden layers; the paper's table of memory sizes: 128.
const EncoderHidden = 128

// Encode maps vector observations [B,O] to embeddings [B,width] through two hidden layers. With normalise, each embedding has
// mean 0 and variance 1 over its components, so that a collapse to a constant cannot hide in a small scale.
//
// The memories and the module's own encoder θ have this shape and weights of their own.
func Encode(sc *model.Scope, obs *Node, width int, normalise bool) *Node {
	e := nn.MLP(sc, obs, []int{EncoderHidden, EncoderHidden}, nn.LeakyReLU, width)
	if normalise {
		e = nn.Normalize(e)
	}
	return e
}
