// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"
	"testing"

	"cermic/cermiclib/rl"
	"cermic/envs"
)

// lone is a rollout of three steps of one agent.
func lone(alive ...uint8) *rl.Rollout {
	x := rl.NewRollout(&envs.Spec{Copies: 1, Agents: 1, Obs: []int{1}, Act: envs.ActSpec{Choices: 2}}, 3, 0)
	copy(x.Alive, alive)
	return x
}

// TestNormalisationByHand uses rewards 1, 2 and 6:
//
//	mean 3, standard deviation √((4+1+9)/3) = √(14/3)
//	discounted sums 1, 2.99, 8.9601; mean 4.316700, standard deviation 3.382395
func TestNormalisationByHand(t *testing.T) {
	std := math.Sqrt(14.0 / 3)
	for norm, want := range map[string][]float64{
		NormNone:      {1, 2, 6},
		NormStd:       {1 / std, 2 / std, 6 / std},
		NormCenterStd: {-2 / std, -1 / std, 3 / std},
		NormReturnStd: {1 / 3.382395, 2 / 3.382395, 6 / 3.382395},
	} {
		p := payer{Bonus: Bonus{IntNorm: norm, IntClip: 10, IntCoef: 0.5, IntAnneal: AnnealNone}}
		x := lone(1, 1, 1)
		x.Intrinsic[0] = 100
		p.pay(x, []float32{1, 2, 6}, "test")
		for k := range want {
			got := float64(x.Intrinsic[k])
			if k == 0 {
				got -= 100 // what was there stays
			}
			// float32 at 100
			if math.Abs(got-0.5*want[k]) > 1e-5 {
				t.Errorf("%s, step %d: %g, want %g", norm, k, got, 0.5*want[k])
			}
			if price := float64(p.price([]float32{1, 2, 6}[k])); math.Abs(price-0.5*want[k]) > 1e-6 {
				t.Errorf("%s, step %d: its price is %g, want %g", norm, k, price, 0.5*want[k])
			}
		}
	}
}

func TestStatisticsGoOnOverCollections(t *testing.T) {
	p := payer{Bonus: Bonus{IntNorm: NormStd, IntClip: 10, IntCoef: 1, IntAnneal: AnnealNone}}
	p.pay(lone(1, 1, 1), []float32{1, 2, 6}, "test")
	x := lone(1, 1, 1)
	p.pay(x, []float32{3, 3, 3}, "test")
	// Six numbers with mean 3 and squares 14 in all.
	if got, want := float64(x.Intrinsic[0]), 3/math.Sqrt(14.0/6); math.Abs(got-want) > 1e-6 {
		t.Errorf("got %g, want %g", got, want)
	}
}

func TestTheDeadAreNeitherPaidNorCounted(t *testing.T) {
	p := payer{Bonus: Bonus{IntNorm: NormCenterStd, IntClip: 10, IntCoef: 1, IntAnneal: AnnealNone}}
	x := lone(1, 0, 1)
	s := p.pay(x, []float32{1, 500, 3}, "test")
	if x.Intrinsic[0] != -1 || x.Intrinsic[1] != 0 || x.Intrinsic[2] != 1 || s["test/int_mean"] != 2 {
		t.Errorf("paid %v with mean %g, want -1 0 1 with mean 2", x.Intrinsic, s["test/int_mean"])
	}
}

func TestBonusIsClippedAndAnnealed(t *testing.T) {
	p := payer{Bonus: Bonus{IntNorm: NormCenterStd, IntClip: 1, IntCoef: 2, IntAnneal: AnnealLinear, IntAnnealFrames: 100}}
	x := lone(1, 1, 1)
	x.Frames = 75
	p.pay(x, []float32{1, 2, 6}, "test")
	// -2/√(14/3) is -0.926, 3/√(14/3) is 1.389: only the last is beyond 1. A quarter of the weight is left.
	if got := float64(x.Intrinsic[2]); math.Abs(got-0.5) > 1e-6 {
		t.Errorf("got %g, want the clip 1 times the weight 0.5", got)
	}
	if got := float64(x.Intrinsic[0]); math.Abs(got+0.5*2/math.Sqrt(14.0/3)) > 1e-6 {
		t.Errorf("got %g, want it unclipped", got)
	}
}

func TestSavedStatisticsGoOnBitExactly(t *testing.T) {
	bonus := Bonus{IntNorm: NormReturnStd, IntClip: 5, IntCoef: 1, IntAnneal: AnnealNone}
	a, b := payer{Bonus: bonus}, payer{Bonus: bonus}
	a.pay(lone(1, 1, 1), []float32{0.1, 0.7, 0.3}, "test")
	if err := b.Load(a.Save()); err != nil {
		t.Fatal(err)
	}
	x, y := lone(1, 1, 1), lone(1, 1, 1)
	a.pay(x, []float32{0.4, 0.9, 0.2}, "test")
	b.pay(y, []float32{0.4, 0.9, 0.2}, "test")
	for k := range x.Intrinsic {
		if x.Intrinsic[k] != y.Intrinsic[k] {
			t.Errorf("step %d: %g became %g", k, x.Intrinsic[k], y.Intrinsic[k])
		}
	}
	if b.Load([]byte("nonsense")) == nil {
		t.Error("nonsense is taken for statistics")
	}
}

func TestImpossibleBonusesGetASentence(t *testing.T) {
	good := DefaultDB().Bonus
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Bonus){
		"norm": func(b *Bonus) { b.IntNorm = "stdd" }, "anneal": func(b *Bonus) { b.IntAnneal = "cosine" },
		"clip": func(b *Bonus) { b.IntClip = 0 }, "coef": func(b *Bonus) { b.IntCoef = math.NaN() },
		"frames": func(b *Bonus) { b.IntAnnealFrames = 0 },
	} {
		b := good
		change(&b)
		if b.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
