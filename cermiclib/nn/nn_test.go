// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs/envtest"
	"cermic/envs/rng"
)

// goBuild is a Build on the pure Go backend, which every machine has.
func goBuild(t testing.TB, seed uint64) *Build {
	t.Helper()
	b := envtest.Must(OpenConfig(goConfig))
	return &Build{Backend: b, Store: NewStore(seed), Seed: seed}
}

// reference is an MLP 3-4-2 with tanh, its squared loss and Adam with norm clipping, in float64 and without any of the code
// under test.
type reference struct {
	w1, b1, w2, b2 []float64 // [4,3] [4] [2,4] [2]
	m, v           [4][]float64
	steps          float64
}

func (r *reference) params() [4]*[]float64 { return [4]*[]float64{&r.w1, &r.b1, &r.w2, &r.b2} }

func (r *reference) forward(x []float64) (h, y []float64) {
	h, y = make([]float64, 4), make([]float64, 2)
	for i := range h {
		h[i] = r.b1[i]
		for j := range 3 {
			h[i] += r.w1[i*3+j] * x[j]
		}
		h[i] = math.Tanh(h[i])
	}
	for o := range y {
		y[o] = r.b2[o]
		for i := range 4 {
			y[o] += r.w2[o*4+i] * h[i]
		}
	}
	return h, y
}

// step does one Adam step on mean_rows Σ_o (y − target)² and returns the gradient's norm.
func (r *reference) step(xs, targets [][]float64, lr, eps, clip float64) float64 {
	grads := [4][]float64{make([]float64, 12), make([]float64, 4), make([]float64, 8), make([]float64, 2)}
	for k, x := range xs {
		h, y := r.forward(x)
		dh := make([]float64, 4)
		for o := range y {
			d := 2 * (y[o] - targets[k][o]) / float64(len(xs))
			grads[3][o] += d
			for i := range h {
				grads[2][o*4+i] += d * h[i]
				dh[i] += d * r.w2[o*4+i]
			}
		}
		for i := range h {
			d := dh[i] * (1 - h[i]*h[i])
			grads[1][i] += d
			for j := range 3 {
				grads[0][i*3+j] += d * x[j]
			}
		}
	}
	norm := 0.0
	for _, g := range grads {
		for _, d := range g {
			norm += d * d
		}
	}
	norm = math.Sqrt(norm)
	scale := math.Min(1, clip/(norm+1e-6))
	r.steps++
	for p, param := range r.params() {
		if r.m[p] == nil {
			r.m[p], r.v[p] = make([]float64, len(*param)), make([]float64, len(*param))
		}
		for i, d := range grads[p] {
			d *= scale
			r.m[p][i] = 0.9*r.m[p][i] + 0.1*d
			r.v[p][i] = 0.999*r.v[p][i] + 0.001*d*d
			mean, spread := r.m[p][i]/(1-math.Pow(0.9, r.steps)), r.v[p][i]/(1-math.Pow(0.999, r.steps))
			(*param)[i] -= lr * mean / (math.Sqrt(spread) + eps)
		}
	}
	return norm
}

func TestAdamOnAnMLPFollowsAnIndependentFloat64Implementation(t *testing.T) {
	b := goBuild(t, 7)
	adam := Adam{LR: 0.01, Eps: 1e-6, Clip: 0.5}
	p := envtest.Must(NewProgram(b, "step", []Input{F32("x", 5, 3), F32("target", 5, 2)}, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		y := MLP(sc.At("net"), in[0], []int{4}, graph.Tanh, 2)
		loss := graph.MulScalar(graph.ReduceAllMean(graph.Square(graph.Sub(y, in[1]))), 2)
		return []*graph.Node{adam.Minimize(sc.At("net"), loss)}
	}))
	read := func(name string) []float64 {
		var out []float64
		for _, v := range b.Store.GetVariable("/net/" + name).MustValue().Value().([][]float32) {
			for _, x := range v {
				out = append(out, float64(x))
			}
		}
		return out
	}
	ref := &reference{w1: read("layer_0/weights"), b1: read("layer_0/bias"), w2: read("out/weights"), b2: read("out/bias")}
	r := rng.New(1, "data")
	xs, targets := make([][]float64, 5), make([][]float64, 5)
	for k := range xs {
		xs[k] = []float64{float64(r.Norm()), float64(r.Norm()), float64(r.Norm())}
		targets[k] = []float64{float64(r.Norm()), float64(r.Norm())}
	}
	fill := func(rows [][]float64) func(dst []float32) {
		return func(dst []float32) {
			for i := range dst {
				dst[i] = float32(rows[i/len(rows[0])][i%len(rows[0])])
			}
		}
	}
	p.Feed(0, fill(xs))
	p.Feed(1, fill(targets))
	for step := range 20 {
		envtest.NoError(t, p.Run())
		want := ref.step(xs, targets, adam.LR, adam.Eps, adam.Clip)
		// float32 against float64 over at most 20 steps of 0.01
		if got := p.Scalar(0); math.Abs(got-want) > 1e-4*want {
			t.Fatalf("step %d: gradient norm %g, want %g", step, got, want)
		}
	}
	for name, want := range map[string][]float64{"layer_0/weights": ref.w1, "layer_0/bias": ref.b1, "out/weights": ref.w2, "out/bias": ref.b2} {
		for i, got := range read(name) {
			if math.Abs(got-want[i]) > 2e-5 {
				t.Errorf("%s[%d] is %g after 20 steps, want %g", name, i, got, want[i])
			}
		}
	}
}

func TestInitialWeightsDependOnSeedAndPathOnly(t *testing.T) {
	weights := func(seed uint64, first, second string) []float32 {
		b := goBuild(t, seed)
		envtest.Must(NewProgram(b, "init", []Input{F32("x", 1, 3)}, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
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
	if err == nil || !strings.Contains(err.Error(), "graph broken") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q, want one line that names the graph", err)
	}
}

func TestRunningAProgramKeepsVariablesAndInputs(t *testing.T) {
	b := goBuild(t, 1)
	p := envtest.Must(NewProgram(b, "count", []Input{F32("by", 1)}, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		v := Frozen(sc, in[0], "n", Constant(10), 1)
		next := graph.Add(v.NodeValue(in[0]), in[0])
		v.SetNodeValue(next)
		return []*graph.Node{next}
	}))
	p.Feed(0, func(dst []float32) { dst[0] = 3 })
	for _, want := range []float64{13, 16, 19} {
		envtest.NoError(t, p.Run())
		if got := p.Scalar(0); got != want {
			t.Fatalf("got %g, want %g", got, want)
		}
	}
	if n := NumParameters(b.Store, "/"); n != 0 {
		t.Errorf("%d trainable parameters, want 0: the counter is frozen", n)
	}
}
