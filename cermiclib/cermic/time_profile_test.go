// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

func TestSharesTimeEveryPartAndLeaveTheModuleUsable(t *testing.T) {
	spec := fakeSpec(4)
	b := &nn.Build{Spec: spec, Backend: pureGo(t), Store: nn.NewStore(1), Seed: 1}
	s, err := small().TimeProfile(b, fakeRollout(spec, 9, 0))
	if err != nil {
		t.Fatal(err)
	}
	// Forward and the whole step are times; the rest are differences of times, which noise may turn around in a graph this small.
	if s.Compile <= 0 || s.Gather <= 0 || s.Forward <= 0 || s.Forward+s.Backward+s.Optimiser <= 0 {
		t.Errorf("got %+v, want positive times", s)
	}
}

func TestTheTimedGraphComputesTheTrainedLossAndTrainsNothing(t *testing.T) {
	spec, c := fakeSpec(4), small()
	c.ConsistencyDecay = 0 // γ is then that of the minibatch, whichever graph ran before
	b := &nn.Build{Spec: spec, Backend: pureGo(t), Store: nn.NewStore(1), Seed: 1}
	built, err := c.Build(b)
	if err != nil {
		t.Fatal(err)
	}
	m, step := built.(*module), built.(*module).step
	timed, err := m.program(b, "timed", func(sc *model.Scope, in batch) []*graph.Node { return c.evaluate(sc, m.mem, in, true) })
	if err != nil {
		t.Fatal(err)
	}
	x := fakeRollout(spec, 9, 0)
	rows, weight := m.sampler.draw(x, 0.1, m.minibatch, m.stream("rows", 0, 0))
	before := weights(b.Store, "encoder")
	for _, m.step = range []*nn.Loop{timed, step} {
		m.feed(x, rows[:m.minibatch], weight[:m.minibatch], 0)
		if err := m.step.Run(); err != nil {
			t.Fatal(err)
		}
		if trains := m.step == step; slices.Equal(before, weights(b.Store, "encoder")) == trains {
			t.Errorf("the encoder changes: %v, want %v", !trains, trains)
		}
	}
	reported := make([]float32, len(m.names))
	step.Read(0, reported)
	// The same sums, compiled apart.
	if got, want := timed.Scalar(0), float64(reported[slices.Index(m.names, "cermic/loss")]); math.Abs(got-want) > 1e-5*math.Abs(want) {
		t.Errorf("the timed loss is %g, the trained one %g", got, want)
	}
}
