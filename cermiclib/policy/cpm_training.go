// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs/rng"
)

// foresight trains a CPM's predictor.
type foresight struct {
	*cpm
	seed   uint64
	step   *nn.Loop
	frames []int32 // [T·E] permutation of the frames
	names  []string
}

// Trainer compiles the predictor's gradient step; path leads to the acting network.
func (p *cpm) Trainer(b *nn.Build, path ...string) (Training, error) {
	s := p.spec
	f := &foresight{cpm: p, seed: b.Seed, names: []string{"cpm/loss", "cpm/grad_norm"}}
	inputs := []nn.Input{
		nn.F32("obs", p.Minibatch, s.Agents, s.InLen()), nn.F32("hidden", p.Minibatch, s.Agents, p.HiddenLen()),
		nn.F32("weight", p.Minibatch, s.Agents), nn.F32("tau", 1),
	}
	if s.Act.Choices > 0 {
		inputs = append(inputs, nn.F32("mask", p.Minibatch, s.Agents, s.Act.Choices))
		f.names = append(f.names, "cpm/cross_entropy", "cpm/marginal_entropy")
	}
	var err error
	f.step, err = nn.NewLoop(b, "cpm.update", inputs, func(sc *model.Scope, in []*Node) []*Node {
		acting := sc
		for _, name := range path {
			acting = acting.At("%s", name)
		}
		return []*Node{f.descend(sc.At(predictorScope), acting, nn.Named(inputs, in))}
	})
	return f.train, err
}

// descend takes one gradient step, lets the copy to act on follow by the share tau, and reports the names' values.
func (f *foresight) descend(sc, acting *model.Scope, in map[string]*Node) *Node {
	y, _ := f.Net(acting, in["obs"], in["hidden"], f.vector)
	last, _ := f.split(in["hidden"])
	trained, following := sc.At(trainedScope), sc.At(followerScope)
	raw := f.predict(trained, f.seen(acting, in["obs"]), last)
	nn.TargetCopy(trained, following)
	report := f.improve(trained, y, raw, in)
	nn.FollowBy(trained, following, in["tau"])
	return report
}

// improve takes one gradient step on the decoder's outputs raw [B,N,J,P], given what the acting network returns, y
// [B,N,P].
func (f *foresight) improve(sc *model.Scope, y, raw *Node, in map[string]*Node) *Node {
	alive := InsertAxes(in["weight"], -1)
	counts := Mul(alive, f.ofPeers(alive)) // [B,N,J]: both observer and peer
	mean := func(v *Node) *Node { return Div(ReduceAllSum(Mul(v, counts)), MaxScalar(ReduceAllSum(counts), 1)) }
	if f.spec.Act.Choices == 0 {
		loss := mean(f.divergence(f.asPairs(f.vectorOf(y)), raw))
		return Stack([]*Node{loss, f.adam().Minimize(sc, loss)}, 0)
	}
	truth := f.truth(StopGradient(y), in["mask"])
	cross := mean(Neg(ReduceSum(Mul(f.asPairs(truth), LogSoftmax(raw, -1)), -1)))
	loss := Sub(cross, mean(f.ofPeers(InsertAxes(entropy(truth), -1)))) // KL(π_j ‖ p̂_j)
	return Stack([]*Node{loss, f.adam().Minimize(sc, loss), cross, f.marginalEntropy(truth, alive)}, 0)
}

// truth is what the peers would do now [B,N,K], given their outputs and what they may do.
func (f *foresight) truth(y, mask *Node) *Node {
	allowed := nn.Allowed(y, mask)
	if f.Label == ArgmaxLabel {
		return OneHot(ArgMax(allowed, -1), f.vector, y.DType())
	}
	return Softmax(allowed, -1)
}

// asPairs gives each agent its peers' rows of x [B,N,W]: [B,N,J,W].
func (p *cpm) asPairs(x *Node) *Node {
	d := x.Shape().Dimensions
	return Reshape(p.ofPeers(x), d[0], d[1], p.peers(), d[2])
}

// entropy of distributions x [...,K].
func entropy(x *Node) *Node {
	return Neg(ReduceSum(Mul(x, Log(MaxScalar(x, 1e-12))), -1))
}

// marginalEntropy is what is not known of an agent's choice if all that is known is how often it takes which, on
// average over agents. A predictor whose cross-entropy is not below it has learned nothing from observations.
func (f *foresight) marginalEntropy(truth, alive *Node) *Node {
	often := Div(ReduceSum(Mul(truth, alive), 0), MaxScalar(ReduceSum(alive, 0), 1)) // [N,K]
	return ReduceAllMean(entropy(often))
}

// divergence is KL(N(μ,σ) ‖ N(μ̂,σ̂)) [B,N,J], summed over components, of true vectors and a decoder's outputs:
//
//	log σ̂ − log σ + (σ² + (μ−μ̂)²) / 2σ̂² − ½
func (f *foresight) divergence(truth, raw *Node) *Node {
	half := Split(truth, -1, 2)
	mean, logScale := f.gaussian(raw)
	spread := Add(Exp(MulScalar(half[1], 2)), Square(Sub(half[0], mean)))
	each := Add(Sub(logScale, half[1]), MulScalar(Mul(spread, Exp(MulScalar(logScale, -2))), 0.5))
	return ReduceSum(AddScalar(each, -0.5), -1)
}

// share is τ, how far the copy to act on follows after a rollout batch of so many frames.
func (c CPM) share(frames int) float64 {
	if c.Lag == 0 {
		return 1
	}
	return -math.Expm1(-float64(frames) / float64(c.Lag))
}

// train takes cpm_pred_epochs passes over the rollout batch. The copy to act on follows once, in the last step.
func (f *foresight) train(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	if len(f.frames) != x.T*x.E {
		f.frames = make([]int32, x.T*x.E)
	}
	out, _, err := f.step.Means(ctx, f.names, func(yield func(error) bool) {
		for epoch := range f.Epochs {
			rng.New(f.seed, "cpm frames", uint64(x.Iteration), uint64(epoch)).Perm(f.frames)
			for at := 0; at < len(f.frames); at += f.Minibatch {
				f.feed(x, f.frames[at:min(at+f.Minibatch, len(f.frames))])
				last := epoch == f.Epochs-1 && at+f.Minibatch >= len(f.frames)
				f.step.Feed(f.step.Input("tau"), func(dst []float32) {
					if dst[0] = 0; last {
						dst[0] = float32(f.share(len(f.frames)))
					}
				})
				if !yield(nil) {
					return
				}
			}
		}
	})
	return out, err
}

// feed writes frames; rows beyond them are padding of weight 0.
func (f *foresight) feed(x *rl.Rollout, frames []int32) {
	rows := func(input string, write func(dst []float32, frame int)) {
		nn.FeedRows(f.step.Program, f.step.Input(input), frames, write)
	}
	rows("obs", func(dst []float32, frame int) { x.GatherFrom(dst, frame*x.N) })
	rows("hidden", func(dst []float32, frame int) { copy(dst, x.Hidden[frame*len(dst):]) })
	f.step.Feed(f.step.Input("weight"), func(dst []float32) { x.GatherAlive(dst, frames) })
	if f.spec.Act.Choices > 0 {
		rows("mask", x.GatherMask)
	}
}
