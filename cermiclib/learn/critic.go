// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// What a critic looks at.
const (
	CentralCritic = ""    // the state: one V(s) for all agents
	OwnCritic     = "own" // each agent's observation: V(o_i), as independent learners have it
)

// critic estimates values in blocks of one shape. A frame has one value, or one for each agent.
type critic struct {
	spec    *envs.Spec
	own     bool
	block   int // inputs of a call
	forward *nn.Program
	out     []float32 // [block]
}

func newCritic(b *nn.Build, own bool, hidden []int, frames int) (*critic, error) {
	c := &critic{spec: b.Spec, own: own}
	if c.width() == 0 {
		return nil, fmt.Errorf("%s has no state for a centralised critic: set learner.critic=%s", b.Spec.Name, OwnCritic)
	}
	c.block = frames * c.each()
	c.out = make([]float32, c.block)
	var err error
	c.forward, err = nn.NewProgram(b, "value", []nn.Input{nn.F32("state", c.block, c.width())},
		func(sc *model.Scope, in []*Node) []*Node { return []*Node{valueNet(sc, in[0], hidden)} })
	return c, err
}

// each is the number of values of a frame: 1 or N.
func (c *critic) each() int {
	if c.own {
		return c.spec.Agents
	}
	return 1
}

// width is the length of one input: S or O.
func (c *critic) width() int {
	if c.own {
		return c.spec.ObsLen()
	}
	return c.spec.State
}

// valueNet maps states or observations [B,S] to values [B].
func valueNet(sc *model.Scope, state *Node, hidden []int) *Node {
	return Reshape(nn.MLP(sc.At("critic"), state, hidden, Tanh, 1), -1)
}

// seen is what the critic looks at in all frames of x, [T+1,E,S] or [T+1,E,N,O].
func (c *critic) seen(x *rl.Rollout) []float32 {
	if c.own {
		return x.Obs
	}
	return x.State
}

// values writes the value of every input [rows,S] into dst [rows].
func (c *critic) values(dst, inputs []float32) error {
	s := c.width()
	for at := 0; at < len(dst); at += c.block {
		n := min(c.block, len(dst)-at)
		c.forward.Feed(0, func(buf []float32) { copy(buf, inputs[at*s:(at+n)*s]) })
		if err := c.forward.Run(); err != nil {
			return err
		}
		c.forward.Read(0, c.out)
		copy(dst[at:at+n], c.out)
	}
	return nil
}

// valuesAtEnds writes the values at the true end of every episode that ended in x into dst [T,E] or [T,E,N]; others stay.
func (c *critic) valuesAtEnds(dst []float32, x *rl.Rollout) error {
	var places []int
	var inputs []float32
	for frame := range x.T * x.E {
		if !x.Done(frame/x.E, frame%x.E) {
			continue
		}
		for i := range c.each() {
			places = append(places, frame*c.each()+i)
			if c.own {
				inputs = append(inputs, x.NextRow(frame*x.N+i)...)
			} else {
				inputs = append(inputs, x.NextState(frame)...)
			}
		}
	}
	v := make([]float32, len(places))
	if err := c.values(v, inputs); err != nil {
		return err
	}
	for k, at := range places {
		dst[at] = v[k]
	}
	return nil
}
