// SPDX-License-Identifier: Apache-2.0

package memory

import (
	. "github.com/gomlx/gomlx/core/graph"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// detectorHidden is the width of the detector's two hidden layers; the paper's table of memory sizes: 128.
const detectorHidden = 128

// detectRows is the number of agent steps that one call of the detector's graph takes.
const detectRows = 512

// detectionLoss is Σ_k BCE over the other agents [B], for logits, labels and own [B,N], own one-hot of the observer.
//
// Reading: present and absent agents count alike, although few pairs are in sight on some tasks. The detector then
// sees nobody at first. On random play of navigation, with 7 % of pairs in sight, it finds none of them within 350
// gradient steps, 58 % after 700 and 83 % after 2,100, and 96 % of its detections are right (AUC 0.99). With an
// eightfold weight of the present ones it finds 69 % after 350 steps, but after 2,100 a third of its detections are
// wrong (one seed each).
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

// detected calls visit with the detector's probabilities [P] at every agent step of x; they are valid during the call.
func detected(p *nn.Program, x *rl.Rollout, visit func(row int, probability []float32)) error {
	rows, n := x.Rows(), x.Spec.Peers()
	probability := make([]float32, detectRows*n)
	for from := 0; from < rows; from += detectRows {
		to := min(from+detectRows, rows)
		p.Feed(0, func(dst []float32) { x.GatherFrom(dst[:(to-from)*x.Spec.InLen()], from) })
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
