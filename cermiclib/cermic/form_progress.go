// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// Progress is how much better the module's last update has made it predict this step:
//
//	r^i = log p_ψ(s_{t+1}|x_t) after the update before this rollout, minus the same before that update; x_t the code's mean, σ_ψ = 1
//
// Relation to eq:int_r: the information gain on the left side is the mean of log p(s'|Θ') − log p(s'|Θ), Θ' the posterior that has
// seen s'; here Θ' has seen the rollouts so far, and the step is one that it has not learned from. What cannot be learned cancels, as
// it is no better foretold after than before. It has no square root and may be negative. Theorem 1 is about the left side.
//
// Reading: with σ_ψ the difference would only be divided by σ_ψ², which int_norm takes out again. Both predictions are compared with
// today's θᵐ(o_{t+1}), so that a target which moves is no progress.
type Progress struct{}

// Kind is "progress".
func (Progress) Kind() string { return "progress" }

// Validate has nothing to refuse.
func (Progress) Validate() error { return nil }

// beforeScope holds θ, φ and ψ as they were before the last update.
const beforeScope = "before"

func (Progress) build(c Config, b *nn.Build) (form, error) {
	f := &progress{}
	var err error
	f.scorer, err = c.newScorer(b, "cermic.progress", func(sc *model.Scope, in []*Node) []*Node {
		predict := func(sc *model.Scope) *Node {
			mean, _ := c.latent(sc, c.embed(sc, b.Spec, in[0]), in[1])
			return c.decode(sc, mean)
		}
		after, before := predict(sc), predict(sc.At(beforeScope))
		followed(sc, nn.TargetCopy)
		next := c.embedNext(sc, b.Spec, in[2])
		off := func(predicted *Node) *Node { return ReduceMean(Square(Sub(next, predicted)), -1) }
		return []*Node{MulScalar(Sub(off(before), off(after)), 0.5)}
	}, nn.F32("next", scoreBatch, b.Spec.InLen()))
	if err != nil {
		return nil, err
	}
	f.keep, err = nn.NewProgram(b, "cermic.before", []nn.Input{nn.F32("unused", 1)}, func(sc *model.Scope, in []*Node) []*Node {
		followed(sc.At(scope), func(original, twin *model.Scope) { nn.Follow(in[0].Graph(), original, twin, 1) })
		return in
	})
	f.block = make([]float32, scoreBatch)
	return f, err
}

// followed calls f for each part of the module that has a copy in beforeScope.
func followed(sc *model.Scope, f func(original, twin *model.Scope)) {
	for _, part := range []string{encoderScope, "transition", "decoder"} {
		f(sc.At("%s", part), sc.At(beforeScope).At("%s", part))
	}
}

// progress is a Progress in a running experiment. The weights before the last update are variables of the store.
type progress struct {
	*scorer
	keep  *nn.Program
	block []float32 // [scoreBatch]
}

func (f *progress) beforeUpdate() error { return f.keep.Run() }

func (f *progress) reward(ctx context.Context, dst []float32, x *rl.Rollout) error {
	from := f.of(x)
	from.next = x.GatherNext
	return f.each(ctx, len(dst), from, func(first, last int) error {
		f.prog.Read(0, f.block)
		copy(dst[first:last], f.block)
		return nil
	})
}

func (f *progress) look(ctx context.Context, dst []float32, x *rl.Rollout) error {
	return f.reward(ctx, dst, x)
}

func (*progress) canScore() error { return errNeedsRollout("int_form=progress") }

func (f *progress) score(context.Context, []float32, steps) error { return f.canScore() }

// Save has nothing to say: it is all in the variable store.
func (*progress) Save() []byte { return nil }

// Load has nothing to read.
func (*progress) Load([]byte) error { return nil }
