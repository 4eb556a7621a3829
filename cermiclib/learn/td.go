// SPDX-License-Identifier: Apache-2.0

package learn

import (
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

	onlineUtility = "/" + onlineScope + "/" + utilityScope
)

// qScalars names the values that one update reports, in the order of its output.
var qScalars = []string{"q_loss", "q_total", "q_target", "q_grad_norm"}

// inputs declares the inputs of one update on B frames: L successive steps of B/L environments, in time order.
func (l *q) inputs() []nn.Input {
	s, b, width := l.build.Spec, len(l.slots), len(l.slots)/l.chunk
	inputs := []nn.Input{
		nn.F32("obs", b, s.Agents, s.InLen()), nn.I32("choice", b, s.Agents),
		nn.F32("next", width, s.Agents, s.InLen()), // true next observations of the last step
		nn.F32("alive", b, s.Agents),               // 1 for agents that could act
		nn.F32("reward", b),                        // of the team
		nn.F32("goes_on", b),                       // 1 where the next value counts
	}
	if l.readsState() {
		inputs = append(inputs, nn.F32("state", b, s.State), nn.F32("next_state", b, s.State))
	}
	if s.Masked { // allowed actions
		inputs = append(inputs, nn.F32("mask", b, s.Agents, s.Act.Choices), nn.F32("next_mask", b, s.Agents, s.Act.Choices))
	}
	if hidden := l.HiddenLen(); hidden > 0 { // state before the first step, and 0 where a step begins an episode
		inputs = append(inputs, nn.F32("hidden", width, s.Agents, hidden), nn.F32("keep", l.chunk+1, width, s.Agents))
	}
	return inputs
}

// newUpdate compiles one gradient step: forward, target, loss, gradient, norm clip, Adam, targets following.
func (l *q) newUpdate(m Mixer) (*nn.Loop, error) {
	inputs := l.inputs()
	return nn.NewLoop(l.build, "q", inputs, func(sc *model.Scope, nodes []*Node) []*Node {
		in := nn.Named(inputs, nodes)
		online, target := sc.At(onlineScope), sc.At(targetScope)
		utility, next := l.utilities(online, in)
		total := m.Mix(online.At(mixerScope), l.taken(online.At(utilityScope), utility, in))
		y := l.target(online, target, m, next, in)
		loss := ReduceAllMean(Square(Sub(total, y)))
		norm := l.Adam.Minimize(online, loss)
		for _, part := range []string{utilityScope, mixerScope} {
			nn.Follow(loss.Graph(), online.At("%s", part), target.At("%s", part), l.Polyak)
		}
		return []*Node{Stack([]*Node{loss, ReduceAllMean(total), ReduceAllMean(y), norm}, 0)}
	})
}

// utilities are Q_i(o_i, ·) [B,N,K] of the frames, and of the observations after them.
func (l *q) utilities(sc *model.Scope, in map[string]*Node) (now, next *Node) {
	sc = sc.At(utilityScope)
	k := l.build.Spec.Act.Choices
	if in["hidden"] == nil {
		now, _ = l.policy.Net(sc, in["obs"], nil, k)
		next, _ = l.policy.Net(sc, in["next"], nil, k)
		return now, next
	}
	d := in["next"].Shape().Dimensions
	seen := Reshape(in["obs"], l.chunk, d[0], d[1], d[2])
	y := unroll(sc, l.policy, Concatenate([]*Node{seen, InsertAxes(in["next"], 0)}, 0), in["keep"], in["hidden"], k)
	frames := func(steps SliceAxisSpec) *Node { return Reshape(Slice(y, steps), -1, d[1], k) }
	return frames(AxisRange(0, l.chunk)), frames(AxisRangeToEnd(1))
}

// unroll maps obs [L,B,N,O] to [L,B,N,out], starting from hidden state [B,N,C]; keep [L,B,N] is 0 where an episode
// starts.
func unroll(sc *model.Scope, p policy.Policy, obs, keep, hidden *Node, out int) *Node {
	if r, ok := p.(policy.Recurrent); ok {
		return r.Unroll(sc, obs, keep, hidden, out)
	}
	steps := make([]*Node, obs.Shape().Dimensions[0])
	for t := range steps {
		at := func(x *Node) *Node { return Squeeze(Slice(x, AxisElem(t)), 0) }
		steps[t], hidden = p.Net(sc, at(obs), Mul(hidden, InsertAxes(at(keep), -1)), out)
	}
	return Stack(steps, 0)
}

// taken is the mixer's input for the taken actions, given utilities [B,N,K]; eyes is the scope of the utilities'
// network.
func (l *q) taken(eyes *model.Scope, utility *Node, in map[string]*Node) QIn {
	utility = ofLiving(utility, in["alive"])
	taken := OneHot(in["choice"], l.build.Spec.Act.Choices, utility.DType())
	obs, state := l.situation(eyes, in["obs"], in["state"])
	return QIn{
		Chosen: ReduceSum(Mul(utility, taken), -1), Max: ReduceMax(nn.Allowed(utility, in["mask"]), -1),
		OneHot: taken, Obs: obs, State: state,
	}
}

// readsState reports whether the mixer reads the task's own state.
func (l *q) readsState() bool { return l.build.Spec.CellLen() == 0 }

// situation is a mixer's input from observations [B,N,I] and the state [B,S]. For cells, it is their encoding by the
// utilities' network.
func (l *q) situation(eyes *model.Scope, obs, state *Node) (_, _ *Node) {
	if l.readsState() {
		return obs, state
	}
	obs = StopGradient(nn.ReadObs(eyes, l.build.Spec, obs))
	return obs, Reshape(obs, obs.Shape().Dimensions[0], -1)
}

// target is y [B], without a gradient; online holds Q_i of the next observations [B,N,K].
//
//	y = r + γ·(1 − done)·Q_tot⁻(s', a'),   a'_i = arg max over allowed a of Q_i⁻(o'_i, a), or of Q_i with double_q
func (l *q) target(online, target *model.Scope, m Mixer, chooser *Node, in map[string]*Node) *Node {
	_, utility := l.utilities(target, in)
	allowed := nn.Allowed(utility, in["next_mask"])
	if l.DoubleQ {
		chooser = nn.Allowed(chooser, in["next_mask"])
	} else {
		chooser = allowed
	}
	chosen := OneHot(ArgMax(chooser, -1), l.build.Spec.Act.Choices, utility.DType())
	obs, state := l.situation(target.At(utilityScope), l.followed(in), in["next_state"])
	next := m.Mix(target.At(mixerScope), QIn{
		Chosen: ReduceSum(Mul(utility, chosen), -1), Max: ReduceMax(allowed, -1), OneHot: chosen, Obs: obs, State: state,
	})
	for _, part := range []string{utilityScope, mixerScope} {
		nn.TargetCopy(online.At("%s", part), target.At("%s", part))
	}
	return StopGradient(Add(in["reward"], nn.Times(Mul(in["goes_on"], next), "learner/discount", l.Discount)))
}

// followed is the agents' next observation of each frame [B,N,I]. If an episode ended inside a chunk, it is the first
// observation of the next episode, which does not count.
func (l *q) followed(in map[string]*Node) *Node {
	if l.chunk == 1 {
		return in["next"]
	}
	width := in["next"].Shape().Dimensions[0]
	return Concatenate([]*Node{Slice(in["obs"], AxisRangeToEnd(width)), in["next"]}, 0)
}

// ofLiving stops the gradient of dead agents' utilities [B,N,K], because their observations and actions carry no
// information about the game. These utilities still count in the team's value. alive is [B,N].
func ofLiving(utility, alive *Node) *Node {
	alive = ExpandAxes(alive, -1)
	return Add(Mul(utility, alive), Mul(StopGradient(utility), OneMinus(alive)))
}

// feed writes the frames of l.slots into the graph; extrinsic is the weight of the reward, which the replay stores
// unweighted.
func (l *q) feed(extrinsic float32) {
	s, r, p := l.build.Spec, l.replay, l.update.Program
	last := l.slots[len(l.slots)-len(l.slots)/l.chunk:]
	nn.FeedRows(p, "obs", l.slots, func(dst []float32, slot int) { r.At(slot).Gather(dst, s) })
	nn.FeedRows(p, "next", last, func(dst []float32, slot int) { r.Next(slot).Gather(dst, s) })
	if l.readsState() {
		nn.FeedRows(p, "state", l.slots, func(dst []float32, slot int) { copy(dst, r.At(slot).State) })
		nn.FeedRows(p, "next_state", l.slots, func(dst []float32, slot int) { copy(dst, r.Next(slot).State) })
	}
	nn.FeedRows(p, "choice", l.slots, func(dst []int32, slot int) { copy(dst, r.Discrete(slot)) })
	nn.FeedRows(p, "goes_on", l.slots, func(dst []float32, slot int) {
		if dst[0] = 1; r.Ended(slot) {
			dst[0] = 0
		}
	})
	if s.Masked {
		nn.FeedRows(p, "mask", l.slots, func(dst []float32, slot int) { nn.Widen(dst, r.At(slot).Mask) })
		nn.FeedRows(p, "next_mask", l.slots, func(dst []float32, slot int) { nn.Widen(dst, r.Next(slot).Mask) })
	}
	nn.FeedRows(p, "alive", l.slots, func(dst []float32, slot int) { nn.Widen(dst, r.Alive(slot)) })
	if l.HiddenLen() > 0 {
		nn.FeedRows(p, "hidden", l.slots[:len(last)], func(dst []float32, slot int) { copy(dst, r.Hidden(slot)) })
		l.feedKeep(len(last))
	}
	p.Feed(p.Input("reward"), func(dst []float32) {
		for b, slot := range l.slots {
			dst[b] = extrinsic*r.Reward(slot) + r.Bonus(slot)
		}
	})
}

// feedKeep marks the steps of the chunks that continue an episode; width is the number of chunks.
func (l *q) feedKeep(width int) {
	n := l.build.Spec.Agents
	l.update.Feed(l.update.Input("keep"), func(dst []float32) {
		for i := range dst {
			dst[i] = 1 // also in the first step: the state before it is zero where an episode starts
		}
		for b, slot := range l.slots {
			if l.replay.Ended(slot) {
				clear(dst[(b+width)*n : (b+width+1)*n])
			}
		}
	})
}
