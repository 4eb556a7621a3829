// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// OwnCritic is the critic of independent learners, V(o_i) of each agent's observation; else it is V(s) for all agents.
const OwnCritic = "own"

// critic estimates values in blocks of one shape. A frame has one value, or one for each agent.
//
// Reading: if agents observe cells, a central critic reads the cells of all agents, because the state of such tasks
// lacks their content. It applies the same convolutions to each agent's cells and shares them with no other network.
// BenchMARL's critic convolves over a picture of the whole world, which the paper does not mention. All views together
// show every part that any agent sees.
type critic struct {
	spec    *envs.Spec
	own     bool
	hidden  []int
	block   int // inputs of a call
	forward *nn.Program
	out     []float32 // [block]
}

func newCritic(b *nn.Build, own bool, hidden []int, frames int) (*critic, error) {
	c := &critic{spec: b.Spec, own: own, hidden: hidden}
	if c.width() == 0 {
		return nil, fmt.Errorf("%s has no state for a centralised critic: set learner.critic=%s", b.Spec.Name, OwnCritic)
	}
	c.block = frames * c.each()
	c.out = make([]float32, c.block)
	var err error
	c.forward, err = nn.NewProgram(b, "value", []nn.Input{nn.F32("state", c.block, c.width())},
		func(sc *model.Scope, in []*Node) []*Node { return []*Node{c.net(sc, in[0])} })
	return c, err
}

// each is the number of values of a frame: 1 or N.
func (c *critic) each() int {
	if c.own {
		return c.spec.Agents
	}
	return 1
}

// readsState reports whether inputs are states; otherwise they are observations, of one agent or of all.
func (c *critic) readsState() bool { return !c.own && c.spec.CellLen() == 0 }

// width is the length of one input: S, I or N·I.
func (c *critic) width() int {
	if c.readsState() {
		return c.spec.State
	}
	return c.spec.Agents / c.each() * c.spec.InLen()
}

// net maps inputs [B,W] to values [B].
func (c *critic) net(sc *model.Scope, in *Node) *Node {
	sc = sc.At("critic")
	if !c.readsState() {
		b := in.Shape().Dimensions[0]
		in = Reshape(nn.ReadObs(sc, c.spec, Reshape(in, -1, c.spec.InLen())), b, -1)
	}
	return Reshape(nn.MLP(sc, in, c.hidden, Tanh, 1), -1)
}

// valuesOf writes the value of every input of x into dst [T+1,E] or [T+1,E,N].
func (c *critic) valuesOf(ctx context.Context, dst []float32, x *rl.Rollout) error {
	return c.forward.Blocks(ctx, len(dst), c.block, func(from, to int) {
		c.forward.Feed(0, func(buf []float32) {
			buf = buf[:(to-from)*c.width()]
			if c.readsState() {
				copy(buf, x.State[from*c.width():])
			} else {
				x.GatherFrom(buf, from*c.spec.Agents/c.each())
			}
		})
	}, func(from, to int) {
		c.forward.Read(0, c.out)
		copy(dst[from:to], c.out)
	})
}
