// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"math"
	"slices"
	"testing"

	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/nn/nntest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
)

// twoByTwo has 2 copies of 2 agents that see 3 numbers.
func twoByTwo() *envs.Spec {
	return &envs.Spec{Name: "fake", NumEnvs: 2, Agents: 2, Obs: []int{3}, Act: envs.ActSpec{Choices: 2}}
}

func smallGRU(chunk int) GRU { return GRU{Embed: 4, Layers: 2, Width: 6, Chunk: chunk} }

func watch(t *testing.T, m Memory, x *rl.Rollout) {
	t.Helper()
	must.Do(t, m.(Watcher).Watch(x))
}

// chunked lists the rows of all chunks of x, with l steps each; the length of x must be a multiple of l.
func chunked(x *rl.Rollout, l int) (rows []int32) {
	for t := 0; t < x.T; t += l {
		for a := range x.E * x.N {
			for k := range l {
				rows = append(rows, int32((t+k)*x.E*x.N+a))
			}
		}
	}
	return rows
}

func TestGRUFeaturesDoNotDependOnChunkLength(t *testing.T) {
	spec := twoByTwo()
	// Environment 0 restarts inside the first chunk of 4, environment 1 exactly between two chunks. Then a second
	// rollout goes on.
	first, second := wander(spec, 8, 1, 0, 1, 2*2, 4*2+1), wander(spec, 8, 2, 5*2)
	var now, before, exists [2][]float32
	for i, l := range []int{1, 4} {
		m, p, _ := probe(t, smallGRU(l), spec, 8*4)
		for _, x := range []*rl.Rollout{first, second} {
			watch(t, m, x)
			rows := chunked(x, l)
			n, b, e := features(t, m, p, x, rows)
			inOrder := func(v []float32) []float32 { // by row
				out, w := make([]float32, len(v)), len(v)/len(rows)
				for k, row := range rows {
					copy(out[int(row)*w:], v[k*w:(k+1)*w])
				}
				return out
			}
			now[i], before[i], exists[i] = append(now[i], inOrder(n)...), append(before[i], inOrder(b)...), append(exists[i], inOrder(e)...)
		}
	}
	for k, want := range now[0] {
		// Sums of at most 6 products in another order, divided by a spread of the features that may be 0.1.
		if math.Abs(float64(now[1][k]-want)) > 2e-5 || math.Abs(float64(before[1][k]-before[0][k])) > 2e-5 {
			t.Fatalf("component %d: f_n is %g and f_{n-1} %g in chunks of 4, %g and %g step by step", k, now[1][k], before[1][k], want, before[0][k])
		}
	}
	if !slices.Equal(exists[0], exists[1]) {
		t.Error("the existence of f_{n-1} depends on the chunk length")
	}
	// By hand, rows are (t, environment, agent). No feature exists before an episode starts; everything else goes on,
	// also from rollout to rollout.
	for row, got := range exists[0] {
		want := float32(1)
		if slices.Contains([]int{0, 1, 2, 3, 2*4 + 0, 2*4 + 1, 4*4 + 2, 4*4 + 3, 8*4 + 5*4 + 0, 8*4 + 5*4 + 1}, row) {
			want = 0
		}
		if got != want {
			t.Errorf("f_{n-1} of row %d exists: %g, want %g", row, got, want)
		}
	}
	const f = 6
	for row := 4; row < 16*4; row++ {
		if exists[0][row] != 0 && !slices.Equal(before[0][row*f:(row+1)*f], now[0][(row-4)*f:(row-3)*f]) {
			t.Errorf("f_{n-1} of row %d is not f_n of the step before", row)
		}
	}
}

func TestGRUWalksACollectionThatIsNoWholeChunks(t *testing.T) {
	spec := twoByTwo()
	var states [2][]float32
	for i, l := range []int{1, 4} {
		m, _, _ := probe(t, smallGRU(l), spec, l)
		for seed := range uint64(2) {
			watch(t, m, wander(spec, 10, seed+1, 0, 1, 2*2, 9*2+1))
		}
		states[i] = m.(*gru).hidden
	}
	for k, want := range states[0] {
		if got := states[1][k]; math.Abs(float64(got-want)) > 2e-5 || want == 0 { // as above
			t.Errorf("state %d is %g after two chunks of 4 and 2 steps, %g after 10 steps", k, got, want)
		}
	}
}

func TestGRUCellFollowsItsFormula(t *testing.T) {
	// One unit, so that everything is a number: compare with the formula in float64.
	spec := &envs.Spec{Name: "fake", NumEnvs: 1, Agents: 1, Obs: []int{3}, Act: envs.ActSpec{Choices: 2}}
	m, _, store := probe(t, GRU{Embed: 2, Layers: 1, Width: 1, Chunk: 1}, spec, 1)
	set := func(name string, v ...float32) { graphtest.Set(store, "/memory/gru_0/"+name, v...) }
	// Two embedded numbers of mean 0 and variance 1 are +1 and -1 in some order.
	set("input", 0.5, -0.3, 0.8, 0.5, -0.3, 0.8)
	set("input_bias", 0.1, 0.2, 0.3)
	set("recurrent", 0.7, -0.6, 0.9)
	set("recurrent_bias", -0.1, 0.4, 0.25)
	x := wander(spec, 2, 1, 0)
	watch(t, m, x)
	h := 0.0
	for range 2 { // both rows of the input weights are equal, so the embedding's sum, zero, is what counts
		r := nntest.Sigmoid(0.1 + 0.7*h - 0.1)
		z := nntest.Sigmoid(0.2 - 0.6*h + 0.4)
		n := math.Tanh(0.3 + r*(0.9*h+0.25))
		h = (1-z)*n + z*h
	}
	if got := float64(m.(*gru).hidden[0]); math.Abs(got-h) > 1e-5 { // float32, and ε in the normalised embedding
		t.Errorf("the hidden state is %.7f, want %.7f", got, h)
	}
}
