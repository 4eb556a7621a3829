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
// Reading: the text speaks of agents of type k and of identifying agents. The slots are identities, since agents of one
// type still have to be distinguished as nodes; det_slots selects (D19).
func detect(sc *model.Scope, e *Node, agents int) *Node {
	return nn.MLP(sc, e, []int{detectorHidden, detectorHidden}, nn.LeakyReLU, agents)
}

// detectionLoss is Σ_k BCE over the other agents [B], for logits, labels and own [B,N], own one-hot of the observer.
//
// Reading: present and absent count alike, although few pairs are in sight on some tasks. The detector then sees nobody at first, but
// that passes: on navigation, 7 % of pairs in sight, random play, Adam's step size that of the module, it finds none of them within
// 350 gradient steps, 58 % after 700 and 83 % after 2,100, of whom 96 % are there (area under the curve 0.99). Weighing those
// present eight times, it finds 69 % after 350 steps, but after 2,100 a third of those it sees are not there (one seed each).
//
// paper:eq:detector_loss_condensed  -Σ_k y_k·log p_k + (1-y_k)·log(1-p_k)
func detectionLoss(logits, labels, own *Node) *Node {
	each := Add(Sub(nn.ReLU(logits), Mul(logits, labels)), Log1P(Exp(Neg(Abs(logits))))) // no overflow for either sign
	return ReduceSum(Mul(each, OneMinus(own)), -1)
}

// detect fills in what a detector of these logits that learns has to say; all [B,N], own one-hot of the observer.
func (out *Context) detect(logits, labels, own *Node, threshold, coef float64) {
	out.Loss = nn.Times(detectionLoss(logits, labels, own), "memory/det_coef", coef)
	said := ConvertDType(GreaterOrEqual(Sigmoid(logits), ConstAs(logits, threshold)), logits.DType())
	others := float64(max(logits.Shape().Dimensions[1]-1, 1))
	share := func(x *Node) *Node { return DivScalar(ReduceSum(Mul(x, OneMinus(own)), -1), others) }
	out.Right, out.Present = share(OneMinus(Abs(Sub(said, labels)))), share(labels)
}

// detections evaluates the detector on every agent step of x with the weights as they are: bit j of seen [T,E,N] is set
// where agent j ≠ observer has a probability of threshold or more.
// embedded [T,E,N,D] receives the embeddings, which are p's second output; with D = 0 there are none.
func detections(p *nn.Program, x *rl.Rollout, threshold float64, seen []uint64, embedded []float32) ([]uint64, error) {
	if len(seen) != x.Rows() {
		seen = make([]uint64, x.Rows())
	}
	return seen, detected(p, x, embedded, func(row int, probability []float32) {
		seen[row] = 0
		for j, v := range probability {
			if j != row%x.N && float64(v) >= threshold {
				seen[row] |= 1 << j
			}
		}
	})
}

// detected calls visit with the detector's probabilities [P] at every agent step of x; they are valid during the call. embedded
// is as detections says.
func detected(p *nn.Program, x *rl.Rollout, embedded []float32, visit func(row int, probability []float32)) error {
	rows, n, d := x.Rows(), x.Spec.Peers(), len(embedded)/x.Rows()
	probability, e := make([]float32, detectRows*n), make([]float32, detectRows*d)
	for from := 0; from < rows; from += detectRows {
		to := min(from+detectRows, rows)
		p.Feed(0, func(dst []float32) { x.GatherFrom(dst[:(to-from)*x.Spec.InLen()], from) })
		if err := p.Run(); err != nil {
			return err
		}
		p.Read(0, probability)
		if d > 0 {
			p.Read(1, e)
			copy(embedded[from*d:to*d], e)
		}
		for row := from; row < to; row++ {
			visit(row, probability[(row-from)*n:(row-from+1)*n])
		}
	}
	return nil
}
