// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"math"
	"testing"

	"cermic/envs"
	"cermic/envs/rng"
)

// oneRow returns a distribution of one agent in one environment.
func oneRow(a envs.ActSpec) (*Dist, *envs.Actions) {
	s := &envs.Spec{NumEnvs: 1, Agents: 1, Obs: []int{1}, Act: a}
	return NewDist(s, 0), envs.NewActions(s)
}

func TestGaussianLogDensityIsTheSlopeOfItsDistribution(t *testing.T) {
	d, act := oneRow(envs.ActSpec{Dim: 1, Low: []float32{-0.5}, High: []float32{1.5}})
	d.Mean[0], d.Scale[0] = 0.4, 0.7
	cdf := func(a float64) float64 { // of the squashed action, from the normal distribution function
		u := math.Atanh(a - 0.5)
		return 0.5 * math.Erfc(-(u-float64(d.Mean[0]))/float64(d.Scale[0])/math.Sqrt2)
	}
	r := rng.New(1, "density")
	for range 100 {
		logp := float64(d.Sample(0, r, act))
		a := float64(act.Continuous[0])
		const h = 1e-4
		if a-h < -0.49 || a+h > 1.49 {
			continue // the difference quotient is inaccurate near the bounds
		}
		density := (cdf(a+h) - cdf(a-h)) / (2 * h)
		// Central difference: the error, h² times the third derivative, is well below 1e-3 here.
		if math.Abs(math.Exp(logp)-density) > 1e-3*density+1e-4 {
			t.Fatalf("action %g: density %g, want %g", a, math.Exp(logp), density)
		}
	}
}

func TestGaussianStaysInsideItsBoxAndItsModeIsTheSquashedMean(t *testing.T) {
	d, act := oneRow(envs.ActSpec{Dim: 2, Low: []float32{-1, 0}, High: []float32{1, 4}})
	copy(d.Mean, []float32{30, -0.5})
	copy(d.Scale, []float32{5, 1})
	r := rng.New(2, "box")
	for range 1000 {
		if logp := d.Sample(0, r, act); math.IsNaN(float64(logp)) || math.IsInf(float64(logp), 0) {
			t.Fatalf("log-density %g at %v", logp, act.Continuous)
		}
		if act.Continuous[0] >= 1 || act.Continuous[0] <= -1 || act.Continuous[1] >= 4 || act.Continuous[1] <= 0 {
			t.Fatalf("action %v is out of bounds", act.Continuous)
		}
	}
	d.Mode(0, act)
	if want := float32(2 + 2*math.Tanh(-0.5)); math.Abs(float64(act.Continuous[1]-want)) > 1e-6 {
		t.Errorf("mode %g, want %g", act.Continuous[1], want)
	}
}

// checkFrequencies samples from a distribution over choices and compares frequencies and log-probabilities with want.
func checkFrequencies(t *testing.T, d *Dist, act *envs.Actions, want []float64, r *rng.Rand) {
	t.Helper()
	count := make([]float64, len(want))
	const n = 40_000
	for range n {
		logp := float64(d.Sample(0, r, act))
		k := act.Discrete[0]
		count[k]++
		if math.Abs(logp-math.Log(want[k])) > 1e-6 {
			t.Fatalf("log-probability %g of choice %d, want %g", logp, k, math.Log(want[k]))
		}
	}
	for k := range want {
		// Five standard errors of a proportion.
		if math.Abs(count[k]/n-want[k]) > 5*math.Sqrt(want[k]*(1-want[k])/n) {
			t.Errorf("choice %d drawn with frequency %g, want %g", k, count[k]/n, want[k])
		}
	}
}

func TestCategoricalFollowsItsProbabilitiesAndMask(t *testing.T) {
	d, act := oneRow(envs.ActSpec{Choices: 4})
	copy(d.Logits, []float32{1, 9, 0, 2})
	d.Mask = []uint8{1, 0, 1, 1}
	total := math.Exp(1) + math.Exp(0) + math.Exp(2)
	want := []float64{math.Exp(1) / total, 0, 1 / total, math.Exp(2) / total}
	checkFrequencies(t, d, act, want, rng.New(3, "categorical"))
	if d.Mode(0, act); act.Discrete[0] != 3 {
		t.Errorf("mode is %d, want 3, the most likely allowed choice", act.Discrete[0])
	}
}

func TestSamplingAllocatesNothing(t *testing.T) {
	d, act := oneRow(envs.ActSpec{Dim: 2, Low: []float32{-1, -1}, High: []float32{1, 1}})
	copy(d.Scale, []float32{1, 1})
	k, choice := oneRow(envs.ActSpec{Choices: 5})
	r := rng.New(4, "allocations")
	if n := testing.AllocsPerRun(100, func() { d.Sample(0, r, act); k.Sample(0, r, choice) }); n != 0 {
		t.Errorf("%g allocations a sample, want 0", n)
	}
}

// After the end of an episode a game may allow no action, but an evaluation of other environments continues and needs
// one.
func TestFirstChoiceIsTakenIfNoneIsAllowed(t *testing.T) {
	d, act := oneRow(envs.ActSpec{Choices: 3})
	d.Logits[1], d.Mask = 5, make([]uint8, 3)
	r := rng.New(1, "nothing allowed")
	d.Sample(0, r, act)
	if got := act.Discrete[0]; got != 0 {
		t.Errorf("sampled %d, want 0", got)
	}
	if got := d.best(0); got != 0 {
		t.Errorf("mode is %d, want 0", got)
	}
}
