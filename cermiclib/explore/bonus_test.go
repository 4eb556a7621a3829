// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"
	"slices"
	"testing"

	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
)

// lone is a rollout of three steps of one agent.
func lone(alive ...uint8) *rl.Rollout {
	x := rl.NewRollout(&envs.Spec{NumEnvs: 1, Agents: 1, Obs: []int{1}, Act: envs.ActSpec{Choices: 2}}, 3, 0)
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
		p := NewRewardNormaliser(Bonus{IntNorm: norm, IntClip: 10, IntCoef: 0.5})
		x := lone(1, 1, 1)
		x.Intrinsic[0] = 100
		p.Apply(x, []float32{1, 2, 6}, "test")
		for k := range want {
			got := float64(x.Intrinsic[k])
			if k == 0 {
				got -= 100 // the reward before Apply
			}
			// float32 at 100
			if math.Abs(got-0.5*want[k]) > 1e-5 {
				t.Errorf("%s, step %d: %g, want %g", norm, k, got, 0.5*want[k])
			}
		}
	}
}

// TestSpreadIsThatOfWhatIsAdded has rewards 1, 2 and 6 over their standard deviation √(14/3), the last one clipped to
// 2, times 0.5.
func TestSpreadIsThatOfWhatIsAdded(t *testing.T) {
	p, x := NewRewardNormaliser(Bonus{IntNorm: NormStd, IntClip: 2, IntCoef: 0.5}), lone(1, 1, 1)
	got := p.Apply(x, []float32{1, 2, 6}, "test")[SpreadScalar]
	var added rl.Running
	for _, v := range x.Intrinsic {
		added.Add(float64(v))
	}
	// of 0.2315, 0.4629 and 1: mean 0.5648, deviations -0.3333, -0.1019 and 0.4352
	if math.Abs(got-0.3219) > 1e-4 || math.Abs(got-added.Std()) > 1e-6 {
		t.Errorf("the spread is %g, that of what was added %g, want 0.3219", got, added.Std())
	}
}

// TestAllBonusesHaveOneScale: by default, only the kind of bonus and its weight distinguish methods.
func TestAllBonusesHaveOneScale(t *testing.T) {
	for _, b := range []Bonus{DefaultMACE().Bonus, DefaultDB().Bonus, DefaultRFF().Bonus} {
		if b.IntCoef = 0; b != DefaultBonus("") {
			t.Errorf("a bonus of %+v, want %+v but for the weight", b, DefaultBonus(""))
		}
	}
}

func TestStatisticsRememberAsMuchAsTheyShall(t *testing.T) {
	for memory, want := range map[float64]float64{ // weighted squares about the weighted mean, by hand
		1:   5 / math.Sqrt(22.0/6),   // of 1 2 6 4 5 6
		0.5: 5 / math.Sqrt(13.0/4.5), // of the same, 1 2 6 at half the weight
		0:   5 / math.Sqrt(2.0/3),    // of 4 5 6
	} {
		p := NewRewardNormaliser(Bonus{IntNorm: NormStd, IntMemory: memory, IntClip: 10, IntCoef: 1})
		p.Apply(lone(1, 1, 1), []float32{1, 2, 6}, "test")
		x := lone(1, 1, 1)
		p.Apply(x, []float32{4, 5, 6}, "test")
		if got := float64(x.Intrinsic[1]); math.Abs(got-want) > 1e-6 {
			t.Errorf("int_memory %g: got %g, want %g", memory, got, want)
		}
	}
}

// A code that moves into its band lifts the reward once, far beyond its spread. All-time statistics take decades of
// rollout batches to recover, so their bonus is nearly constant.
func TestForgettingKeepsACentredBonusAlive(t *testing.T) {
	spread := map[float64]float64{}
	for _, memory := range []float64{0, 1} {
		p := NewRewardNormaliser(Bonus{IntNorm: NormCenterStd, IntMemory: memory, IntClip: 10, IntCoef: 1})
		p.Apply(lone(1, 1, 1), []float32{2.3, 2.4, 2.5}, "test")
		for range 9 {
			s := p.Apply(lone(1, 1, 1), []float32{6.9, 7, 7.1}, "test")
			spread[memory] = s["test/int_norm_std"]
		}
	}
	// float32 rewards of 7 have a rounding of 5e-7, 1e-5 of their spread.
	if math.Abs(spread[0]-1) > 1e-4 || spread[1] > 0.1 {
		t.Errorf("the spread of the tenth bonus is %g without memory and %g with all of it, want 1 and below 0.1", spread[0], spread[1])
	}
}

func TestTheDeadAreNeitherPaidNorCounted(t *testing.T) {
	p := NewRewardNormaliser(Bonus{IntNorm: NormCenterStd, IntClip: 10, IntCoef: 1})
	x := lone(1, 0, 1)
	s := p.Apply(x, []float32{1, 500, 3}, "test")
	if x.Intrinsic[0] != -1 || x.Intrinsic[1] != 0 || x.Intrinsic[2] != 1 || s["test/int_mean"] != 2 {
		t.Errorf("paid %v with mean %g, want -1 0 1 with mean 2", x.Intrinsic, s["test/int_mean"])
	}
}

func TestPeersBonusesAddUp(t *testing.T) {
	r := []float32{1, 2, 4, 8}
	AddPeers(r, []uint8{1, 1, 1, 0}, 2, 0.5)
	if want := []float32{2, 2.5, 4, 8}; !slices.Equal(r, want) { // the dead agent, with reward 8, does not count
		t.Errorf("shared bonuses are %v, want %v", r, want)
	}
}

func TestBonusIsClippedAndWeighted(t *testing.T) {
	p := NewRewardNormaliser(Bonus{IntNorm: NormCenterStd, IntClip: 1, IntCoef: 0.5})
	x := lone(1, 1, 1)
	p.Apply(x, []float32{1, 2, 6}, "test")
	// -2/√(14/3) is -0.926, 3/√(14/3) is 1.389: only the last is beyond 1.
	if got := float64(x.Intrinsic[2]); math.Abs(got-0.5) > 1e-6 {
		t.Errorf("got %g, want the clip 1 times the weight 0.5", got)
	}
	if got := float64(x.Intrinsic[0]); math.Abs(got+0.5*2/math.Sqrt(14.0/3)) > 1e-6 {
		t.Errorf("got %g, want it unclipped", got)
	}
}

func TestSavedStatisticsGoOnBitExactly(t *testing.T) {
	bonus := Bonus{IntNorm: NormReturnStd, IntMemory: 0.9, IntClip: 5, IntCoef: 1}
	a, b := NewRewardNormaliser(bonus), NewRewardNormaliser(bonus)
	a.Apply(lone(1, 1, 1), []float32{0.1, 0.7, 0.3}, "test")
	must.Do(t, b.Load(a.Save()))
	x, y := lone(1, 1, 1), lone(1, 1, 1)
	a.Apply(x, []float32{0.4, 0.9, 0.2}, "test")
	b.Apply(y, []float32{0.4, 0.9, 0.2}, "test")
	if !slices.Equal(x.Intrinsic, y.Intrinsic) {
		t.Errorf("%v became %v", x.Intrinsic, y.Intrinsic)
	}
	if b.Load([]byte("nonsense")) == nil {
		t.Error("nonsense is taken for statistics")
	}
}
