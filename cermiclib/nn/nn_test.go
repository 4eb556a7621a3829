// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn/nntest"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// goBuild is a Build on the pure Go backend, which every machine has.
func goBuild(t testing.TB, seed uint64) *Build {
	t.Helper()
	b := must.Value(OpenConfig(goConfig))
	return &Build{Backend: b, Store: NewStore(seed), Seed: seed}
}

// TestAdamOnAnMLPFollowsAnIndependentFloat64Implementation: an MLP 3-4-2 with tanh and its squared loss.
func TestAdamOnAnMLPFollowsAnIndependentFloat64Implementation(t *testing.T) {
	b := goBuild(t, 7)
	adam := Adam{LR: 0.01, Eps: 1e-6, Clip: 0.5}
	inputs := []Input{F32("x", 5, 3), F32("target", 5, 2)}
	p := must.Value(NewProgram(b, "step", inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		y := MLP(sc.At("net"), in[0], []int{4}, graph.Tanh, 2)
		loss := graph.MulScalar(graph.ReduceAllMean(graph.Square(graph.Sub(y, in[1]))), 2)
		return []*graph.Node{adam.Minimize(sc.At("net"), loss)}
	}))
	read := func() map[string][]float64 { return nntest.Read(Variables(b.Store, "/net"), "/net/") }
	names := []string{"layer_0/weights", "layer_0/bias", "out/weights", "out/bias"}
	ref, params, r := &nntest.Adam{LR: adam.LR, Eps: adam.Eps, Clip: adam.Clip}, read(), rng.New(1, "data")
	var data [2][]float32
	for i, size := range []int{15, 10} {
		for range size {
			data[i] = append(data[i], r.Norm())
		}
		p.Feed(i, func(dst []float32) { copy(dst, data[i]) })
	}
	loss := func() (sum float64) { // mean over rows of the squared error
		for k := range 5 {
			hidden := nntest.Apply(nntest.Linear(params, "layer_0", nntest.Wide(data[0][3*k:3*k+3]), true), math.Tanh)
			for o, y := range nntest.Linear(params, "out", hidden, true) {
				sum += (y - float64(data[1][2*k+o])) * (y - float64(data[1][2*k+o])) / 5
			}
		}
		return sum
	}
	for step := range 20 {
		must.Do(t, p.Run())
		want := ref.Step(params, names, loss)
		// float32 against float64 over at most 20 steps of 0.01
		if got := p.Scalar(0); math.Abs(got-want) > 1e-4*want {
			t.Fatalf("step %d: gradient norm %g, want %g", step, got, want)
		}
	}
	after := read()
	for _, name := range names {
		for i, want := range params[name] {
			if got := after[name][i]; math.Abs(got-want) > 2e-5 {
				t.Errorf("%s[%d] is %g after 20 steps, want %g", name, i, got, want)
			}
		}
	}
}

func TestInitialWeightsDependOnSeedAndPathOnly(t *testing.T) {
	weights := func(seed uint64, first, second string) []float32 {
		b := goBuild(t, seed)
		must.Value(NewProgram(b, "init", []Input{F32("x", 1, 3)}, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
			a, c := Linear(sc.At("%s", first), in[0], 2), Linear(sc.At("%s", second), in[0], 2)
			return []*graph.Node{graph.Add(a, c)}
		}))
		var out []float32
		for _, row := range b.Store.GetVariable("/one/weights").MustValue().Value().([][]float32) {
			out = append(out, row...)
		}
		return out
	}
	a, b, c := weights(1, "one", "two"), weights(1, "two", "one"), weights(2, "one", "two")
	same := 0
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("the order of building changed a weight: %g and %g", a[i], b[i])
		}
		if math.Abs(float64(a[i])) > 1/math.Sqrt(3) {
			t.Errorf("weight %g outside ±1/√3", a[i])
		}
		if a[i] == c[i] {
			same++
		}
	}
	if same == len(a) {
		t.Error("another seed gave the same weights")
	}
}

func TestAProgramThatCannotBeBuiltSaysWhichAndWhy(t *testing.T) {
	b := goBuild(t, 1)
	_, err := NewProgram(b, "broken", []Input{F32("x", 2, 3)}, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{graph.Add(in[0], graph.Transpose(in[0], 0, 1))}
	})
	must.Refuse(t, err, "graph broken")
}

func TestRunningAProgramKeepsVariablesAndInputs(t *testing.T) {
	b := goBuild(t, 1)
	p := must.Value(NewProgram(b, "count", []Input{F32("by", 1)}, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		v := Frozen(sc, in[0], "n", Constant(10), 1)
		next := graph.Add(v.NodeValue(in[0]), in[0])
		v.SetNodeValue(next)
		return []*graph.Node{next}
	}))
	p.Feed(0, func(dst []float32) { dst[0] = 3 })
	for _, want := range []float64{13, 16, 19} {
		must.Do(t, p.Run())
		if got := p.Scalar(0); got != want {
			t.Fatalf("got %g, want %g", got, want)
		}
	}
	if n := nntest.NumParameters(Variables(b.Store, "/")); n != 0 {
		t.Errorf("%d trainable parameters, want 0: the counter is frozen", n)
	}
}

// TestEachRowReadsEveryRowOfEveryOutput: seven rows, three at a time.
func TestEachRowReadsEveryRowOfEveryOutput(t *testing.T) {
	b := goBuild(t, 1)
	inputs := []Input{F32("x", 3, 2), F32("y", 3)}
	p := must.Value(NewProgram(b, "rows", inputs, func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{graph.Add(graph.ReduceSum(in[0], -1), in[1]), graph.MulScalar(in[0], 2)}
	}))
	const rows = 7
	write := []func([]float32, int){
		func(dst []float32, row int) { dst[0], dst[1] = float32(row), 10 },
		func(dst []float32, row int) { dst[0] = float32(100 * row) },
	}
	var sums [rows]float32
	var doubles [rows][2]float32
	must.Do(t, p.EachRow(t.Context(), rows, write, func(output, row int, values []float32) {
		if output == 0 {
			sums[row] = values[0]
		} else {
			copy(doubles[row][:], values)
		}
	}))
	for row := range rows {
		x := float32(row)
		if sums[row] != 101*x+10 || doubles[row] != [2]float32{2 * x, 20} {
			t.Errorf("row %d gives %g and %v", row, sums[row], doubles[row])
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.EachRow(stopped, rows, write, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped, it ends with %v", err)
	}
}

// On the pure Go backend LeakyReLU is a product; values and gradients are those of max(x, 0.2·x).
func TestLeakyReLUIsTheMaximum(t *testing.T) {
	x := []float32{-3, -0.1, -1e-30, 0, float32(math.Copysign(0, -1)), 1e-30, 0.7, 4}
	weight := []float32{0.3, -2, 5, 1.5, -0.7, 0.1, -3, 2}
	p := must.Value(NewProgram(goBuild(t, 1), "leaky", []Input{F32("x", len(x)), F32("weight", len(x))},
		func(_ *model.Scope, in []*graph.Node) []*graph.Node {
			var out []*graph.Node
			for _, y := range []*graph.Node{LeakyReLU(in[0]), graph.Max(in[0], graph.MulScalar(in[0], 0.2))} {
				out = append(out, y, graph.Gradient(graph.ReduceAllSum(graph.Mul(y, in[1])), in[0])[0])
			}
			return out
		}))
	p.Feed(0, func(dst []float32) { copy(dst, x) })
	p.Feed(1, func(dst []float32) { copy(dst, weight) })
	must.Do(t, p.Run())
	read := func(i int) []float32 {
		out := make([]float32, len(x))
		p.Read(i, out)
		return out
	}
	for i, what := range []string{"values", "gradients"} {
		if got, want := read(i), read(i+2); !slices.Equal(got, want) {
			t.Errorf("%s %v, want %v", what, got, want)
		}
	}
}
