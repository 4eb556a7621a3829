// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"time"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
)

// TimeProfile says what one minibatch step of MAPPO spends its time on.
type TimeProfile struct {
	Transfer    time.Duration // gathering the minibatch on the host, into the inputs
	Forward     time.Duration // networks and losses, the tanh of hidden layers among them
	Activations time.Duration // gradients of what layers return
	Weights     time.Duration // gradients of weights
	Optimiser   time.Duration // norms, clip and two Adams
}

// Step is the time of the whole minibatch step.
func (s TimeProfile) Step() time.Duration {
	return s.Transfer + s.Forward + s.Activations + s.Weights + s.Optimiser
}

// profileRuns is how often each part is timed.
const profileRuns = 25

// TimeProfile builds the learner and times the parts of a minibatch step on x. The parts are graphs of their own, each with one part more than the one
// before, so that differences of their times add up to that of the step.
func (c MAPPO) TimeProfile(b *nn.Build, p policy.Config, x *rl.Rollout) (s TimeProfile, err error) {
	b.Backend.Updates = 0 // parts of a single step are timed
	built, err := c.Build(b, p)
	if err != nil {
		return s, err
	}
	m := built.(*mappo)
	if err := m.targets(x); err != nil {
		return s, err
	}
	for i := range m.order {
		m.order[i] = int32(i)
	}
	m.unfold(m.order[:min(m.batch/m.chunk, len(m.order))], x)
	programs := []*nn.Loop{m.update}
	for _, of := range [][]bool{{false, false}, {true, false}, {false, true}} {
		part, err := m.program("ppo.shares", false, func(sc *model.Scope, in ppoIn) []*Node { return m.gradients(sc, in, of[0], of[1]) })
		if err != nil {
			return s, err
		}
		programs = append(programs, part)
	}
	steps := []func() error{func() error { m.feed(m.update, x, 0); return nil }}
	for _, part := range programs {
		m.feed(part, x, 0)
		steps = append(steps, part.Run)
	}
	took, err := nn.Quickest(profileRuns, steps...)
	s.Transfer, took = took[0], took[1:]
	s.Forward, s.Activations, s.Weights, s.Optimiser = took[1], took[2]-took[1], took[3]-took[2], took[0]-took[3]
	return s, err
}

// gradients returns both losses and the sums of the gradients of inputs or of weights, as far as they are asked for. Either needs those of whatever
// lies between; that of the inputs themselves, which training does not need, is a narrow product.
func (m *mappo) gradients(sc *model.Scope, in ppoIn, inputs, weights bool) (out []*Node) {
	surrogate, _ := m.surrogate(in, m.output(sc.At("actor"), in, m.model))
	criticLoss := m.criticLoss(in, m.estimate(sc, in))
	out = []*Node{surrogate, criticLoss}
	for _, of := range []struct {
		loss  *Node
		scope string
		input *Node
	}{{surrogate, "actor", in.obs}, {criticLoss, "critic", in.state}} {
		var nodes []*Node
		if inputs && of.input != nil {
			nodes = append(nodes, of.input)
		}
		if weights {
			nodes = append(nodes, nn.TrainedBy(of.loss, sc.At("%s", of.scope))...)
		}
		out = append(out, nn.GradientSums(of.loss, nodes...)...)
	}
	return out
}
