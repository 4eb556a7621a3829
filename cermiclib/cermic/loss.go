// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/theory"
	"cermic/envs"
)

// batch is a minibatch of B agent steps inside the graph.
type batch struct {
	spec      *envs.Spec
	obs, next *Node   // [B,I] o_t and the true o_{t+1}
	act       *Node   // [B,A] vector form of the action
	noise     *Node   // [B,X] standard normal, for x_t
	weight    *Node   // [B] 1 where the agent step counts, 0 for padding
	reward    *Node   // [B] rewardBefore
	negative  *Node   // input of negativeScores
	memory    []*Node // inputs of the memory
}

// newBatch names the inputs of a training graph.
func newBatch(spec *envs.Spec, in []*Node) batch {
	return batch{
		spec: spec, obs: in[inObs], next: in[inNext], act: in[inAct], noise: in[inNoise],
		weight: in[inWeight], reward: in[inReward], negative: in[inNegative], memory: in[inMemory:],
	}
}

// term is a named scalar that the graph reports about a minibatch.
type term struct {
	name  string
	value *Node // scalar
}

// losses builds the module's total loss on a minibatch, a scalar, and the diagnostics that it reports.
//
// paper:eq:loss  L = L_UB + L_LB - α·L_explore
//
// Reading: α multiplies L_explore, as in the paper's loss and table. Its first equation puts α at the other term (D1).
func (c Config) losses(sc *model.Scope, mem memory.Memory, b batch) (total *Node, terms []term) {
	report := func(name string, value *Node) { terms = append(terms, term{name, value}) }
	s := c.embed(sc, b.spec, b.obs)
	mean, logScale := c.latent(sc, s, b.act)
	mu, variance := psiMoments(mean, logScale)
	report("enc_std", spread(s, b.weight))
	report("kl", DivScalar(nn.Average(mu, b.weight), float64(c.Latent)))
	report("psi_std", DivScalar(nn.Average(Sqrt(AddScalar(variance, psiTiny)), b.weight), float64(c.Latent)))

	total = ScalarZero(s.Graph(), s.DType())
	if c.Exploit {
		m, q := c.normalisePsi(mu, variance)
		f := mem.Context(sc.At("memory"), b.memory)
		gamma := c.consistencyOf(sc, f, b.reward, b.negative, Mul(b.weight, f.Exists))
		h := c.calibration(sc, f.Now, m, q, b.weight)
		calibrated := h(gamma.lo)
		upper, lower := c.upperLoss(calibrated, q), c.lowerLoss(h(gamma.hi), q)
		correction := Div(Sub(calibrated, m), q)
		report("calib_mean", nn.Average(correction, b.weight))
		report("calib_std", spread(InsertAxes(correction, -1), b.weight))
		upperMean, lowerMean := nn.Average(upper, b.weight), nn.Average(lower, b.weight)
		total = Add(total, Add(upperMean, lowerMean))
		total = Add(total, nn.Times(gamma.loss, "cermic/nce_coef", c.ConsistencyCoef))
		if f.Loss != nil {
			memoryLoss := nn.Average(f.Loss, b.weight)
			total = Add(total, memoryLoss)
			report("loss_memory", memoryLoss)
		}
		if f.Right != nil {
			right, present := nn.Average(f.Right, b.weight), nn.Average(f.Present, b.weight)
			report("detector_accuracy", right)
			report("detector_gain", Sub(right, Max(present, OneMinus(present))))
		}

		above, below := active(upper), active(lower)
		report("loss_upper", upperMean)
		report("loss_lower", lowerMean)
		report("loss_nce", gamma.loss)
		report("context_std", spread(f.Now, b.weight))
		report("context_before", nn.Average(f.Exists, b.weight))
		report("gamma_lo", gamma.lo)
		// γ_lo is at most 0.83 with 8 negatives and 0.90 with 16, so runs are compared by its share of that (D28).
		// The printed bounds have no such largest value.
		if c.MIBounds == BoundsSound {
			report("gamma_share", DivScalar(gamma.lo, theory.BoundedLimit(c.Negatives)))
		}
		report("gamma_hi", gamma.hi)
		report("upper_active", nn.Average(above, b.weight))
		report("lower_active", nn.Average(below, b.weight))
		report("band", nn.Average(Mul(OneMinus(above), OneMinus(below)), b.weight))
	}
	if c.Alpha > 0 {
		x := Add(mean, Mul(Exp(logScale), b.noise))
		next := c.embedNext(sc, b.spec, b.next)
		predicted := c.decode(sc, x)
		square := nn.Average(ReduceMean(Square(Sub(next, predicted)), -1), b.weight)
		c.followError(sc, square)
		logSpread := c.logSpread(sc, x)
		explore := nn.Average(logLikelihood(next, predicted, logSpread), b.weight)
		report("explore", explore)
		report("decoder_rmse", Sqrt(square))
		report("decoder_std", Exp(logSpread))
		if c.Contrast > 0 {
			contrast := nn.Average(c.contrast(sc, predicted, next, b.weight), b.weight)
			report("explore_nce", contrast)
			explore = Add(explore, nn.Times(contrast, "cermic/explore_nce", c.Contrast))
		}
		total = Sub(total, nn.Times(explore, "cermic/alpha", c.Alpha))
	}
	report("loss", total)
	return total, terms
}

// active is 1 where x > 0, else 0.
func active(x *Node) *Node { return ConvertDType(GreaterThan(x, ZerosLike(x)), x.DType()) }

// spread is the standard deviation of s [B,S] over the agent steps that count, averaged over components. It is about 1
// for normalised features and 0 for collapsed ones.
func spread(s, weight *Node) *Node { return ReduceAllMean(Sqrt(componentVariance(s, weight))) }

// componentVariance is the variance of each component of s [B,S] over the agent steps that count, [1,S].
func componentVariance(s, weight *Node) *Node {
	count := MaxScalar(ReduceAllSum(weight), 1.0)
	w := InsertAxes(weight, -1)
	mean := Div(ReduceAndKeep(Mul(s, w), ReduceSum, 0), count)
	return Div(ReduceAndKeep(Mul(Square(Sub(s, mean)), w), ReduceSum, 0), count)
}
