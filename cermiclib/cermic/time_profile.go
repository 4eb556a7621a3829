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

// profileRuns is how often each part is timed; the quickest counts, since other programs can only slow it down.
const profileRuns = 9

// TimeProfile builds the module and times its parts on x, a rollout of b's task with labels. Forward and backward are graphs of their
// own, so the parts are differences between the times of graphs and add up to that of a step.
func (c Config) TimeProfile(b *nn.Build, x *rl.Rollout) (s TimeProfile, err error) {
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
	step, err := m.quickest(m.step, x, rows, weight)
	if err != nil {
		return s, err
	}
	var parts [2]time.Duration
	for i, backward := range []bool{false, true} {
		p, err := m.program(b, fmt.Sprintf("cermic.shares.%d", i), func(sc *model.Scope, in batch) []*graph.Node {
			return c.evaluate(sc, m.mem, in, backward)
		})
		if err != nil {
			return s, err
		}
		if parts[i], err = m.quickest(p, x, rows, weight); err != nil {
			return s, err
		}
	}
	s.Reward = quickest(func() error { m.fit(x); return m.form.look(context.Background(), m.raw, x) }, &err)
	s.Gather = quickest(func() error { m.feed(x, rows, weight, 0); return nil }, &err)
	s.Forward, s.Backward, s.Optimiser = parts[0], parts[1]-parts[0], step-parts[1]
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
	var nodes []*graph.Node
	for _, v := range nn.Variables(sc.Store(), sc.Scope()) {
		if v.Trainable && v.InUseByGraph(total.Graph()) {
			nodes = append(nodes, v.NodeValue(total.Graph()))
		}
	}
	for _, g := range graph.Gradient(total, nodes...) {
		out = append(out, graph.ReduceAllSum(g))
	}
	return out
}

// quickest times one run of p on a minibatch.
func (m *module) quickest(p *nn.Program, x *rl.Rollout, rows []int32, weight []float32) (least time.Duration, err error) {
	step := m.step
	m.step = p
	m.feed(x, rows, weight, 0)
	m.step = step
	return quickest(p.Run, &err), err
}

// quickest is the least time that f takes; an error of f goes into err.
func quickest(f func() error, err *error) (least time.Duration) {
	for i := range profileRuns {
		start := time.Now()
		if e := f(); e != nil {
			*err = e
			return 0
		}
		if t := time.Since(start); i == 0 || t < least {
			least = t
		}
	}
	return least
}
