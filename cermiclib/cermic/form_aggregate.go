// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// Aggregate is the information content of a code beside those of recent steps, in place of N(0, I):
//
//	r^i = KL( p_φ(x|s_t,a_t) ‖ q_D(x) )^½   q_D = mean of M codes p_j of recent agent steps, those of the same episode left out
//	KL ≈ −log mean_j exp( −KL(p‖p_j) )
//
// Relation to eq:int_r: it undoes only the last step of the paper's derivation, which puts N(0, I) for the marginal of x. That
// step is what takes novelty out: with the marginal of what has been seen, a code far from all others tells much. A mixture of codes as a
// prior: Tomczak and Welling 2017; the estimate of its KL: Hershey and Olsen 2007. It has no counterpart in Theorem 1.
type Aggregate struct {
	Codes int     `json:"codes" range:"2..8192" help:"M, number of earlier codes in the mixture prior q(x)"`
	Keep  float64 `json:"keep" range:"0..1" help:"weight, of earlier agent steps after each rollout batch; 1: no decay"`
}

// DefaultAggregate returns 256 codes, half of them of the last rollout.
func DefaultAggregate() Aggregate { return Aggregate{Codes: 256, Keep: 0.5} }

// Kind is "aggregate".
func (Aggregate) Kind() string { return "aggregate" }

// Validate returns one sentence about the first impossible setting.
func (a Aggregate) Validate() error {
	if a.Codes < 2 {
		return fmt.Errorf("codes is %d, want 2 or more", a.Codes)
	}
	if !(a.Keep >= 0 && a.Keep <= 1) {
		return fmt.Errorf("keep is %g, want a number from 0 to 1", a.Keep)
	}
	return nil
}

func (a Aggregate) build(c Config, b *nn.Build) (form, error) {
	past, err := newReservoir(a.Codes, c.actLen(b.Spec), b)
	if err != nil {
		return nil, err
	}
	f := &aggregate{Aggregate: a, past: past, width: c.Latent, block: make([]float32, scoreBatch*a.Codes)}
	f.codes, err = c.newScorer(b, "cermic.codes", func(sc *model.Scope, in []*Node) []*Node {
		mean, logScale := c.latent(sc, c.embed(sc, b.Spec, in[0]), in[1])
		return []*Node{Concatenate([]*Node{mean, logScale}, -1)}
	})
	if err != nil {
		return nil, err
	}
	f.scorer, err = c.newScorer(b, "cermic.aggregate", func(sc *model.Scope, in []*Node) []*Node {
		mean, logScale := c.latent(sc, c.embed(sc, b.Spec, in[0]), in[1])
		codes := Split(in[2], -1, 2)
		return []*Node{divergences(mean, logScale, codes[0], codes[1])}
	}, nn.F32("codes", a.Codes, 2*c.Latent))
	return f, err
}

// divergences are KL(p_b‖q_j) [B,M] of Gaussians p of mean and log σ [B,X] and q [M,X], as two matrix products.
//
//	½ Σ_d [ (v_p + μ_p²)/v_q − 2·μ_p·μ_q/v_q + μ_q²/v_q + log v_q − log v_p − 1 ]
func divergences(mean, logScale, qMean, qLogScale *Node) *Node {
	precision := Exp(MulScalar(qLogScale, -2))
	p := Concatenate([]*Node{Add(Exp(MulScalar(logScale, 2)), Square(mean)), MulScalar(mean, -2)}, -1)
	q := Concatenate([]*Node{precision, Mul(qMean, precision)}, -1)
	cross := Dot(p, Transpose(q, 0, 1)).Product() // [B,M]
	ofQ := ReduceSum(Add(Mul(Square(qMean), precision), MulScalar(qLogScale, 2)), -1)
	ofP := ReduceSum(AddScalar(MulScalar(logScale, 2), 1), -1)
	return MulScalar(Sub(Add(cross, InsertAxes(ofQ, 0)), InsertAxes(ofP, -1)), 0.5)
}

// aggregate is an Aggregate in a running experiment.
type aggregate struct {
	Aggregate
	*scorer
	codes *scorer
	past  *reservoir
	width int       // X
	block []float32 // [scoreBatch,M]
}

func (f *aggregate) reward(ctx context.Context, dst []float32, x *rl.Rollout) error {
	names := f.past.episodes(x)
	f.past.fade(f.Keep)
	f.past.take(x, f.of(x))
	return f.rate(ctx, dst, f.of(x), func(row int) uint64 { return names[row/x.N] })
}

// notAnEpisode is the name of no episode.
const notAnEpisode = math.MaxUint64

func (f *aggregate) look(ctx context.Context, dst []float32, x *rl.Rollout) error {
	return f.score(ctx, dst, f.of(x))
}

func (*aggregate) canScore() error { return nil }

func (f *aggregate) score(ctx context.Context, dst []float32, from steps) error {
	return f.rate(ctx, dst, from, func(int) uint64 { return notAnEpisode })
}

// rate writes r^i of agent steps beside the codes that are kept, without those of the episode that a step is in.
func (f *aggregate) rate(ctx context.Context, dst []float32, from steps, episode func(row int) uint64) error {
	flat := make([]float32, scoreBatch*2*f.width)
	err := f.codes.each(ctx, f.past.rows(), f.past.steps(nil), func(first, last int) error {
		f.codes.prog.Read(0, flat)
		f.prog.Feed(2, func(codes []float32) { copy(codes[first*2*f.width:], flat[:(last-first)*2*f.width]) })
		return nil
	})
	if err != nil {
		return err
	}
	return f.each(ctx, len(dst), from, func(first, last int) error {
		f.prog.Read(0, f.block)
		for row := first; row < last; row++ {
			dst[row] = float32(math.Sqrt(f.mixture(f.block[(row-first)*f.Codes:][:f.past.rows()], episode(row))))
		}
		return nil
	})
}

// mixture is −log mean exp(−KL) over the codes of other episodes, 0 where there are none.
func (f *aggregate) mixture(kl []float32, episode uint64) float64 {
	least, count := math.Inf(1), 0.0
	for j, v := range kl {
		if f.past.Episode[j] != episode {
			least, count = min(least, float64(v)), count+1
		}
	}
	if count == 0 {
		return 0
	}
	sum := 0.0
	for j, v := range kl {
		if f.past.Episode[j] != episode {
			sum += math.Exp(least - float64(v))
		}
	}
	return max(least-math.Log(sum/count), 0) // rounding may leave a KL of zero slightly negative
}

// Save returns the reservoir.
func (f *aggregate) Save() []byte { return encodeForm(f.past, nil) }

// Load continues from what Save returned.
func (f *aggregate) Load(state []byte) error { return decodeForm(state, f.past, nil) }
