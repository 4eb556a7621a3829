// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// returns are the targets y [B] of frames with a reward, whose next value counts where goesOn is 1; next is Q_tot⁻ of
// what followed each. With td_lambda they mix those of all steps up to the end of a chunk, where an episode may end
// on the way:
//
//	y_t = r_t + γ·goes_on_t·( (1 − λ)·Q_{t+1} + λ·y_{t+1} ),   y_L = Q_L
func (l *q) returns(reward, goesOn, next *Node) *Node {
	if l.Lambda == 0 {
		return Add(reward, nn.Times(Mul(goesOn, next), "learner/discount", l.Discount))
	}
	width := next.Shape().Dimensions[0] / l.chunk
	at := func(x *Node, t int) *Node { return Slice(x, AxisRange(t*width, (t+1)*width)) }
	y, steps := at(next, l.chunk-1), make([]*Node, l.chunk)
	for t := l.chunk - 1; t >= 0; t-- {
		ahead := Add(nn.Times(at(next, t), "learner/td_lambda/ahead", 1-l.Lambda), nn.Times(y, "learner/td_lambda", l.Lambda))
		y = Add(at(reward, t), nn.Times(Mul(at(goesOn, t), ahead), "learner/discount", l.Discount))
		steps[t] = y
	}
	return Concatenate(steps, 0)
}

// follow moves the target networks polyak_tau of the way to the online ones.
func (l *q) follow(sc *model.Scope, g *Graph) {
	for _, part := range []string{utilityScope, mixerScope} {
		nn.Follow(g, sc.At(onlineScope).At("%s", part), sc.At(targetScope).At("%s", part), l.Polyak)
	}
}

// newMove compiles a step of the targets alone, for target_frames; nil if they move with every gradient step.
func (l *q) newMove() (*nn.Program, error) {
	if l.TargetFrames == 0 {
		return nil, nil
	}
	inputs := []nn.Input{nn.F32("unused", 1)} // a graph has at least one
	return nn.NewProgram(l.build, "q.targets", inputs, func(sc *model.Scope, in []*Node) []*Node {
		l.follow(sc, in[0].Graph())
		return in
	})
}

// moveTargets moves the targets if the frames of x have reached or passed a multiple of target_frames.
func (l *q) moveTargets(x *rl.Rollout) error {
	if l.move == nil || (x.Frames+x.T*x.E)/l.TargetFrames == x.Frames/l.TargetFrames {
		return nil
	}
	return l.move.Run()
}

// canReach refuses td_lambda for a policy that is trained on single steps.
func (l *q) canReach() error {
	if l.Lambda > 0 && l.chunk == 1 {
		return fmt.Errorf("learner.td_lambda is %g, but this policy is trained on single steps, which have no next target to mix in: "+
			"choose a recurrent policy with bptt above 1, or set td_lambda=0", l.Lambda)
	}
	return nil
}
