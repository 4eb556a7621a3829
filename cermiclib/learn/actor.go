// SPDX-License-Identifier: Apache-2.0

package learn

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// actor runs a policy network for acting: one call for all agents of all environments. Its variables lie below path.
type actor struct {
	spec    *envs.Spec
	policy  policy.Policy
	forward *nn.Program
}

func newActor(b *nn.Build, p policy.Policy, path ...string) (*actor, error) {
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
		y, next := p.Net(below(sc, path...), withContext(in["obs"], in["context"]), in["hidden"], nn.ActionOutputs(&s.Act))
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
	return &actor{s, p, forward}, err
}

// below returns the scope at the path names below sc.
func below(sc *model.Scope, names ...string) *model.Scope {
	for _, name := range names {
		sc = sc.At("%s", name)
	}
	return sc
}

// withContext is the input of a policy network: obs [...,I] followed by the context [...,F]; nil for none.
func withContext(obs, context *Node) *Node {
	if context == nil {
		return obs
	}
	return nn.Beside(obs, context)
}

func (a *actor) act(in *rl.Obs, out *rl.Dist) error {
	a.forward.Feed(0, func(dst []float32) { in.Gather(dst, a.spec) })
	if a.policy.HiddenLen() > 0 {
		a.forward.Feed(1, func(dst []float32) { copy(dst, in.Hidden) })
	}
	if in.Context != nil {
		a.forward.Feed(a.forward.Input("context"), func(dst []float32) { copy(dst, in.Context) })
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
	if a.policy.HiddenLen() > 0 {
		a.forward.Read(last, out.Hidden)
	}
	return nil
}
