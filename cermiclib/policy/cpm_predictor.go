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

// predictorScope holds the predictor's variables: the trained ones and the copy that agents act on. It lies beside the
// acting network. Below it, the learner's optimiser would train them too.
const (
	predictorScope = "cpm"
	trainedScope   = "online"
	followerScope  = "following"
)

// Bounds of a Gaussian's policy vector: mean and log-scale.
const (
	meanBound                 = 3.0
	logScaleLow, logScaleHigh = -5.0, 1.0
)

// foresee is p̂ [B,N,J·P] of every agent's peers, through which no gradient passes, for obs [B,N,I].
func (p *cpm) foresee(sc *model.Scope, obs, last *Node) *Node {
	d := obs.Shape().Dimensions
	raw := p.predict(sc.Store().Scope("/"+predictorScope).At(followerScope), p.seen(sc, obs), last)
	return Reshape(StopGradient(p.bounded(raw)), d[0], d[1], p.peersLen())
}

// seen is the predictor's input from obs [B,N,I]: [B,N,F]. It reads cells through the observation encoder of the acting
// network, at sc, which it does not train.
func (p *cpm) seen(sc *model.Scope, obs *Node) *Node {
	if p.spec.CellLen() == 0 {
		return obs
	}
	return StopGradient(nn.ReadObs(sc, p.spec, obs))
}

// predict maps obs [B,N,F] and the peers' last vectors [B,N,J·P] to the decoder's outputs [B,N,J,P].
//
//	m, g = linear( ReLU linear ReLU linear(o_i) ),  ξ_j = linear ReLU linear(p_j),  out_j = linear ReLU linear(m + ξ_j⊙g)
func (p *cpm) predict(sc *model.Scope, obs, last *Node) *Node {
	two := func(name string, x *Node, out int) *Node {
		hidden := nn.ReLU(nn.LinearEach(sc.At("%s_in", name), x, p.Hidden))
		return nn.LinearEach(sc.At("%s_out", name), hidden, out)
	}
	seen := nn.ReLU(two("encoder", p.observers(obs), p.Hidden))
	mean := p.toPairs(nn.LinearEach(sc.At("mean"), seen, p.Latent), obs)
	gain := p.toPairs(nn.LinearEach(sc.At("gain"), seen, p.Latent), obs)
	noise := two("noise", p.pairs(last), p.Latent)
	z := Concatenate([]*Node{Add(mean, Mul(noise, gain)), p.pairCodes(obs)}, -1)
	b, n := obs.Shape().Dimensions[0], p.spec.Agents
	return Reshape(two("decoder", z, p.vector), b, n, p.peers(), p.vector)
}

// observers arranges obs [B,N,F] as [1,B·N,F+N]: the agent's one-hot follows its observation.
func (p *cpm) observers(obs *Node) *Node {
	b, n := obs.Shape().Dimensions[0], p.spec.Agents
	who := BroadcastToDims(InsertAxes(DiagonalWithValue(ScalarOne(obs.Graph(), obs.DType()), n), 0), b, n, n)
	return InsertAxes(rows(nn.Beside(obs, who)), 0)
}

// pairs arranges the peers' vectors [B,N,J·P] as [1,B·N·J,P+2N]: the pair's code follows the vector.
func (p *cpm) pairs(last *Node) *Node {
	d := last.Shape().Dimensions
	x := Reshape(last, d[0], d[1], p.peers(), p.vector)
	return Concatenate([]*Node{Reshape(x, 1, -1, p.vector), p.pairCodes(last)}, -1)
}

// toPairs repeats x [1,B·N,W], computed from the observers of obs, for each of their peers: [1,B·N·J,W].
func (p *cpm) toPairs(x, obs *Node) *Node {
	b, n, j, w := obs.Shape().Dimensions[0], p.spec.Agents, p.peers(), x.Shape().Dimensions[2]
	x = BroadcastToDims(Reshape(x, b, n, 1, w), b, n, j, w)
	return Reshape(x, 1, b*n*j, w)
}

// pairCodes are two one-hots, observer and peer, for each pair of every frame of like [B,...]: [1,B·N·J,2N].
func (p *cpm) pairCodes(like *Node) *Node {
	n, b := p.spec.Agents, like.Shape().Dimensions[0]
	codes := make([][]float32, 0, n*p.peers())
	for i := range n {
		for j := range n {
			if i != j {
				code := make([]float32, 2*n)
				code[i], code[n+j] = 1, 1
				codes = append(codes, code)
			}
		}
	}
	all := BroadcastToDims(InsertAxes(ConvertDType(Const(like.Graph(), codes), like.DType()), 0), b, len(codes), 2*n)
	return Reshape(all, 1, b*len(codes), 2*n)
}

// bounded turns outputs of a decoder into vectors: probabilities, or mean and log-scale within their bounds.
func (p *cpm) bounded(raw *Node) *Node {
	if p.spec.Act.Choices > 0 {
		return Softmax(raw, -1)
	}
	return nn.Beside(p.gaussian(raw))
}

// gaussian is mean and log-scale of a decoder's outputs [...,2D], smooth up to their bounds.
func (p *cpm) gaussian(raw *Node) (mean, logScale *Node) {
	half := Split(raw, -1, 2)
	squash := func(x *Node, low, high float64) *Node {
		reach := (high - low) / 2
		return AddScalar(MulScalar(Tanh(DivScalar(x, reach)), reach), low+reach)
	}
	return squash(half[0], -meanBound, meanBound), squash(half[1], logScaleLow, logScaleHigh)
}

// gaussianOf is the policy vector of a continuous policy's outputs y [...,out], through which no gradient passes.
func gaussianOf(y *Node) *Node {
	mean, scale := nn.Gaussian(StopGradient(y))
	mean = ClipScalar(mean, -meanBound, meanBound)
	return Concatenate([]*Node{mean, ClipScalar(Log(scale), logScaleLow, logScaleHigh)}, -1)
}

// ofPeers gives each agent its peers' rows of x [B,N,W], in order, one after the other: [B,N,J·W].
func (p *cpm) ofPeers(x *Node) *Node {
	n := p.spec.Agents
	agents := make([]*Node, n)
	for i := range agents {
		agents[i] = Slice(x, AxisRange(), AxisElem(i))
	}
	each := make([]*Node, n)
	for i := range each {
		var others []*Node
		for j := range n {
			if j != i {
				others = append(others, agents[j])
			}
		}
		each[i] = Concatenate(others, -1)
	}
	return Concatenate(each, 1)
}

// foresight trains a CPM's predictor.
type foresight struct {
	*cpm
	seed  uint64
	step  *nn.Loop
	names []string
}

// Trainer compiles the predictor's gradient step; path is the acting network's scope.
func (p *cpm) Trainer(b *nn.Build, path string) (Training, error) {
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
		return []*Node{f.descend(sc.At(predictorScope), sc.Store().Scope(path), nn.Named(inputs, in))}
	})
	return f.train, err
}

// descend takes one gradient step, lets the acting copy follow by the share tau, and reports the names' values.
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

// improve takes one gradient step on the decoder's outputs raw [B,N,J,P], given the acting network's outputs y [B,N,P].
func (f *foresight) improve(sc *model.Scope, y, raw *Node, in map[string]*Node) *Node {
	alive := InsertAxes(in["weight"], -1)
	counts := Mul(alive, f.ofPeers(alive)) // [B,N,J]: both observer and peer
	mean := func(v *Node) *Node { return Div(ReduceAllSum(Mul(v, counts)), MaxScalar(ReduceAllSum(counts), 1)) }
	if f.spec.Act.Choices == 0 {
		loss := mean(f.divergence(f.asPairs(gaussianOf(y)), raw))
		return Stack([]*Node{loss, f.adam().Minimize(sc, loss)}, 0)
	}
	truth := Softmax(nn.Allowed(StopGradient(y), in["mask"]), -1) // the peers' current policies [B,N,K]
	cross := mean(Neg(ReduceSum(Mul(f.asPairs(truth), LogSoftmax(raw, -1)), -1)))
	loss := Sub(cross, mean(f.ofPeers(InsertAxes(entropy(truth), -1)))) // KL(π_j ‖ p̂_j)
	return Stack([]*Node{loss, f.adam().Minimize(sc, loss), cross, f.marginalEntropy(truth, alive)}, 0)
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

// marginalEntropy is the entropy of an agent's choices over the batch, on average over agents. A predictor whose
// cross-entropy is not below it has learned nothing from observations.
func (f *foresight) marginalEntropy(truth, alive *Node) *Node {
	often := Div(ReduceSum(Mul(truth, alive), 0), MaxScalar(ReduceSum(alive, 0), 1)) // [N,K]
	return ReduceAllMean(entropy(often))
}

// divergence is KL(N(μ,σ) ‖ N(μ̂,σ̂)) [B,N,J] of true vectors and a decoder's outputs, summed over components.
//
//	log σ̂ − log σ + (σ² + (μ−μ̂)²) / 2σ̂² − ½
func (f *foresight) divergence(truth, raw *Node) *Node {
	half := Split(truth, -1, 2)
	mean, logScale := f.gaussian(raw)
	spread := Add(Exp(MulScalar(half[1], 2)), Square(Sub(half[0], mean)))
	each := Add(Sub(logScale, half[1]), MulScalar(Mul(spread, Exp(MulScalar(logScale, -2))), 0.5))
	return ReduceSum(AddScalar(each, -0.5), -1)
}

// share is τ, the share by which the acting copy follows after a rollout batch of so many frames.
func (c CPM) share(frames int) float64 {
	if c.Lag == 0 {
		return 1
	}
	return -math.Expm1(-float64(frames) / float64(c.Lag))
}

// train takes cpm_pred_epochs epochs over the rollout batch. The acting copy follows once, in the last step.
func (f *foresight) train(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	order := make([]int32, x.T*x.E)
	out, _, err := f.step.Means(ctx, f.names, func(yield func(error) bool) {
		for epoch := range f.Epochs {
			rng.New(f.seed, "cpm frames", uint64(x.Iteration), uint64(epoch)).Perm(order)
			for at := 0; at < len(order); at += f.Minibatch {
				f.feed(x, order[at:min(at+f.Minibatch, len(order))])
				last := epoch == f.Epochs-1 && at+f.Minibatch >= len(order)
				f.step.Feed(f.step.Input("tau"), func(dst []float32) {
					if dst[0] = 0; last {
						dst[0] = float32(f.share(len(order)))
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
	p := f.step.Program
	nn.FeedRows(p, "obs", frames, func(dst []float32, frame int) { x.GatherFrom(dst, frame*x.N) })
	nn.FeedRows(p, "hidden", frames, func(dst []float32, frame int) { copy(dst, x.Hidden[frame*len(dst):]) })
	p.Feed(p.Input("weight"), func(dst []float32) { x.GatherAlive(dst, frames) })
	if f.spec.Act.Choices > 0 {
		nn.FeedRows(p, "mask", frames, x.GatherMask)
	}
}
