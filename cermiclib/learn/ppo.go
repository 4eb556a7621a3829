// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// mappoScalars names the values that one update reports, in the order of its output.
var mappoScalars = []string{"actor_loss", "critic_loss", "entropy", "ratio", "clip_fraction", "kl", "actor_grad_norm", "critic_grad_norm"}

// ppoIn are the inputs of one update in the order in which they are declared and fed.
type ppoIn struct {
	obs    *Node // [B,N,O]
	raw    *Node // [B,N,D] unsquashed action; or choice [B,N] int32
	mask   *Node // [B,N,K] discrete only
	logp   *Node // [B,N] of the behaviour policy
	adv    *Node // [B,N]
	weight *Node // [B,N] 1 for agent steps that count, 0 for padding and dead agents
	state  *Node // [B,S]
	ret    *Node // [B,N] value targets
	value  *Node // [B] V(s) before the update
	noise  *Node // [B,N,D] standard normal, for the entropy of a squashed Gaussian
	eps    *Node // [1] share of uniform actions; nil where there are none
}

// inEps is the input behind all others of the graph that knows of uniform actions.
const inEps = 9

// inputs declares them for a minibatch.
func (m *mappo) inputs(mixed bool) []nn.Input {
	s, b := m.build.Spec, m.batch
	n := s.Agents
	in := []nn.Input{nn.F32("obs", b, n, s.ObsLen())}
	if s.Act.Choices > 0 {
		in = append(in, nn.I32("choice", b, n), nn.F32("mask", b, n, s.Act.Choices))
	} else {
		in = append(in, nn.F32("raw", b, n, s.Act.Dim), nn.F32("noise", b, n, s.Act.Dim))
	}
	in = append(in, nn.F32("logp", b, n), nn.F32("adv", b, n), nn.F32("weight", b, n),
		nn.F32("state", b, s.State), nn.F32("ret", b, n), nn.F32("value", b))
	if mixed {
		in = append(in, nn.F32("eps", 1))
	}
	return in
}

func named(in []*Node, discrete bool) ppoIn {
	p := ppoIn{obs: in[0], raw: in[1], logp: in[3], adv: in[4], weight: in[5], state: in[6], ret: in[7], value: in[8]}
	if discrete {
		p.mask = in[2]
	} else {
		p.noise = in[2]
	}
	if len(in) > inEps {
		p.eps = in[inEps]
	}
	return p
}

// newUpdate compiles one minibatch step: forward, both losses, gradients, norm clip, two Adams. The mixed one is for actions of
// which a share was uniform; without it nothing changes for those who have none.
func (m *mappo) newUpdate(p policy.Policy, mixed bool) (*nn.Program, error) {
	discrete := m.build.Spec.Act.Choices > 0
	return nn.NewProgram(m.build, "ppo", m.inputs(mixed), func(sc *model.Scope, nodes []*Node) []*Node {
		in := named(nodes, discrete)
		y, _ := p.Net(sc.At("actor"), in.obs, nil, actorOutputs(&m.build.Spec.Act))
		surrogate, report := m.surrogate(in, y)
		criticLoss := m.criticLoss(in, valueNet(sc, in.state, m.CriticHidden))
		actorNorm := m.Adam.Minimize(sc.At("actor"), surrogate)
		criticNorm := m.Adam.Minimize(sc.At("critic"), MulScalar(criticLoss, m.CriticCoef))
		all := append([]*Node{surrogate, criticLoss}, append(report, actorNorm, criticNorm)...)
		for i := range all {
			all[i] = Reshape(all[i], 1)
		}
		return []*Node{Concatenate(all, 0)}
	})
}

// weighted is the mean of v over the agent steps that count.
func weighted(v, weight *Node) *Node {
	return Div(ReduceAllSum(Mul(v, weight)), MaxScalar(ReduceAllSum(weight), 1))
}

// surrogate is the clipped objective, to be minimised; y is the policy network's output.
//
//	L_π = −mean min(w·Â, clip(w, 1−ε, 1+ε)·Â),   w = π(a|o)/π_old(a|o)
func (m *mappo) surrogate(in ppoIn, y *Node) (loss *Node, report []*Node) {
	act := &m.build.Spec.Act
	var logp, entropy *Node
	if act.Choices > 0 {
		var all *Node
		logp, all = logProbCategorical(y, in.mask, in.raw)
		entropy = Neg(ReduceSum(Mul(Exp(all), all), -1))
	} else {
		mean, scale := gaussian(y)
		logp = logProbGaussian(in.raw, mean, scale, act)
		// A squashed Gaussian has no closed entropy: one reparametrised sample of −log π.
		entropy = Neg(logProbGaussian(Add(mean, Mul(scale, in.noise)), mean, scale, act))
	}
	if in.eps != nil {
		logp = logMixture(logp, in, act)
	}
	change := Sub(logp, in.logp)
	ratio := Exp(change)
	band := Exp(ClipScalar(change, math.Log(1-m.Clip), math.Log(1+m.Clip)))
	objective := weighted(Min(Mul(ratio, in.adv), Mul(band, in.adv)), in.weight)
	bonus := weighted(entropy, in.weight)
	loss = Neg(objective)
	if m.EntropyCoef > 0 {
		loss = Sub(loss, MulScalar(bonus, m.EntropyCoef))
	}
	low, high := ConstAs(change, math.Log(1-m.Clip)), ConstAs(change, math.Log(1+m.Clip))
	clipped := ConvertDType(LogicalOr(LessThan(change, low), GreaterThan(change, high)), ratio.DType())
	return loss, []*Node{bonus, weighted(ratio, in.weight), weighted(clipped, in.weight), weighted(Neg(change), in.weight)}
}

// logMixture is log μ [B,N] of actions of the behaviour policy, given their log π:
//
//	μ = (1 − ε)·π + ε·u,   u = 1 / number of allowed choices, or 1 / volume of the box
func logMixture(logp *Node, in ppoIn, act *envs.ActSpec) *Node {
	eps := Reshape(in.eps) // a scalar
	own := Add(logp, Log1P(Neg(eps)))
	chance := Log(eps)
	if act.Choices > 0 {
		chance = Sub(chance, Log(MaxScalar(ReduceSum(in.mask, -1), 1))) // padding allows nothing
	} else {
		for d := range act.Dim {
			chance = AddScalar(chance, -math.Log(float64(act.High[d]-act.Low[d])))
		}
	}
	top := StopGradient(Max(own, chance))
	return Add(top, Log(Add(Exp(Sub(own, top)), Exp(Sub(chance, top)))))
}

// criticLoss is mean (V(s) − R̂)² over agents, one V for all of them; value is V(s) now, [B].
func (m *mappo) criticLoss(in ppoIn, value *Node) *Node {
	value, old := ExpandAxes(value, -1), ExpandAxes(in.value, -1)
	square := Square(Sub(value, in.ret))
	if m.ValueClip > 0 {
		near := Add(old, ClipScalar(Sub(value, old), -m.ValueClip, m.ValueClip))
		square = Max(square, Square(Sub(near, in.ret)))
	}
	return weighted(square, in.weight)
}

// feed gathers the frames of one minibatch for p; those beyond len(frames) are padding with weight 0.
func (m *mappo) feed(p *nn.Program, x *rl.Rollout, frames []int32, step uint64) {
	s := m.build.Spec
	n, k := s.Agents, s.Act.Choices
	rows := func(input, width int, src []float32) {
		p.Feed(input, func(dst []float32) { gather(dst, src, frames, width) })
	}
	rows(0, n*s.ObsLen(), x.Obs)
	if k > 0 {
		p.FeedInt(1, func(dst []int32) { gather(dst, x.Act.Choice, frames, n) })
		p.Feed(2, func(dst []float32) { gatherMask(dst, x.Mask, frames, n*k) })
	} else {
		rows(1, n*s.Act.Dim, x.Raw)
		if m.EntropyCoef > 0 {
			p.Feed(2, func(dst []float32) { normals(dst, rng.New(m.build.Seed, "entropy", uint64(x.Iteration), step)) })
		}
	}
	rows(3, n, x.LogP)
	rows(4, n, m.adv)
	p.Feed(5, func(dst []float32) {
		clear(dst)
		for b, f := range frames {
			for i := range n {
				dst[b*n+i] = float32(x.Alive[int(f)*n+i])
			}
		}
	})
	rows(6, s.State, x.State)
	rows(7, n, m.ret)
	rows(8, 1, m.value)
	if x.Eps > 0 {
		p.Feed(inEps, func(dst []float32) { dst[0] = x.Eps })
	}
}

// gather copies the width values of each frame of src into dst.
func gather[T float32 | int32](dst, src []T, frames []int32, width int) {
	for b, f := range frames {
		copy(dst[b*width:(b+1)*width], src[int(f)*width:(int(f)+1)*width])
	}
}

// gatherMask is gather for the availability of choices; a nil mask allows everything.
func gatherMask(dst []float32, mask []uint8, frames []int32, width int) {
	if mask == nil {
		for i := range dst {
			dst[i] = 1
		}
		return
	}
	for b, f := range frames {
		for i, allowed := range mask[int(f)*width : (int(f)+1)*width] {
			dst[b*width+i] = float32(allowed)
		}
	}
}

func normals(dst []float32, r *rng.Rand) {
	for i := range dst {
		dst[i] = r.Norm()
	}
}
