// SPDX-License-Identifier: Apache-2.0

package learn

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
)

// actor runs a policy network for acting: one call for all agents of all environments.
type actor struct {
	build   *nn.Build
	policy  policy.Policy
	chunk   int // L, successive steps that are trained on together
	forward *nn.Program
}

// newActor builds the policy network of c, whose variables lie below the scope path.
func newActor(b *nn.Build, c policy.Config, path string) (*actor, error) {
	p, err := c.Build(b)
	if err != nil {
		return nil, err
	}
	s := b.Spec
	inputs := []nn.Input{nn.F32("obs", s.NumEnvs, s.Agents, s.InLen())}
	if c := p.HiddenLen(); c > 0 {
		inputs = append(inputs, nn.F32("hidden", s.NumEnvs, s.Agents, c))
	}
	if b.Context > 0 {
		inputs = append(inputs, nn.F32("context", s.NumEnvs, s.Agents, b.Context))
	}
	forward, err := nn.NewProgram(b, "act", inputs, func(sc *model.Scope, nodes []*Node) []*Node {
		in := nn.Named(inputs, nodes)
		seen, outputs := withContext(in["obs"], in["context"]), nn.ActionOutputs(&s.Act)
		y, next := p.Net(sc.Store().Scope(path), seen, in["hidden"], outputs)
		out := []*Node{y}
		if s.Act.Choices == 0 {
			mean, scale := nn.Gaussian(y)
			out = []*Node{mean, scale}
		}
		if next != nil {
			out = append(out, next)
		}
		return out
	})
	return &actor{b, p, policy.Chunk(p), forward}, err
}

// HiddenLen is the length of the policy's recurrent state.
func (a *actor) HiddenLen() int { return a.policy.HiddenLen() }

// withContext is the input of a policy network: obs [...,I] followed by the context [...,F]; nil for none.
func withContext(obs, context *Node) *Node {
	if context == nil {
		return obs
	}
	return nn.Beside(obs, context)
}

// Act computes the outputs of the policy network for all rows in one graph call.
func (a *actor) Act(in *rl.Obs, out *rl.Dist) error {
	a.forward.Feed(0, func(dst []float32) { in.Gather(dst, a.build.Spec) })
	if a.HiddenLen() > 0 {
		a.forward.Feed(1, func(dst []float32) { copy(dst, in.Hidden) })
	}
	if in.Context != nil {
		a.forward.Feed(a.forward.Input("context"), func(dst []float32) { copy(dst, in.Context) })
	}
	if err := a.forward.Run(); err != nil {
		return err
	}
	last := 1
	if a.build.Spec.Act.Choices > 0 {
		a.forward.Read(0, out.Logits)
	} else {
		a.forward.Read(0, out.Mean)
		a.forward.Read(1, out.Scale)
		last = 2
	}
	out.Mask = in.Mask
	if a.HiddenLen() > 0 {
		a.forward.Read(last, out.Hidden)
	}
	return nil
}
