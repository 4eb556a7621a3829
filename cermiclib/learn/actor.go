// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// Scale of the squashed Gaussian: torchrl's biased_softplus_1.0, which is 1 where the network's output is 0, and its floor.
const (
	scaleFloor = 0.01
	scaleMin   = 1e-4
)

var scaleBias = math.Log(math.Exp(1-scaleFloor) - 1) // 0.5255

// actorOutputs is how many numbers a policy network returns for one agent: K logits, or D means and D scales.
func actorOutputs(a *envs.ActSpec) int {
	if a.Choices > 0 {
		return a.Choices
	}
	return 2 * a.Dim
}

// gaussian splits y [..., 2D] into mean and scale [..., D].
func gaussian(y *Node) (mean, scale *Node) {
	last := y.Rank() - 1
	dim := y.Shape().Dimensions[last] / 2
	axes := make([]SliceAxisSpec, last+1)
	for i := range last {
		axes[i] = AxisRange()
	}
	axes[last] = AxisRange(0, dim)
	mean = Slice(y, axes...)
	axes[last] = AxisRange(dim, 2*dim)
	return mean, MaxScalar(AddScalar(Softplus(AddScalar(Slice(y, axes...), scaleBias)), scaleFloor), scaleMin)
}

// logProbGaussian is the log-density of the squashed action whose raw value is u [B,N,D], in physical units, summed over D:
//
//	log π(a) = Σ_d [ log N(u_d; μ_d, σ_d) − log h_d − 2(log 2 − u_d − softplus(−2u_d)) ]
func logProbGaussian(u, mean, scale *Node, a *envs.ActSpec) *Node {
	logHalf := 0.0
	for d := range a.Dim {
		logHalf += math.Log(float64(a.High[d]-a.Low[d])/2) + 0.5*math.Log(2*math.Pi)
	}
	z := Div(Sub(u, mean), scale)
	slope := MulScalar(Sub(AddScalar(Neg(u), math.Ln2), Softplus(MulScalar(u, -2))), 2)
	each := Sub(Sub(MulScalar(Square(z), -0.5), Log(scale)), slope)
	return AddScalar(ReduceSum(each, -1), -logHalf)
}

// logProbCategorical is the masked log-softmax of logits [B,N,K] at choice [B,N]; mask [B,N,K] holds 1 for allowed choices.
func logProbCategorical(logits, mask, choice *Node) (logp, all *Node) {
	logits = Where(GreaterThan(mask, ZerosLike(mask)), logits, FillScalar(logits.Graph(), logits.Shape(), -1e9))
	all = LogSoftmax(logits, -1)
	k := logits.Shape().Dimensions[logits.Rank()-1]
	return ReduceSum(Mul(all, OneHot(choice, k, logits.DType())), -1), all
}

// actor runs a policy network for acting: one call for all agents of all copies. Its variables lie below path.
type actor struct {
	spec    *envs.Spec
	policy  policy.Policy
	forward *nn.Program
}

func newActor(b *nn.Build, p policy.Policy, path ...string) (*actor, error) {
	s := b.Spec
	inputs := []nn.Input{nn.F32("obs", s.Copies, s.Agents, s.ObsLen())}
	if c := p.CarryLen(); c > 0 {
		inputs = append(inputs, nn.F32("carry", s.Copies, s.Agents, c))
	}
	forward, err := nn.NewProgram(b, "act", inputs, func(sc *model.Scope, in []*Node) []*Node {
		var carry *Node
		if len(in) > 1 {
			carry = in[1]
		}
		y, next := p.Net(below(sc, path...), in[0], carry, actorOutputs(&s.Act))
		out := []*Node{y}
		if s.Act.Choices == 0 {
			mean, scale := gaussian(y)
			out = []*Node{mean, scale}
		}
		if next != nil {
			out = append(out, next)
		}
		return out
	})
	return &actor{s, p, forward}, err
}

// below returns the scope that names lead to from sc.
func below(sc *model.Scope, names ...string) *model.Scope {
	for _, name := range names {
		sc = sc.At("%s", name)
	}
	return sc
}

func (a *actor) act(in *rl.Obs, out *rl.Dist) error {
	a.forward.Feed(0, func(dst []float32) { copy(dst, in.Obs) })
	if a.policy.CarryLen() > 0 {
		a.forward.Feed(1, func(dst []float32) { copy(dst, in.Carry) })
	}
	if err := a.forward.Run(); err != nil {
		return err
	}
	last := 1
	if a.spec.Act.Choices > 0 {
		a.forward.Read(0, out.Logits)
	} else {
		a.forward.Read(0, out.Mean)
		a.forward.Read(1, out.Scale)
		last = 2
	}
	out.Mask = in.Mask
	if a.policy.CarryLen() > 0 {
		a.forward.Read(last, out.Carry)
	}
	return nil
}

// critic estimates V(s) of whole frames in blocks of one shape.
type critic struct {
	spec    *envs.Spec
	block   int
	forward *nn.Program
}

func newCritic(b *nn.Build, hidden []int, block int) (*critic, error) {
	if b.Spec.State == 0 {
		return nil, fmt.Errorf("%s has no state for a centralised critic", b.Spec.Name)
	}
	forward, err := nn.NewProgram(b, "value", []nn.Input{nn.F32("state", block, b.Spec.State)},
		func(sc *model.Scope, in []*Node) []*Node { return []*Node{valueNet(sc, in[0], hidden)} })
	return &critic{b.Spec, block, forward}, err
}

// valueNet maps states [B,S] to V(s) [B].
func valueNet(sc *model.Scope, state *Node, hidden []int) *Node {
	return Reshape(nn.MLP(sc.At("critic"), state, hidden, Tanh, 1), -1)
}

// values writes V of every row of state [rows,S] into dst [rows].
func (c *critic) values(dst, state []float32) error {
	s := c.spec.State
	out := make([]float32, c.block)
	for at := 0; at < len(dst); at += c.block {
		n := min(c.block, len(dst)-at)
		c.forward.Feed(0, func(buf []float32) { copy(buf, state[at*s:(at+n)*s]) })
		if err := c.forward.Run(); err != nil {
			return err
		}
		c.forward.Read(0, out)
		copy(dst[at:at+n], out)
	}
	return nil
}

// valuesAtEnds writes V of the true last state of every frame that ended an episode into dst [T,E]; others stay.
func (c *critic) valuesAtEnds(dst []float32, x *rl.Rollout) error {
	var frames []int
	var states []float32
	for frame := range dst {
		if x.Done(frame/x.E, frame%x.E) {
			frames = append(frames, frame)
			states = append(states, x.NextState(frame)...)
		}
	}
	v := make([]float32, len(frames))
	if err := c.values(v, states); err != nil {
		return err
	}
	for k, frame := range frames {
		dst[frame] = v[k]
	}
	return nil
}
