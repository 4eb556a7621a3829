// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"
	"math"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// Form is a formula of r^i with its settings (int_form). Every form is a function of one agent's observations and
// actions, needs no gradient and uses Θ from the time of the rollout.
//
// paper:eq:int_r  r^i = E_Θ[ KL( p(Θ|τ,s,a,s') ‖ p(Θ|τ) ) ]^½ ≈ KL( p_φ(x|s_t,a_t) ‖ q(x) )^½
//
// The left side is an information gain, which fades where an agent has been. The paper's surrogate on the right does
// not fade, since the exploitation losses hold its KL in one band everywhere. Elliptical stays closer to the left side
// (D31).
type Form interface {
	conf.Kinder
	build(c Config, b *nn.Build) (form, error)
}

// form is a Form in a running experiment. Save returns the state outside the variable store that the next rollout
// needs, or nil.
type form interface {
	rl.Saver
	// reward writes r^i of x into dst [T,E,N] and updates the form's state with x.
	reward(ctx context.Context, dst []float32, x *rl.Rollout) error
	// look is reward without the update.
	look(ctx context.Context, dst []float32, x *rl.Rollout) error
}

// steps are agent steps as a form reads them: row counts from 0 among the requested steps.
type steps struct {
	obs func(to []float32, row int) // [I]
	act func(to []float32, row int) // [A]
}

// stepsOf are all agent steps of x.
func stepsOf(x *rl.Rollout) steps { return steps{obs: x.Gather, act: x.ActionVector} }

// only are the agent steps at these rows.
func (f steps) only(rows []int) steps {
	return steps{
		obs: func(to []float32, k int) { f.obs(to, rows[k]) },
		act: func(to []float32, k int) { f.act(to, rows[k]) },
	}
}

func init() {
	for _, f := range []Form{KL{}, DefaultElliptical()} {
		conf.Register(f)
	}
}

// KL is the paper's form: the square root of the code's information content.
//
// paper:eq:int_r  r^i = KL( p_φ(x|s_t,a_t) ‖ N(0,I) )^½
//
// Reading: the expectation over Θ is that of one network. s_{t+1} does not enter, although the definition conditions on
// it (D21). Memory, γ and ψ play no part in it. It does not measure novelty: on a stream of rooms, all rooms get the
// same bonus.
type KL struct{}

// Kind is "kl".
func (KL) Kind() string { return "kl" }

// IsZero is true, since this form is older than int_form: JSON omits it.
func (KL) IsZero() bool { return true }

func (KL) build(c Config, b *nn.Build) (form, error) {
	s, err := newScorer(b, "cermic.reward", func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		mu, _ := psiMoments(c.latent(sc, c.embed(sc, b.Spec, in[0]), in[1]))
		return []*graph.Node{mu}
	})
	return &kl{s}, err
}

type kl struct{ *scorer }

func (f *kl) reward(ctx context.Context, dst []float32, x *rl.Rollout) error {
	return f.each(ctx, len(dst), stepsOf(x), func(_, row int, kl []float32) {
		dst[row] = float32(math.Sqrt(max(float64(kl[0]), 0))) // rounding may leave a KL of zero slightly negative
	})
}

func (f *kl) look(ctx context.Context, dst []float32, x *rl.Rollout) error {
	return f.reward(ctx, dst, x)
}

func (*kl) Save() []byte { return nil }

func (*kl) Load([]byte) error { return nil }

// scoreBatch is the number of agent steps per call of the scoring graph. Larger batches are not faster. θ and φ take
// 0.34 million multiply-adds per agent step, and XLA runs them at 80 % of the speed of a plain matrix product.
const scoreBatch = 512

// scorer is a compiled graph that maps agent steps, o_t [scoreBatch,I] and actions [scoreBatch,A], to the outputs of a
// form.
type scorer struct{ prog *nn.Program }

// newScorer compiles fn, whose inputs are the module's scope, o_t and the actions.
func newScorer(b *nn.Build, name string, fn func(*model.Scope, []*graph.Node) []*graph.Node) (*scorer, error) {
	inputs := []nn.Input{nn.F32("obs", scoreBatch, b.Spec.InLen()), nn.F32("act", scoreBatch, b.Spec.Act.Len())}
	prog, err := nn.NewProgram(b, name, inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return fn(sc.At(scope), in)
	})
	return &scorer{prog}, err
}

// each runs the graph on rows agent steps. read gets each step's row of each output, valid during the call.
func (s *scorer) each(ctx context.Context, rows int, from steps, read func(output, row int, values []float32)) error {
	return s.prog.EachRow(ctx, rows, []func([]float32, int){from.obs, from.act}, read)
}
