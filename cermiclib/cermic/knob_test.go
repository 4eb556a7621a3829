// SPDX-License-Identifier: Apache-2.0

package cermic

import (
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
