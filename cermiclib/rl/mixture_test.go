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

func TestMixtureSumsToOneOverTheAllowedChoices(t *testing.T) {
	for _, greedy := range []bool{false, true} {
		d, act := oneRow(envs.ActSpec{Choices: 4})
		copy(d.Logits, []float32{1, 9, 0, 2})
		d.Mask, d.Eps, d.Greedy = []uint8{1, 0, 1, 1}, 0.3, greedy
		sum := 0.0
		for _, k := range []int32{0, 2, 3} {
			act.Discrete[0] = k
			sum += math.Exp(d.logMixture(0, d.logBase(0, act), act))
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("greedy %v: probabilities sum to %g", greedy, sum)
		}
	}
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

func TestEpsilonGreedySamplesAsItsProbabilitiesSay(t *testing.T) {
	d, act := oneRow(envs.ActSpec{Choices: 4})
	copy(d.Logits, []float32{1, 9, 0, 2})
	d.Mask, d.Eps, d.Greedy = []uint8{1, 0, 1, 1}, 0.3, true
	want := []float64{0.1, 0, 0.1, 0.8} // ε in three equal parts, the rest on the best allowed choice
	checkFrequencies(t, d, act, want, rng.New(1, "eps"))
}

// π^x has its share beside a greedy base and uniform actions, with three of four choices allowed.
func TestExplorerPolicyHasItsShareOfTheActions(t *testing.T) {
	d, act := oneRow(envs.ActSpec{Choices: 4})
	copy(d.Logits, []float32{1, 9, 0, 2})
	d.Other = []float32{0, 5, float32(math.Log(3)), float32(math.Log(4))} // allowed: 1/8, 3/8, 1/2
	d.Mask, d.Eps, d.Share = []uint8{1, 0, 1, 1}, 0.3, 0.4
	// 0.1 each; 0.7·0.4 from π^x; 0.7·0.6 on the best allowed choice.
	greedy := []float64{0.1 + 0.28/8, 0, 0.1 + 0.28*3/8, 0.1 + 0.28/2 + 0.42}
	d.Greedy = true
	checkFrequencies(t, d, act, greedy, rng.New(1, "share"))
	d.Greedy = false
	copy(d.Logits, []float32{0, 9, 0, 0})
	checkFrequencies(t, d, act, []float64{0.24 + 0.28/8, 0, 0.24 + 0.28*3/8, 0.24 + 0.28/2}, rng.New(1, "share"))
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

// Sample returns log μ for RatioMixture, log π with the weight π/μ for RatioTarget, and log π for RatioNaive.
func TestRatioSelectsTheStoredProbability(t *testing.T) {
	for ratio, name := range []string{"mixture", "target", "naive"} {
		d, act := oneRow(envs.ActSpec{Choices: 2})
		copy(d.Logits, []float32{0, float32(math.Log(3))}) // π = ¼, ¾
		d.Eps, d.Ratio = 0.4, Ratio(ratio)
		pi, mu := []float64{0.25, 0.75}, []float64{0.35, 0.65} // 0.6·π + 0.4/2
		r := rng.New(1, "ratio")
		for range 20 {
			logp := math.Exp(float64(d.Sample(0, r, act)))
			k := act.Discrete[0]
			want, weight := pi[k], 1.0
			if Ratio(ratio) == RatioMixture {
				want = mu[k]
			}
			if Ratio(ratio) == RatioTarget {
				weight = pi[k] / mu[k]
			}
			if math.Abs(logp-want) > 1e-6 || math.Abs(float64(d.Importance[0])-weight) > 1e-6 {
				t.Fatalf("%s, choice %d: probability %g with weight %g, want %g with %g",
					name, k, logp, d.Importance[0], want, weight)
			}
		}
	}
}

func TestNoEpsilonDrawsTheSameNumbers(t *testing.T) {
	plain, act := box(0)
	other, same := box(0)
	other.Ratio = RatioTarget
	a, b := rng.New(1, "same"), rng.New(1, "same")
	for range 100 {
		if plain.Sample(0, a, act) != other.Sample(0, b, same) || !slices.Equal(act.Continuous, same.Continuous) {
			t.Fatal("a ratio without ε changed a sample")
		}
	}
	if a.Uint64() != b.Uint64() {
		t.Error("a ratio without ε changed the stream")
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
