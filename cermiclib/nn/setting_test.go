// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn/xlacache"
	"cermic/envs"
	"cermic/envs/envtest/must"
)

// scaled is x times a setting, plus another, clipped; odd distinguishes graphs of different tests.
func scaled(t *testing.T, backend Backend, odd, factor, shift, bound float64) (result float64, listed int) {
	t.Helper()
	b := &Build{Spec: &envs.Spec{}, Backend: backend, Store: NewStore(1)}
	defer b.Close()
	p := must.Value(NewProgram(b, "setting", []Input{F32("x", 3)}, func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		y := Within(Plus(Times(in[0], "factor", factor), "shift", shift), "bound", -bound, bound)
		return []*graph.Node{graph.ReduceAllSum(graph.MulScalar(y, odd))}
	}))
	p.Feed(0, func(x []float32) { copy(x, []float32{1, 2, 3}) })
	must.Do(t, p.Run())
	return p.Scalar(0), len(Variables(b.Store, ""))
}

func TestMovedSettingCompilesNothing(t *testing.T) {
	backend := must.Value(Open())
	odd := 1 + rand.Float64() // a graph that no process has compiled before
	sum := func(factor, shift, bound float64) float64 {
		v, listed := scaled(t, backend, odd, factor, shift, bound)
		if listed != 0 {
			t.Errorf("%d settings are listed as variables, which checkpoints would hold", listed)
		}
		return v / odd
	}
	near := func(got, want float64) {
		t.Helper()
		if d := got - want; d > 1e-4 || d < -1e-4 {
			t.Errorf("got %g, want %g", got, want)
		}
	}
	near(sum(2, 1, 100), 15)
	_, before := xlacache.Counts()
	near(sum(3, -1, 100), 15)
	near(sum(3, 1, 5), 14)
	if _, after := xlacache.Counts(); after != before {
		t.Errorf("moving settings compiled %d graphs", after-before)
	}
}

func TestSettingHasOneValueInAStore(t *testing.T) {
	b := goBuild(t, 1)
	defer b.Close()
	_, err := NewProgram(b, "two", []Input{F32("x", 3)}, func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{Times(Times(in[0], "factor", 2), "factor", 3)}
	})
	must.Refuse(t, err, "factor")
}
