// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"testing"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/xlacache"
	"cermic/envs/envtest/must"
)

// α is a variable of the graph, so another value reuses the compiled graph.
func TestAnotherAlphaCompilesNothing(t *testing.T) {
	build := func(alpha float64) {
		backend := must.Value(nn.Open())
		c := small()
		c.Alpha = alpha
		b := &nn.Build{Spec: fakeSpec(3), Backend: backend, Store: nn.NewStore(1), Seed: 1}
		defer b.Close()
		must.Value(c.Build(b))
	}
	build(0.2)
	loaded, compiled := xlacache.Counts()
	if loaded+compiled == 0 {
		t.Skip("this backend keeps no compiled graphs")
	}
	build(0.7)
	if l, c := xlacache.Counts(); c != compiled || l == loaded {
		t.Errorf("another α loads %d graphs and compiles %d, want none compiled", l-loaded, c-compiled)
	}
}

func TestAlphaWeighsTheExplorationLoss(t *testing.T) {
	c := small()
	c.Alpha, c.Contrast, c.ConsistencyCoef = 0.7, 0, 0
	spec := fakeSpec(3)
	m, _ := newModule(t, c, spec, 1)
	s := must.Value(m.Update(t.Context(), fakeRollout(spec, 9, 0)))
	want := s["cermic/loss_upper"] + s["cermic/loss_lower"] - 0.7*s["cermic/explore"]
	const near = 1e-4 // float32 numbers around 1
	if got := s["cermic/loss"]; math.Abs(got-want) > near || math.Abs(s["cermic/explore"]) < 0.1 {
		t.Errorf("the loss is %g with terms %v, want %g", got, s, want)
	}
}
