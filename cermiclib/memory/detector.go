// SPDX-License-Identifier: Apache-2.0

package memory

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// detectorHidden is the width of the detector's two hidden layers; the paper's table of memory sizes: 128.
const detectorHidden = 128

// detectRows is the number of agent steps that one call of the detector's graph takes.
const detectRows = 512

// detect maps embedded observations e [B,D] to one logit for each agent [B,N]; that of the observer itself means nothing.
//
// paper:detector  p = MLP(o), p_k the likelihood of observing agent k
//
// Reading: the text speaks of agents of type k and of identifying agents; the slots are identities, since agents of one
// type still have to be told apart as nodes (D19).
func detect(sc *model.Scope, e *Node, agents int) *Node {
	return nn.MLP(sc, e, []int{detectorHidden, detectorHidden}, nn.LeakyReLU, agents)
}

// detectionLoss is Σ_k BCE over the other agents [B], for logits, labels and own [B,N], own one-hot of the observer.
//
// paper:eq:detector_loss_condensed  -Σ_k y_k·log p_k + (1-y_k)·log(1-p_k)
func detectionLoss(logits, labels, own *Node) *Node {
	each := Add(Sub(nn.ReLU(logits), Mul(logits, labels)), Log1P(Exp(Neg(Abs(logits))))) // no overflow for either sign
	return ReduceSum(Mul(each, OneMinus(own)), -1)
}

// detections evaluates the detector on every agent step of x with the weights as they are: bit j of seen [T,E,N] is set
// where agent j ≠ observer has a probability of threshold or more.
func detections(p *nn.Program, x *rl.Rollout, threshold float64, seen []uint64) ([]uint64, error) {
	if len(seen) != x.Rows() {
		seen = make([]uint64, x.Rows())
	}
	return seen, detected(p, x, func(row int, probability []float32) {
		seen[row] = 0
		for j, v := range probability {
			if j != row%x.N && float64(v) >= threshold {
				seen[row] |= 1 << j
			}
		}
	})
}

// detected calls visit with the detector's probabilities [N] at every agent step of x; they are valid during the call.
func detected(p *nn.Program, x *rl.Rollout, visit func(row int, probability []float32)) error {
	rows, n := x.Rows(), x.N
	probability := make([]float32, detectRows*n)
	for from := 0; from < rows; from += detectRows {
		to := min(from+detectRows, rows)
		p.Feed(0, func(dst []float32) { x.LookFrom(dst[:(to-from)*x.Spec.InLen()], from) })
		if err := p.Run(); err != nil {
			return err
		}
		p.Read(0, probability)
		for row := from; row < to; row++ {
			visit(row, probability[(row-from)*n:(row-from+1)*n])
		}
	}
	return nil
}
