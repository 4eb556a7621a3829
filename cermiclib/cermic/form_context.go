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

// Context is the information content of a code beside what the context of the peers foretells:
//
//	r^i = KL( p_φ(x|s_t,a_t) ‖ q_ω(x|f_n) )^½   q_ω = N(μ_ω, diag σ_ω²), learned by maximum likelihood on codes
//
// Relation to eq:int_r: N(0, I) there stands for the marginal of x; here the marginal is conditioned on f_n, so that what the inferred
// intentions of others explain has no reward. It is a calibration that needs no h, and novel is what this context has not come with
// before, for as long as q_ω has not learned it. A prior that is learned from what is usual: Goyal et al. 2019. It has no counterpart in
// Theorem 1. The gradient of q_ω's loss stops at φ and at the memory. It needs a pass of the memory for each agent step of the rollout.
type Context struct {
	Hidden int `json:"hidden" range:"1..8192" help:"width of the hidden layer of the context-conditioned prior q_ω"`
}

// DefaultContext returns a hidden layer as wide as that of h.
func DefaultContext() Context { return Context{Hidden: 128} }

// Kind is "context".
func (Context) Kind() string { return "context" }

// Validate returns one sentence about the first impossible setting.
func (p Context) Validate() error {
	if p.Hidden < 1 {
		return fmt.Errorf("hidden is %d, want 1 or more", p.Hidden)
	}
	return nil
}

// divergence is KL(p‖q_ω(x|f)) [B] of codes [B,X] and features f [B,F].
func (p Context) divergence(c Config, sc *model.Scope, mean, logScale, f *Node) *Node {
	out := Split(nn.MLP(sc.At("prior"), f, []int{p.Hidden}, nn.LeakyReLU, 2*c.Latent), -1, 2)
	qMean, qLogScale := out[0], ClipScalar(out[1], c.LogScaleMin, c.LogScaleMax)
	gap := Mul(Add(Exp(MulScalar(logScale, 2)), Square(Sub(mean, qMean))), Exp(MulScalar(qLogScale, -2)))
	return MulScalar(ReduceSum(Add(MinusOne(gap), MulScalar(Sub(qLogScale, logScale), 2)), -1), 0.5)
}

// fit is q_ω's loss [B] in nats a component: the negative mean log-likelihood of codes, up to their entropy.
func (p Context) fit(c Config, sc *model.Scope, mean, logScale, f *Node) *Node {
	return DivScalar(p.divergence(c, sc, StopGradient(mean), StopGradient(logScale), StopGradient(f)), float64(c.Latent))
}

func (p Context) build(c Config, b *nn.Build) (form, error) {
	return &contextual{Context: p, cfg: c, build: b}, nil
}

// contextual is a Context in a running experiment.
type contextual struct {
	Context
	cfg     Config
	build   *nn.Build
	m       *module
	prog    *nn.Program
	sampler sampler
	block   []float32 // [B]
}

// use makes the graph from o_t, actions and what the memory gathers to KL.
func (f *contextual) use(m *module) (err error) {
	f.m = m
	f.sampler.chunk = f.m.mem.Shape().Chunk
	rows, spec := max(1, scoreBatch/f.sampler.chunk)*f.sampler.chunk, f.build.Spec
	inputs := []nn.Input{nn.F32("obs", rows, spec.InLen()), nn.F32("act", rows, f.cfg.actLen(spec))}
	f.block = make([]float32, rows)
	f.prog, err = nn.NewProgram(f.build, "cermic.context", append(inputs, f.m.mem.Inputs(rows)...), func(sc *model.Scope, in []*Node) []*Node {
		sc = sc.At(scope)
		mean, logScale := f.cfg.latent(sc, f.cfg.embed(sc, spec, in[0]), in[1])
		return []*Node{f.divergence(f.cfg, sc, mean, logScale, f.m.mem.Context(sc.At("memory"), in[2:]).Now)}
	})
	return err
}

func (f *contextual) reward(ctx context.Context, dst []float32, x *rl.Rollout) error {
	if err := f.m.watch(x); err != nil {
		return err
	}
	return f.rate(ctx, dst, x)
}

func (f *contextual) look(ctx context.Context, dst []float32, x *rl.Rollout) error {
	saver, saves := f.m.mem.(rl.Saver)
	var state []byte
	if saves {
		state = saver.Save()
	}
	watched := f.m.watched
	f.m.watched = false
	if err := f.reward(ctx, dst, x); err != nil {
		return err
	}
	f.m.watched = watched
	if saves {
		return saver.Load(state)
	}
	return nil
}

// rate writes r^i of the agent steps of x, which the memory has watched; 0 for the dead.
func (f *contextual) rate(ctx context.Context, dst []float32, x *rl.Rollout) error {
	o, a, b := x.Spec.InLen(), f.cfg.actLen(x.Spec), len(f.block)
	rows, weight := f.sampler.draw(x, 1, b, f.m.stream("cermic context", x.Iteration, 0))
	clear(dst)
	for at := 0; at < len(rows); at += b {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.prog.Feed(0, func(flat []float32) {
			for k, row := range rows[at : at+b] {
				x.Gather(flat[k*o:(k+1)*o], int(row))
			}
		})
		f.prog.Feed(1, func(flat []float32) {
			for k, row := range rows[at : at+b] {
				f.cfg.action(x, flat[k*a:(k+1)*a], int(row))
			}
		})
		f.m.mem.Gather(f.prog, 2, x, rows[at:at+b])
		if err := f.prog.Run(); err != nil {
			return err
		}
		f.prog.Read(0, f.block)
		for k, kl := range f.block {
			if weight[at+k] != 0 {
				dst[rows[at+k]] = float32(math.Sqrt(max(float64(kl), 0)))
			}
		}
	}
	return nil
}

func (f *contextual) canScore() error { return errNeedsRollout("int_form=context") }

func (f *contextual) score(context.Context, []float32, steps) error { return f.canScore() }

// Save has nothing to say: q_ω is in the variable store, and the past in the memory.
func (*contextual) Save() []byte { return nil }

// Load has nothing to read.
func (*contextual) Load([]byte) error { return nil }
