// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// mappoScalars names the values that one update reports, in the order of its output.
var mappoScalars = []string{"actor_loss", "critic_loss", "entropy", "ratio", "clip_fraction", "kl",
	"actor_grad_norm", "critic_grad_norm"}

// ppoIn are the inputs of one update by name. Inputs that a task or policy does not need are nil.
//
//	obs      [B,N,I]; chunks of a recurrent policy are time-major, B = L·chunks
//	raw      [B,N,D] unsquashed action
//	choice   [B,N] int32, mask [B,N,K]; discrete actions only
//	logp     [B,N] of the behaviour policy
//	adv, ret [B,N] advantages and value targets
//	weight   [B,N] 1 for agent steps that count, 0 for padding and dead agents
//	state    [B,S] for a central critic of vectors
//	noise    [B,N,D] standard normal, for the entropy of a squashed Gaussian; 0 where entropy has no weight
//	eps      [1] share of uniform actions, if any
//	hidden   [chunks,N,C] state of a recurrent policy before the first step of each chunk
//	keep     [B,N] 0 where an episode starts; only for chunks of several steps
//	context  [B,N,F] stored context of the actor, from an explorer
type ppoIn map[string]*Node

// inputs declares them for a minibatch. Most are rows of the rollout batch, which all epochs share.
func (m *mappo) inputs(mixed bool) []nn.Input {
	s, b := m.build.Spec, m.batch
	n := s.Agents
	in := []nn.Input{nn.F32("obs", b, n, s.InLen())}
	if s.Act.Choices > 0 {
		in = append(in, nn.I32("choice", b, n), nn.F32("mask", b, n, s.Act.Choices))
	} else {
		in = append(in, nn.F32("raw", b, n, s.Act.Dim), nn.F32("noise", b, n, s.Act.Dim))
	}
	in = append(in, nn.F32("logp", b, n), nn.F32("adv", b, n), nn.F32("weight", b, n))
	if m.critic.readsState() {
		in = append(in, nn.F32("state", b, s.State))
	}
	in = append(in, nn.F32("ret", b, n))
	if mixed {
		in = append(in, nn.F32("eps", 1))
	}
	if c := m.HiddenLen(); c > 0 {
		in = append(in, nn.F32("hidden", b/m.chunk, n, c))
	}
	if m.chunk > 1 {
		in = append(in, nn.F32("keep", b, n))
	}
	if f := m.build.Context; f > 0 {
		in = append(in, nn.F32("context", b, n, f))
	}
	for i, x := range in {
		if !slices.Contains([]string{"noise", "weight", "eps"}, x.Name) {
			in[i] = x.From(m.Frames)
		}
	}
	return in
}

// newUpdate compiles one minibatch step: forward, both losses, gradients, norm clip, two Adams. The mixed one is for
// partly uniform actions; the other one does not depend on them.
func (m *mappo) newUpdate(mixed bool) (*nn.Loop, error) {
	inputs := m.inputs(mixed)
	return nn.NewLoop(m.build, "ppo", inputs, func(sc *model.Scope, nodes []*Node) []*Node {
		in := ppoIn(nn.Named(inputs, nodes))
		surrogate, report := m.surrogate(in, m.output(sc.At("actor"), in))
		criticLoss := m.criticLoss(in, m.estimate(sc, in))
		actorNorm := m.Adam.Minimize(sc.At("actor"), surrogate)
		criticNorm := m.Adam.Minimize(sc.At("critic"), nn.Times(criticLoss, "learner/critic_coef", m.CriticCoef))
		all := append([]*Node{surrogate, criticLoss}, append(report, actorNorm, criticNorm)...)
		for i := range all {
			all[i] = Reshape(all[i], 1)
		}
		return []*Node{Concatenate(all, 0)}
	})
}

// output is the policy network's output for the minibatch, [B,N,out].
func (m *mappo) output(sc *model.Scope, in ppoIn) *Node {
	out, obs := nn.ActionOutputs(&m.build.Spec.Act), withContext(in["obs"], in["context"])
	if m.chunk == 1 {
		y, _ := m.policy.Net(sc, obs, in["hidden"], out)
		return y
	}
	n, l := m.build.Spec.Agents, m.chunk
	obs = Reshape(obs, l, -1, n, m.build.Spec.InLen()+m.build.Context)
	y := m.policy.(policy.Recurrent).Unroll(sc, obs, Reshape(in["keep"], l, -1, n), in["hidden"], out)
	return Reshape(y, m.batch, n, out)
}

// estimate is the current V of the minibatch, [B,V].
func (m *mappo) estimate(sc *model.Scope, in ppoIn) *Node {
	seen := in["state"]
	if !m.critic.readsState() {
		seen = Reshape(in["obs"], -1, m.critic.width())
	}
	return Reshape(m.critic.net(sc, seen), m.batch, -1)
}

// surrogate is the clipped objective, to be minimised; y is the policy network's output.
//
//	L_π = −mean min(w·Â, clip(w, 1−ε, 1+ε)·Â),   w = π(a|o)/π_old(a|o)
func (m *mappo) surrogate(in ppoIn, y *Node) (loss *Node, report []*Node) {
	act := &m.build.Spec.Act
	var logp, entropy *Node
	if act.Choices > 0 {
		var all *Node
		logp, all = nn.LogProbCategorical(y, in["mask"], in["choice"])
		entropy = Neg(ReduceSum(Mul(Exp(all), all), -1))
	} else {
		mean, scale := nn.Gaussian(y)
		logp = nn.LogProbGaussian(in["raw"], mean, scale, act)
		// A squashed Gaussian has no closed entropy, so this is one reparametrised sample of −log π. If entropy has no
		// weight in the loss, noise stays 0, and the reported value is −log π of the mode.
		entropy = Neg(nn.LogProbGaussian(Add(mean, Mul(scale, in["noise"])), mean, scale, act))
	}
	if in["eps"] != nil {
		logp = logMixture(logp, in, act)
	}
	change := Sub(logp, in["logp"])
	ratio := Exp(change)
	band := Exp(nn.Within(change, "learner/clip_epsilon", math.Log(1-m.Clip), math.Log(1+m.Clip)))
	objective := nn.Average(Min(Mul(ratio, in["adv"]), Mul(band, in["adv"])), in["weight"])
	bonus := nn.Average(entropy, in["weight"])
	loss = Neg(objective)
	if m.EntropyCoef > 0 {
		loss = Sub(loss, nn.Times(bonus, "learner/entropy_coef", m.EntropyCoef))
	}
	low := nn.Setting(change, "learner/clip_epsilon/low", math.Log(1-m.Clip))
	high := nn.Setting(change, "learner/clip_epsilon/high", math.Log(1+m.Clip))
	clipped := ConvertDType(LogicalOr(LessThan(change, low), GreaterThan(change, high)), ratio.DType())
	return loss, []*Node{bonus, nn.Average(ratio, in["weight"]), nn.Average(clipped, in["weight"]),
		nn.Average(Neg(change), in["weight"])}
}

// logMixture is log μ [B,N] of the behaviour policy's actions, given their log π:
//
//	μ = (1 − ε)·π + ε·u,   u = 1 / number of allowed choices, or 1 / volume of the box
func logMixture(logp *Node, in ppoIn, act *envs.ActSpec) *Node {
	eps := Reshape(in["eps"]) // a scalar
	own := Add(logp, Log1P(Neg(eps)))
	chance := Log(eps)
	if act.Choices > 0 {
		chance = Sub(chance, Log(MaxScalar(ReduceSum(in["mask"], -1), 1))) // a dead agent may be allowed nothing
	} else {
		for d := range act.Dim {
			chance = AddScalar(chance, -math.Log(float64(act.High[d]-act.Low[d])))
		}
	}
	top := StopGradient(Max(own, chance))
	return Add(top, Log(Add(Exp(Sub(own, top)), Exp(Sub(chance, top)))))
}

// criticLoss is mean (V − R̂)² over agents; value is the current V, [B,1] for all agents or [B,N] for each.
func (m *mappo) criticLoss(in ppoIn, value *Node) *Node {
	return nn.Average(Square(Sub(value, in["ret"])), in["weight"])
}

// unfold writes the frames of chunks into m.frames, time-major: step t of chunk k is at t·chunks + k. Steps beyond the
// end of the rollout batch, and chunks missing from the last minibatch, are padding: arbitrary frames that do not
// count.
func (m *mappo) unfold(chunks []int32, x *rl.Rollout) {
	each := m.batch / m.chunk
	for k := range each {
		at := int(chunks[min(k, len(chunks)-1)])
		first, c := at/x.E*m.chunk, at%x.E
		for t := range m.chunk {
			m.frames[t*each+k] = int32(min(first+t, x.T-1)*x.E + c)
			m.counts[t*each+k] = k < len(chunks) && first+t < x.T
		}
	}
}

// feed gathers the frames of one minibatch for p; step counts the minibatches of an iteration.
func (m *mappo) feed(p *nn.Loop, x *rl.Rollout, step uint64) {
	s := m.build.Spec
	n, k := s.Agents, s.Act.Choices
	copies := func(input string, index []int32, src []float32) {
		nn.FeedFrom(p, input, index, func(dst []float32, frame int) { copy(dst, src[frame*len(dst):]) })
	}
	nn.FeedFrom(p, "obs", m.frames, func(dst []float32, frame int) { x.GatherFrom(dst, frame*n) })
	if k > 0 {
		nn.FeedFrom(p, "choice", m.frames, func(dst []int32, frame int) { copy(dst, x.Act.Discrete[frame*n:]) })
		nn.FeedFrom(p, "mask", m.frames, x.GatherMask)
	} else {
		copies("raw", m.frames, x.Raw)
		if m.EntropyCoef > 0 {
			r := rng.New(m.build.Seed, "entropy", uint64(x.Iteration), step)
			p.Feed(p.Input("noise"), func(dst []float32) { nn.Normal(r, dst, nil) })
		}
	}
	copies("logp", m.frames, x.LogP)
	copies("adv", m.frames, m.adv)
	copies("ret", m.frames, m.ret)
	if m.critic.readsState() {
		copies("state", m.frames, x.State)
	}
	if m.HiddenLen() > 0 {
		copies("hidden", m.frames[:m.batch/m.chunk], x.Hidden)
	}
	if m.build.Context > 0 {
		copies("context", m.frames, x.Context)
	}
	if m.chunk > 1 {
		nn.FeedFrom(p, "keep", m.frames, func(dst []float32, frame int) {
			for i := range dst {
				dst[i] = float32(1 - x.IsFirst[frame])
			}
		})
	}
	p.Feed(p.Input("weight"), func(dst []float32) {
		x.GatherAlive(dst, m.frames)
		for b, counts := range m.counts {
			if !counts {
				clear(dst[b*n : (b+1)*n])
			}
		}
	})
	if x.Eps > 0 {
		p.Feed(p.Input("eps"), func(dst []float32) { dst[0] = x.Eps })
	}
}
