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

// scoreBatch is the number of agent steps that one call of the scoring graph takes.
const scoreBatch = 512

// scorer compiles the graph from o_t [scoreBatch,O] and actions [scoreBatch,A] to KL(p‖q) [scoreBatch].
func (c Config) scorer(b *nn.Build) (*nn.Program, error) {
	inputs := []nn.Input{nn.F32("obs", scoreBatch, b.Spec.ObsLen()), nn.F32("act", scoreBatch, b.Spec.Act.Len())}
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
	raw, normed := rl.Running{}, rl.Running{}
	for row, r := range m.raw {
		if x.Alive[row] != 0 {
			raw.Add(float64(r))
		}
	}
	m.bonus.update(m.cfg.IntNorm, m.raw, x)
	m.bonus.Coef = m.cfg.IntCoef * m.cfg.anneal(x.Frames)
	for row, r := range m.raw {
		if x.Alive[row] != 0 {
			value := m.normalised(r)
			normed.Add(value)
			x.Intrinsic[row] += float32(m.bonus.Coef * value)
		}
	}
	return rl.Scalars{
		"cermic/int_mean":      raw.Mean,
		"cermic/int_std":       raw.Std(),
		"cermic/int_norm_mean": normed.Mean,
		"cermic/int_norm_std":  normed.Std(),
		"cermic/int_coef":      m.bonus.Coef,
	}, nil
}

// Score writes the bonus of old agent steps, as rl.Scorer says.
func (m *module) Score(ctx context.Context, dst, obs, act []float32) error {
	o, a := len(obs)/len(dst), len(act)/len(dst)
	err := m.scoreRows(ctx, dst, func(to []float32, row int) { copy(to, obs[row*o:(row+1)*o]) },
		func(to []float32, row int) { copy(to, act[row*a:(row+1)*a]) })
	for i, r := range dst {
		dst[i] = float32(m.bonus.Coef * m.normalised(r))
	}
	return err
}

// normalised is r^i as int_norm wants it.
func (m *module) normalised(r float32) float64 {
	value := (float64(r) - m.bonus.Shift) / m.bonus.Scale
	if m.cfg.IntNorm == NormNone {
		return value
	}
	return min(max(value, -m.cfg.IntClip), m.cfg.IntClip)
}

// scoreAll fills m.raw [T,E,N] with r^i.
func (m *module) scoreAll(ctx context.Context, x *rl.Rollout) error {
	if len(m.raw) != x.Rows() {
		m.raw = make([]float32, x.Rows())
	}
	return m.scoreRows(ctx, m.raw, func(to []float32, row int) { copy(to, x.ObsRow(row)) }, x.ActionVector)
}

// scoreRows fills dst [B] with r^i of the agent steps whose observations and actions obs and act copy.
func (m *module) scoreRows(ctx context.Context, dst []float32, obs, act func(to []float32, row int)) error {
	fill := func(input, from, to int, write func(to []float32, row int)) {
		m.score.Feed(input, func(flat []float32) {
			width := len(flat) / scoreBatch
			for row := from; row < to; row++ {
				write(flat[(row-from)*width:(row-from+1)*width], row)
			}
		})
	}
	for from := 0; from < len(dst); from += scoreBatch {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+scoreBatch, len(dst))
		fill(0, from, to, obs)
		fill(1, from, to, act)
		if err := m.score.Run(); err != nil {
			return err
		}
		m.score.Read(0, m.kl)
		for k, kl := range m.kl[:to-from] {
			dst[from+k] = float32(math.Sqrt(max(float64(kl), 0))) // rounding may leave a KL of zero slightly negative
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

// bonusStats are the statistics that r^i is normalised by, over all agents and all of training, and what the last collection
// made of them: the bonus is Coef·(r^i - Shift)/Scale.
type bonusStats struct {
	Raw                rl.Running // of r^i
	Sum                rl.Running // of its discounted sum
	Returns            []float64  // [E,N] that sum, up to now
	Shift, Scale, Coef float64
}

// statTiny keeps a spread that is still zero from dividing by zero.
const statTiny = 1e-8

// update takes in the r^i of a rollout, then sets Shift and Scale.
func (s *bonusStats) update(norm string, raw []float32, x *rl.Rollout) {
	if len(s.Returns) != x.E*x.N {
		s.Returns = make([]float64, x.E*x.N)
	}
	for row, r := range raw {
		if x.Alive[row] == 0 {
			continue
		}
		s.Raw.Add(float64(r))
		if norm == NormReturnStd {
			sum := &s.Returns[row%len(s.Returns)]
			*sum = returnDiscount**sum + float64(r)
			s.Sum.Add(*sum)
		}
	}
	s.Shift, s.Scale = 0, 1
	switch norm {
	case NormStd:
		s.Scale = s.Raw.Std() + statTiny
	case NormReturnStd:
		s.Scale = s.Sum.Std() + statTiny
	case NormCenterStd:
		s.Shift, s.Scale = s.Raw.Mean, s.Raw.Std()+statTiny
	}
}
