// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"math"
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/rng"
)

// box returns a two-dimensional squashed Gaussian with a share of uniform actions.
func box(eps float32) (*Dist, *envs.Actions) {
	d, act := oneRow(envs.ActSpec{Dim: 2, Low: []float32{-1, 0}, High: []float32{1, 4}})
	copy(d.Mean, []float32{0.3, -0.6})
	copy(d.Scale, []float32{0.5, 0.8})
	d.Eps = eps
	return d, act
}

func TestMixtureDensityIntegratesToOne(t *testing.T) {
	d, act := box(0.3)
	const n = 400
	sum := 0.0
	for i := range n {
		for j := range n {
			// Midpoints of cells. The density is bounded: at these scales the Gaussian's tails fall faster than the
			// squash's slope.
			x, y := (float64(i)+0.5)/n*2-1, (float64(j)+0.5)/n*2-1
			d.Raw[0], d.Raw[1] = float32(math.Atanh(x)), float32(math.Atanh(y))
			sum += math.Exp(d.logMixture(0, d.logBase(0, act), act)) * (2.0 / n) * (4.0 / n)
		}
	}
	// Midpoint rule with 400 cells per axis.
	if math.Abs(sum-1) > 1e-3 {
		t.Errorf("the density integrates to %g", sum)
	}
}

// Choice 1 is forbidden, and ε = 0.3 is in three equal parts. π^x has ρ of the rest, the base the remainder.
func TestMixtureSamplesAsItsProbabilitiesSay(t *testing.T) {
	for _, c := range []struct {
		share  float32
		greedy bool
		base   []float32
		want   []float64
	}{
		{0, true, []float32{1, 9, 0, 2}, []float64{0.1, 0, 0.1, 0.8}},
		{0.4, true, []float32{1, 9, 0, 2}, []float64{0.1 + 0.28/8, 0, 0.1 + 0.28*3/8, 0.1 + 0.28/2 + 0.42}},
		{0.4, false, []float32{0, 9, 0, 0}, []float64{0.24 + 0.28/8, 0, 0.24 + 0.28*3/8, 0.24 + 0.28/2}},
	} {
		d, act := oneRow(envs.ActSpec{Choices: 4})
		d.Logits, d.Greedy = c.base, c.greedy
		d.Other = []float32{0, 5, float32(math.Log(3)), float32(math.Log(4))} // allowed: 1/8, 3/8, 1/2
		d.Mask, d.Eps, d.Share = []uint8{1, 0, 1, 1}, 0.3, c.share
		checkFrequencies(t, d, act, c.want, rng.New(1, "share"))
	}
}

// With ε = 1 each quarter of each axis has a quarter of the actions.
func TestUniformActionsFillTheBox(t *testing.T) {
	d, act := box(1)
	r := rng.New(1, "box")
	const n = 20_000
	var count [2][4]float64
	for range n {
		logp := float64(d.Sample(0, r, act))
		if math.Abs(logp-math.Log(1.0/8)) > 1e-6 {
			t.Fatalf("log-density %g, want -log 8, the uniform density", logp)
		}
		count[0][int(min(max((act.Continuous[0]+1)*2, 0), 3))]++
		count[1][int(min(max(act.Continuous[1], 0), 3))]++
	}
	for axis := range count {
		for q, c := range count[axis] {
			// Five standard errors of a proportion.
			if math.Abs(c/n-0.25) > 5*math.Sqrt(0.25*0.75/n) {
				t.Errorf("axis %d, quarter %d: frequency %g, want 0.25", axis, q, c/n)
			}
		}
	}
}

// Sample returns log μ, or, if OffPolicy, log π with the weight π/μ.
func TestOffPolicySelectsTheStoredProbability(t *testing.T) {
	for _, off := range []bool{false, true} {
		d, act := oneRow(envs.ActSpec{Choices: 2})
		copy(d.Logits, []float32{0, float32(math.Log(3))}) // π = ¼, ¾
		d.Eps, d.OffPolicy = 0.4, off
		pi, mu := []float64{0.25, 0.75}, []float64{0.35, 0.65} // 0.6·π + 0.4/2
		r := rng.New(1, "ratio")
		for range 20 {
			logp := math.Exp(float64(d.Sample(0, r, act)))
			k := act.Discrete[0]
			want, weight := mu[k], 1.0
			if off {
				want, weight = pi[k], pi[k]/mu[k]
			}
			if math.Abs(logp-want) > 1e-6 || math.Abs(float64(d.Importance[0])-weight) > 1e-6 {
				t.Fatalf("off-policy %v, choice %d: probability %g with weight %g, want %g with %g",
					off, k, logp, d.Importance[0], want, weight)
			}
		}
	}
}

func TestAnnealIsLinearThenConstant(t *testing.T) {
	for _, c := range []struct {
		done int
		want float64
	}{{0, 0.8}, {50, 0.405}, {100, 0.01}, {1000, 0.01}} {
		if got := Anneal(0.8, 0.01, c.done, 100); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("after %d frames: %g, want %g", c.done, got, c.want)
		}
	}
}

func TestNoEpsilonDrawsTheSameNumbers(t *testing.T) {
	plain, act := box(0)
	other, same := box(0)
	other.OffPolicy = true
	a, b := rng.New(1, "same"), rng.New(1, "same")
	for range 100 {
		if plain.Sample(0, a, act) != other.Sample(0, b, same) || !slices.Equal(act.Continuous, same.Continuous) {
			t.Fatal("training off policy without ε changed a sample")
		}
	}
	if a.Uint64() != b.Uint64() {
		t.Error("training off policy without ε changed the stream")
	}
}
