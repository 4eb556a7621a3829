// SPDX-License-Identifier: Apache-2.0

package rng

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"cermic/envs/envtest/must"
)

func TestNameAloneDecidesTheNumbers(t *testing.T) {
	a := New(1, "weights", 3, 4)
	var b Rand
	b.Seed(1, "weights", 3, 4)
	for i := range 10 {
		if x, y := a.Uint64(), b.Uint64(); x != y {
			t.Fatalf("number %d differs: %d and %d", i, x, y)
		}
	}
}

func TestNamesThatDifferGiveOtherNumbers(t *testing.T) {
	streams := []*Rand{
		New(1, "a"), New(2, "a"), New(1, "b"), New(1, "ab"), New(1, "ba"), New(1, "a", 0), New(1, "a", 1),
		New(1, "a", 0, 1), New(1, "a", 1, 0), New(1, "a", 0, 0), New(0, ""), New(1<<63, "a"),
	}
	seen := map[uint64]int{}
	for i, r := range streams {
		for range 100 {
			x := r.Uint64()
			if j, dup := seen[x]; dup && j != i {
				t.Fatalf("streams %d and %d share a number", i, j)
			}
			seen[x] = i
		}
	}
}

// Neighbouring names must not be correlated, because environments and agents are numbered consecutively.
func TestNeighbouringStreamsAreUncorrelated(t *testing.T) {
	const n = 20000
	sum := 0.0
	for i := range uint64(n) {
		sum += (New(1, "x", i).Float64() - 0.5) * (New(1, "x", i+1).Float64() - 0.5) * 12
	}
	if c := sum / n; math.Abs(c) > 4/math.Sqrt(n) { // four standard errors
		t.Errorf("first numbers of neighbouring streams correlate by %.4f", c)
	}
}

func TestDistributionsHaveTheirMoments(t *testing.T) {
	const n = 200000
	r := New(1, "moments")
	for _, d := range []struct {
		name      string
		draw      func() float64
		mean, std float64
	}{
		{"Float32", func() float64 { return float64(r.Float32()) }, 0.5, math.Sqrt(1.0 / 12)},
		{"Float64", r.Float64, 0.5, math.Sqrt(1.0 / 12)},
		{"Uniform", func() float64 { return float64(r.Uniform(-1, 3)) }, 1, 4 * math.Sqrt(1.0/12)},
		{"IntN", func() float64 { return float64(r.IntN(5)) }, 2, math.Sqrt(2)},
		{"Norm", func() float64 { return float64(r.Norm()) }, 0, 1},
	} {
		sample := make([]float64, n)
		for i := range sample {
			sample[i] = d.draw()
		}
		mean, std := stat.PopMeanStdDev(sample, nil)
		if math.Abs(mean-d.mean) > 4*d.std/math.Sqrt(n) || math.Abs(std/d.std-1) > 0.01 {
			t.Errorf("%s has mean %.4f and deviation %.4f, want %.4f and %.4f", d.name, mean, std, d.mean, d.std)
		}
	}
}

// A processor that fuses products and sums must not do so here. Others cannot fail.
func TestUniformRoundsTheProductBeforeTheSum(t *testing.T) {
	a, b := New(1, "uniform"), New(1, "uniform")
	for range 1000 {
		product := float64(float32(float64(float32(0.05)-float32(-0.05)) * float64(a.Float32()))) // exact, then rounded
		if x, want := b.Uniform(-0.05, 0.05), float32(float64(float32(-0.05))+product); x != want {
			t.Fatalf("got %g, want %g", x, want)
		}
	}
}

func TestPermIsAFairPermutation(t *testing.T) {
	const n, rounds = 4, 24000
	r, p := New(1, "perm"), make([]int32, n)
	counts := map[[n]int32]int{}
	for range rounds {
		r.Perm(p)
		counts[[n]int32(p)]++
	}
	if len(counts) != 24 {
		t.Fatalf("%d permutations of 4 appear, want 24", len(counts))
	}
	for p, k := range counts {
		if math.Abs(float64(k)-rounds/24) > 5*math.Sqrt(rounds/24) { // five standard deviations, for 24 counts
			t.Errorf("permutation %v appears %d times, want about %d", p, k, rounds/24)
		}
	}
}

func TestIntNRefusesAnEmptyRange(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("IntN(0) returns")
		}
	}()
	New(1, "x").IntN(0)
}

func TestStateContinuesTheStream(t *testing.T) {
	a := New(1, "state")
	a.Uint64()
	var b Rand
	must.Do(t, b.UnmarshalBinary(must.Value(a.AppendBinary(nil))))
	if x, y := a.Uint64(), b.Uint64(); x != y {
		t.Errorf("continued stream gives %d, want %d", y, x)
	}
	if b.UnmarshalBinary([]byte("nonsense")) == nil {
		t.Error("an invalid state is accepted")
	}
}

func TestSeedAllocatesNothing(t *testing.T) {
	r := new(Rand)
	if n := testing.AllocsPerRun(100, func() { r.Seed(1, "hot", 2, 3); r.Norm() }); n != 0 {
		t.Errorf("Seed makes %g allocations, want 0", n)
	}
}
