// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"
	"fmt"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// TimeProfile says what one gradient step of the module spends its time on, and what comes before the first one.
type TimeProfile struct {
	Compile   time.Duration // of the graphs of score and step
	Reward    time.Duration // r^i of a whole rollout
	Gather    time.Duration // filling the inputs, on the host
	Forward   time.Duration // loss and what is reported of it
	Backward  time.Duration // gradients
	Optimiser time.Duration // norm, clip, Adam and the momentum encoder
}

// profileRuns is how often each part is timed.
const profileRuns = 9

// TimeProfile builds the module and times its parts on x, a rollout of b's task with labels. Forward and backward are graphs of their
// own, so the parts are differences between the times of graphs and add up to that of a step.
func (c Config) TimeProfile(b *nn.Build, x *rl.Rollout) (s TimeProfile, err error) {
	b.Backend.Updates = 0 // parts of a single step are timed
	start := time.Now()
	built, err := c.Build(b)
	if err != nil {
		return s, err
	}
	s.Compile = time.Since(start)
	m := built.(*module)
	if w, ok := m.mem.(memory.Watcher); ok {
		if err := w.Watch(x); err != nil {
			return s, err
		}
	}
	rows, weight := m.sampler.draw(x, c.Fraction, m.minibatch, m.stream("cermic shares", 0, 0))
	rows, weight = rows[:m.minibatch], weight[:m.minibatch]
	steps := []func() error{
		func() error { m.fit(x); return m.form.look(context.Background(), m.raw, x) },
		func() error { m.feed(x, rows, weight, 0); return nil },
		m.step.Run,
	}
	for i, backward := range []bool{false, true} {
		p, err := m.program(b, fmt.Sprintf("cermic.shares.%d", i), func(sc *model.Scope, in batch) []*graph.Node {
			return c.evaluate(sc, m.mem, in, backward)
		})
		if err != nil {
			return s, err
		}
		m.fill(p, x, rows, weight)
		steps = append(steps, p.Run)
	}
	took, err := nn.Quickest(profileRuns, steps...)
	s.Reward, s.Gather = took[0], took[1]
	s.Forward, s.Backward, s.Optimiser = took[3], took[4]-took[3], took[2]-took[4]
	return s, err
}

// evaluate returns the loss, what is reported of it and, if asked for, the sum of every gradient. It changes nothing but the
// running means of γ.
func (c Config) evaluate(sc *model.Scope, mem memory.Memory, in batch, backward bool) []*graph.Node {
	total, terms := c.losses(sc, mem, in)
	out := []*graph.Node{total}
	for _, t := range terms {
		out = append(out, t.value)
	}
	if !backward {
		return out
	}
	return append(out, nn.GradientSums(total, nn.TrainedBy(total, sc)...)...)
}

// fill gives p, a graph with the inputs of a step, a minibatch.
func (m *module) fill(p *nn.Loop, x *rl.Rollout, rows []int32, weight []float32) {
	step := m.step
	m.step = p
	m.feed(x, rows, weight, 0)
	m.step = step
}
