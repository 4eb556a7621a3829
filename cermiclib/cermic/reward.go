// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"
	"math"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// scoreBatch is the number of agent steps that one call of the scoring graph takes. More at once is not quicker: θ and φ are 0.34
// million products and sums for each agent step, and XLA does them at four fifths of the speed of a plain matrix product.
const scoreBatch = 512

// scorer compiles the graph from o_t [scoreBatch,I] and actions [scoreBatch,A] to KL(p‖q) [scoreBatch].
func (c Config) scorer(b *nn.Build) (*nn.Program, error) {
	inputs := []nn.Input{nn.F32("obs", scoreBatch, b.Spec.InLen()), nn.F32("act", scoreBatch, c.actLen(b.Spec))}
	return nn.NewProgram(b, "cermic.reward", inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{c.divergence(sc.At(scope), b.Spec, in[0], in[1])}
	})
}

// divergence is KL(p_φ(x|s_t,a_t) ‖ q(x)) [B] of observations [B,I] and actions [B,A].
func (c Config) divergence(sc *model.Scope, spec *envs.Spec, obs, act *graph.Node) *graph.Node {
	mu, _ := psiMoments(c.latent(sc, c.embed(sc, spec, obs), act))
	return mu
}

// Reward adds r^i to x.Intrinsic, normalised and weighted as the Bonus of the settings says, for every agent that is alive.
//
// paper:eq:int_r  r^i = KL( p_φ(x|s_t,a_t) ‖ N(0,I) )^½, the computable surrogate of the paper's Bayesian surprise
//
// Reading: the expectation over Θ is that of one network. s_{t+1} does not enter, although the definition conditions on it
// (D21). Neither memory, γ nor ψ has a part in it.
func (m *module) Reward(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	if err := m.scoreAll(ctx, x); err != nil {
		return nil, err
	}
	paid := m.bonus.Pay(x, m.raw, "cermic")
	judgeBonus(paid, x, m.raw)
	m.health.check(paid)
	return paid, nil
}

// Score writes the bonus of old agent steps, as rl.Scorer says.
//
// Reading: Algorithm 1 covers learners that use a collection once. One with a replay may ask here for the bonus that a step has
// now; its setting int_at selects (D17).
func (m *module) Score(ctx context.Context, dst, obs, act []float32) error {
	o, a := len(obs)/len(dst), len(act)/len(dst)
	err := m.scoreRows(ctx, dst, func(to []float32, row int) { copy(to, obs[row*o:(row+1)*o]) },
		func(to []float32, row int) {
			copy(to, act[row*a:(row+1)*a])
			oneHot(to[a:], row%m.agents)
		})
	for i, r := range dst {
		dst[i] = m.bonus.Price(r)
	}
	return err
}

// scoreAll fills m.raw [T,E,N] with r^i.
func (m *module) scoreAll(ctx context.Context, x *rl.Rollout) error {
	if len(m.raw) != x.Rows() {
		m.raw = make([]float32, x.Rows())
	}
	return m.scoreRows(ctx, m.raw, x.Look,
		func(to []float32, row int) { m.action(x, to, row) })
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
