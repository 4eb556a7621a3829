// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"
	"math"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// How r^i is normalised before it is added to r^e (int_norm).
//
// Reading: the exploitation losses hold KL inside a narrow band, so that r^i is nearly the same number everywhere. Added as
// it is, it is a bonus for staying alive; centred, what is left is its variation (D14).
const (
	NormNone      = "none"       // r^i, neither scaled nor clipped: the paper's letter
	NormStd       = "std"        // r^i / running standard deviation of r^i
	NormReturnStd = "return_std" // r^i / running standard deviation of its discounted sum, as in RND and Dynamic Bottleneck
	NormCenterStd = "center_std" // (r^i - running mean) / running standard deviation
)

// How int_coef changes over training (int_anneal).
const (
	AnnealNone   = "none"
	AnnealLinear = "linear_to_zero" // reaches 0 after int_anneal_frames
)

// returnDiscount is the discount of the sum that return_std normalises by; the paper's discount factor.
const returnDiscount = 0.99

// scoreRows is the number of agent steps that one call of the scoring graph takes.
const scoreRows = 512

// scorer compiles the graph from o_t [scoreRows,O] and actions [scoreRows,A] to KL(p‖q) [scoreRows].
func (c Config) scorer(b *nn.Build) (*nn.Program, error) {
	inputs := []nn.Input{nn.F32("obs", scoreRows, b.Spec.ObsLen()), nn.F32("act", scoreRows, b.Spec.Act.Len())}
	return nn.NewProgram(b, "cermic.reward", inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{c.divergence(sc.At(scope), in[0], in[1])}
	})
}

// divergence is KL(p_φ(x|s_t,a_t) ‖ q(x)) [B] of observations [B,O] and actions [B,A].
func (c Config) divergence(sc *model.Scope, obs, act *graph.Node) *graph.Node {
	mu, _ := psiMoments(c.latent(sc, c.embed(sc, obs), act))
	return mu
}

// Reward adds int_coef times the normalised r^i to x.Intrinsic, for every agent that is alive.
//
// paper:eq:int_r  r^i = KL( p_φ(x|s_t,a_t) ‖ N(0,I) )^½, the computable surrogate of the paper's Bayesian surprise
//
// Reading: the expectation over Θ is that of one network. s_{t+1} does not enter, although the definition conditions on it
// (D21). Neither memory, γ nor ψ has a part in it.
func (m *module) Reward(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	if err := m.scoreAll(ctx, x); err != nil {
		return nil, err
	}
	raw, normed := running{}, running{}
	for row, r := range m.raw {
		if x.Alive[row] != 0 {
			raw.add(float64(r))
		}
	}
	shift, scale := m.bonus.update(m.cfg.IntNorm, m.raw, x)
	coef := m.cfg.IntCoef * m.cfg.anneal(x.Frames)
	for row, r := range m.raw {
		if x.Alive[row] == 0 {
			continue
		}
		value := (float64(r) - shift) / scale
		if m.cfg.IntNorm != NormNone {
			value = min(max(value, -m.cfg.IntClip), m.cfg.IntClip)
		}
		normed.add(value)
		x.Intrinsic[row] += float32(coef * value)
	}
	return rl.Scalars{
		"cermic/int_mean":      raw.Mean,
		"cermic/int_std":       raw.std(),
		"cermic/int_norm_mean": normed.Mean,
		"cermic/int_norm_std":  normed.std(),
		"cermic/int_coef":      coef,
	}, nil
}

// scoreAll fills m.raw [T,E,N] with r^i.
func (m *module) scoreAll(ctx context.Context, x *rl.Rollout) error {
	rows, o, a := x.Rows(), x.Spec.ObsLen(), x.Spec.Act.Len()
	if len(m.raw) != rows {
		m.raw = make([]float32, rows)
	}
	for from := 0; from < rows; from += scoreRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+scoreRows, rows)
		m.score.Feed(0, func(dst []float32) { copy(dst, x.Obs[from*o:to*o]) })
		m.score.Feed(1, func(dst []float32) {
			for row := from; row < to; row++ {
				x.ActionVector(dst[(row-from)*a:(row-from+1)*a], row)
			}
		})
		if err := m.score.Run(); err != nil {
			return err
		}
		m.score.Read(0, m.kl)
		for k, kl := range m.kl[:to-from] {
			m.raw[from+k] = float32(math.Sqrt(max(float64(kl), 0))) // rounding may leave a KL of zero slightly negative
		}
	}
	return nil
}

// anneal is the factor of int_coef after frames of training.
func (c Config) anneal(frames int) float64 {
	if c.IntAnneal == AnnealNone {
		return 1
	}
	return max(0, 1-float64(frames)/float64(c.IntAnnealFrames))
}

// bonusStats are the statistics that r^i is normalised by, over all agents and all of training.
type bonusStats struct {
	Raw     running   // of r^i
	Sum     running   // of its discounted sum
	Returns []float64 // [E,N] that sum, up to now
}

// statTiny keeps a spread that is still zero from dividing by zero.
const statTiny = 1e-8

// update takes in the r^i of a rollout, then returns what to subtract from r^i and what to divide it by.
func (s *bonusStats) update(norm string, raw []float32, x *rl.Rollout) (shift, scale float64) {
	if len(s.Returns) != x.E*x.N {
		s.Returns = make([]float64, x.E*x.N)
	}
	for row, r := range raw {
		if x.Alive[row] == 0 {
			continue
		}
		s.Raw.add(float64(r))
		if norm == NormReturnStd {
			sum := &s.Returns[row%len(s.Returns)]
			*sum = returnDiscount**sum + float64(r)
			s.Sum.add(*sum)
		}
	}
	switch norm {
	case NormStd:
		return 0, s.Raw.std() + statTiny
	case NormReturnStd:
		return 0, s.Sum.std() + statTiny
	case NormCenterStd:
		return s.Raw.Mean, s.Raw.std() + statTiny
	}
	return 0, 1
}

// running holds mean and spread of a stream of numbers (Welford 1962).
type running struct{ Count, Mean, M2 float64 }

func (s *running) add(x float64) {
	s.Count++
	d := x - s.Mean
	s.Mean += d / s.Count
	s.M2 += d * (x - s.Mean)
}

// std is the standard deviation of the numbers so far, 0 for none.
func (s *running) std() float64 { return math.Sqrt(s.M2 / max(s.Count, 1)) }
