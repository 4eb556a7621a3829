// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
)

// Scopes of a value learner's variables.
const (
	onlineScope  = "q"
	targetScope  = "target"
	utilityScope = "utility"
	mixerScope   = "mixer"
)

// qScalars names the values that one update reports, in the order of its output.
var qScalars = []string{"q_loss", "q_total", "q_target", "q_grad_norm"}

// Inputs of one update, in this order.
const (
	qObs       = iota // [B,N,O]
	qChoice           // [B,N] int32
	qState            // [B,S]
	qNext             // [B,N,O] true next observations
	qNextState        // [B,S]
	qReward           // [B] of the team
	qGoesOn           // [B] 1 where the next value counts
	qMask             // [B,N,K] what was allowed; this and the next two only if the task has masks
	qNextMask         // [B,N,K]
	qAlive            // [B,N]
)

// newUpdate compiles one gradient step: forward, target, loss, gradient, norm clip, Adam, targets following.
func (l *q) newUpdate(p policy.Policy, m Mixer) (*nn.Program, error) {
	s, b := l.build.Spec, l.Batch
	inputs := []nn.Input{
		qObs: nn.F32("obs", b, s.Agents, s.ObsLen()), qChoice: nn.I32("choice", b, s.Agents), qState: nn.F32("state", b, s.State),
		qNext: nn.F32("next", b, s.Agents, s.ObsLen()), qNextState: nn.F32("next_state", b, s.State),
		qReward: nn.F32("reward", b), qGoesOn: nn.F32("goes_on", b),
	}
	if s.Masked {
		inputs = append(inputs, nn.F32("mask", b, s.Agents, s.Act.Choices), nn.F32("next_mask", b, s.Agents, s.Act.Choices),
			nn.F32("alive", b, s.Agents))
	}
	return nn.NewProgram(l.build, "q", inputs, func(sc *model.Scope, in []*Node) []*Node {
		online, target := sc.At(onlineScope), sc.At(targetScope)
		now := l.taken(online, p, in)
		total := m.Mix(online.At(mixerScope), now)
		y := l.target(online, target, p, m, in)
		loss := l.loss(Sub(total, y))
		if extra, ok := m.(Penalised); ok {
			if cost := extra.PenaltyOf(online.At(mixerScope), now); cost != nil {
				loss = Add(loss, cost)
			}
		}
		norm := l.Adam.Minimize(online, loss)
		for _, part := range []string{utilityScope, mixerScope} {
			nn.Follow(loss.Graph(), online.At("%s", part), target.At("%s", part), l.Polyak)
		}
		return []*Node{Stack([]*Node{loss, ReduceAllMean(total), ReduceAllMean(y), norm}, 0)}
	})
}

// utilities maps obs [B,N,O] to Q_i(o_i, ·) [B,N,K].
func (l *q) utilities(sc *model.Scope, p policy.Policy, obs *Node) *Node {
	y, _ := p.Net(sc.At(utilityScope), obs, nil, l.build.Spec.Act.Choices)
	return y
}

// taken is what the mixer sees of the actions that were taken.
func (l *q) taken(online *model.Scope, p policy.Policy, in []*Node) QIn {
	utility := ofLiving(l.utilities(online, p, in[qObs]), in)
	taken := OneHot(in[qChoice], l.build.Spec.Act.Choices, utility.DType())
	return QIn{
		Chosen: ReduceSum(Mul(utility, taken), -1), Max: ReduceMax(onlyAllowed(utility, in, qMask), -1),
		OneHot: taken, Obs: in[qObs], State: in[qState],
	}
}

// target is y [B], through which no gradient passes:
//
//	y = r + γ·(1 − done)·Q_tot⁻(s', a'),   a'_i = arg max over allowed a of Q_i⁻(o'_i, a), or of Q_i with double_q
func (l *q) target(online, target *model.Scope, p policy.Policy, m Mixer, in []*Node) *Node {
	utility := l.utilities(target, p, in[qNext])
	allowed := onlyAllowed(utility, in, qNextMask)
	chooser := allowed
	if l.DoubleQ {
		chooser = onlyAllowed(l.utilities(online, p, in[qNext]), in, qNextMask)
	}
	chosen := OneHot(ArgMax(chooser, -1), l.build.Spec.Act.Choices, utility.DType())
	next := m.Mix(target.At(mixerScope), QIn{
		Chosen: ReduceSum(Mul(utility, chosen), -1), Max: ReduceMax(allowed, -1), OneHot: chosen, Obs: in[qNext], State: in[qNextState],
	})
	for _, part := range []string{utilityScope, mixerScope} {
		nn.Twin(online.At("%s", part), target.At("%s", part))
	}
	return StopGradient(Add(in[qReward], MulScalar(Mul(in[qGoesOn], next), l.Discount)))
}

// ofLiving lets no gradient through the utilities [B,N,K] of agents that are dead: what they see and do says nothing about the
// game, though their utility counts in the team's value as ever.
func ofLiving(utility *Node, in []*Node) *Node {
	if len(in) <= qAlive {
		return utility
	}
	alive := ExpandAxes(in[qAlive], -1)
	return Add(Mul(utility, alive), Mul(StopGradient(utility), OneMinus(alive)))
}

// onlyAllowed makes the utilities [B,N,K] of actions that input mask forbids too low to be the greatest.
func onlyAllowed(utility *Node, in []*Node, mask int) *Node {
	if len(in) <= mask {
		return utility
	}
	allowed := GreaterThan(in[mask], ZerosLike(in[mask]))
	return Where(allowed, utility, FillScalar(utility.Graph(), utility.Shape(), -1e9))
}

// loss is the mean over the minibatch of d² or, with smooth_l1, of a parabola that goes on as a straight line beyond ±1.
func (l *q) loss(d *Node) *Node {
	if l.Loss == "l2" {
		return ReduceAllMean(Square(d))
	}
	far := Abs(d)
	return ReduceAllMean(Where(LessThan(far, OnesLike(far)), MulScalar(Square(d), 0.5), AddScalar(far, -0.5)))
}

// feed writes the frames of l.slots into the graph.
func (l *q) feed(ctx context.Context) error {
	s, r := l.build.Spec, l.replay
	rows := func(input, width int, of func(slot int32) []float32) {
		l.update.Feed(input, func(dst []float32) {
			for b, slot := range l.slots {
				copy(dst[b*width:(b+1)*width], of(slot))
			}
		})
	}
	o := s.Agents * s.ObsLen()
	rows(qObs, o, r.Obs)
	rows(qNext, o, r.NextObs)
	rows(qState, s.State, r.State)
	rows(qNextState, s.State, r.NextState)
	l.update.FeedInt(qChoice, func(dst []int32) {
		for b, slot := range l.slots {
			copy(dst[b*s.Agents:(b+1)*s.Agents], r.Choice(slot))
		}
	})
	l.update.Feed(qGoesOn, func(dst []float32) {
		for b, slot := range l.slots {
			terminated, truncated := r.Ended(slot)
			dst[b] = 1
			if terminated || truncated && !l.BootstrapOnTimeout {
				dst[b] = 0
			}
		}
	})
	if s.Masked {
		l.feedMask(qMask, r.Mask)
		l.feedMask(qNextMask, r.NextMask)
		l.update.Feed(qAlive, func(dst []float32) {
			for b, slot := range l.slots {
				for i, alive := range r.Alive(slot) {
					dst[b*s.Agents+i] = float32(alive)
				}
			}
		})
	}
	bonus, err := l.bonus(ctx)
	if err != nil {
		return err
	}
	l.update.Feed(qReward, func(dst []float32) {
		for b, slot := range l.slots {
			dst[b] = r.Reward(slot) + bonus[b]
		}
	})
	return nil
}

// feedMask writes the masks [N,K] of the frames of l.slots into an input.
func (l *q) feedMask(input int, of func(slot int32) []uint8) {
	m := l.build.Spec.Agents * l.build.Spec.Act.Choices
	l.update.Feed(input, func(dst []float32) {
		for b, slot := range l.slots {
			for i, allowed := range of(slot) {
				dst[b*m+i] = float32(allowed)
			}
		}
	})
}
