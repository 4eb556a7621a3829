// SPDX-License-Identifier: Apache-2.0

package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs"
)

// encoderHidden is the width of the encoder's two hidden layers; the paper's table of memory sizes: 128.
const encoderHidden = 128

// Encode maps observations [B,I] to embeddings [B,width]: vectors through two hidden layers, cells through ReadObs
// and one linear layer, as its dense layer is hidden too. With normalise, each embedding has mean 0 and variance 1
// over its components, so that a collapse to a constant cannot hide in a small scale.
//
// The memories and the module's own encoder θ have this shape and weights of their own.
func Encode(sc *model.Scope, s *envs.Spec, obs *Node, width int, normalise bool) *Node {
	e := MLP(sc, ReadObs(sc, s, obs), EncoderLayers(s), LeakyReLU, width)
	if normalise {
		e = Normalize(e)
	}
	return e
}

// EncoderLayers are the widths of an encoder's hidden layers behind ReadObs.
func EncoderLayers(s *envs.Spec) []int {
	if s.CellLen() > 0 {
		return nil
	}
	return []int{encoderHidden, encoderHidden}
}
