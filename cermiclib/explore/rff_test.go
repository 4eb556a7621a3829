// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	rank "cermic/cermiclib/stats"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// rawRFF is the default without peers or scaling, so the bonus is u.
func rawRFF() RFF {
	c := DefaultRFF()
	c.Others, c.IntNorm, c.IntCoef = 0, NormNone, 1
	return c
}

func newRFF(t *testing.T, c RFF, s *envs.Spec, seed uint64) *rff {
	t.Helper()
	return must.Value(c.Build(&nn.Build{Spec: s, Seed: seed})).(*rff)
}

// placesSpec is a task of so many agents, each of which observes its place among ten as a one-hot vector.
func placesSpec(agents int) *envs.Spec {
	return &envs.Spec{NumEnvs: 1, Agents: agents, Obs: []int{10}, Act: envs.ActSpec{Choices: 2}}
}

// rewardAt returns the bonuses [T,N] of a rollout whose agents are at these places [T,N], −1 for one that is dead.
func rewardAt(t *testing.T, m *rff, places ...int) []float32 {
	t.Helper()
	x := rl.NewRollout(placesSpec(len(m.agents)), len(places)/len(m.agents), 0)
	for row, place := range places {
		if place >= 0 {
			x.Alive[row], x.ObsRow(row)[place] = 1, 1
		} else {
			x.ObsRow(row)[0] = float32(math.NaN())
		}
	}
	must.Value(m.Reward(t.Context(), x))
	return x.Intrinsic
}

// TestRFFCountsVisits: of ten places, place k is visited 2^k times. Their distance is 3.5 ℓ; with orthogonal features
// ηᵀΛ⁻¹η would be |η|²/(λ + n·|η|²).
func TestRFFCountsVisits(t *testing.T) {
	c := rawRFF()
	m := newRFF(t, c, placesSpec(1), 1)
	var visits, once []int
	for place := range 10 {
		visits, once = append(visits, slices.Repeat([]int{place}, 1<<place)...), append(once, place)
	}
	rewardAt(t, m, visits...)
	var got, inverse []float64
	for place, u := range rewardAt(t, m, once...) {
		got, inverse = append(got, math.Expm1(2*float64(u)*float64(u))), append(inverse, 1/math.Exp2(float64(place)))
		want := 1 / (c.Lambda/float64(c.Waves+1) + math.Exp2(float64(place)))
		if math.Abs(got[place]-want) > 0.2*want { // inner products of features deviate by D/√D
			t.Errorf("after %d visits ηᵀΛ⁻¹η is %.4f, want about %.4f", 1<<place, got[place], want)
		}
	}
	if r := rank.RankCorrelation(got, inverse); r < 0.95 {
		t.Errorf("the rank correlation with inverse counts is %.3f, want more than 0.95", r)
	}
}

// TestRFFMeasuresAgainstEarlierBatches: a new place is as new the second time in a rollout batch as the first.
func TestRFFMeasuresAgainstEarlierBatches(t *testing.T) {
	m := newRFF(t, rawRFF(), placesSpec(1), 1)
	if u := rewardAt(t, m, 0, 0, 0, 1); u[0] >= u[3] {
		t.Errorf("in the first batch, a place of three steps is worth %g, that of one %g", u[0], u[3])
	}
	if u := rewardAt(t, m, 2, 2, 0, 1); u[0] != u[1] || u[1] <= u[3] || u[3] <= u[2] {
		t.Errorf("a new place twice, then places of three steps and one: %v", u)
	}
	if u := rewardAt(t, m, 2, 3); u[0] > 1 || u[1] < 1.5 {
		t.Errorf("in the third batch, a place of the second and a new one: %v", u)
	}
}

// TestRFFCountsEachAgentsOwnStepsAndAddsPeers: agent 1 has been where agent 0 has not.
func TestRFFCountsEachAgentsOwnStepsAndAddsPeers(t *testing.T) {
	var u [2][]float32
	for others := range u {
		c := rawRFF()
		c.Others = float64(others)
		m := newRFF(t, c, placesSpec(2), 1)
		rewardAt(t, m, 0, 0, 0, 1, 0, 2, -1, 2)
		u[others] = slices.Clone(rewardAt(t, m, 1, 1, 3, -1))
	}
	own, shared := u[0], u[1]
	if own[0] < 1.5 || own[1] > 1 || own[3] != 0 { // √(½·log(1+D/λ)) is 2, after a visit it is √(½·log 2), 0.6
		t.Errorf("a place new to the first agent, known to the second, a new one and a dead agent: %v", own)
	}
	sum := own[0] + own[1] // the peer is dead in the second frame
	if math.Abs(float64(shared[0]-sum)) > 1e-6 || shared[0] != shared[1] || shared[2] != own[2] || shared[3] != 0 {
		t.Errorf("with peers' novelty %v become %v", own, shared)
	}
}

// TestRFFWavesDependOnTheSeed and on nothing else.
func TestRFFWavesDependOnTheSeed(t *testing.T) {
	a, same := newRFF(t, rawRFF(), placesSpec(1), 1), newRFF(t, DefaultRFF(), placesSpec(2), 1)
	other := newRFF(t, rawRFF(), placesSpec(1), 2)
	if !mat.Equal(a.waves, same.waves) || !slices.Equal(a.phase, same.phase) {
		t.Error("one seed draws two sets of waves")
	}
	if mat.EqualApprox(a.waves, other.waves, 0.1) || slices.Equal(a.phase, other.phase) {
		t.Error("two seeds draw the same waves")
	}
}

// TestRFFApproximatesTheGaussianKernel: η·η'/D of 400 random pairs at each distance, in units of ℓ.
func TestRFFApproximatesTheGaussianKernel(t *testing.T) {
	m, r := newRFF(t, rawRFF(), placesSpec(1), 1), rng.New(1, "pairs")
	const pairs = 400
	for _, distance := range []float64{0.3, 1, 2, 4} {
		obs, ones, kernel := mat.NewDense(2*pairs, 10, nil), slices.Repeat([]float64{1}, 2*pairs), 0.0
		for k := range pairs {
			step := mat.NewVecDense(10, nil)
			for i := range 10 {
				obs.Set(2*k, i, float64(r.Norm()))
				step.SetVec(i, float64(r.Norm()))
			}
			step.ScaleVec(distance/mat.Norm(step, 2), step)
			for i := range 10 {
				obs.Set(2*k+1, i, obs.At(2*k, i)+step.AtVec(i))
			}
		}
		err := m.each(t.Context(), obs, ones, func(_ int, eta *mat.Dense) {
			for k := 0; k < eta.RawMatrix().Rows; k += 2 {
				kernel += mat.Dot(eta.RowView(k), eta.RowView(k+1)) / float64(len(m.phase)*pairs)
			}
		})
		if want := math.Exp(-distance * distance / 2); err != nil || math.Abs(kernel-want) > 0.1 {
			t.Errorf("at a distance of %g ℓ the kernel is %.3f (%v), want %.3f", distance, kernel, err, want)
		}
	}
}

// TestRFFScaleIsOfTheFirstBatch: observations in other units have the same novelty, and constant ones have a scale.
func TestRFFScaleIsOfTheFirstBatch(t *testing.T) {
	var u [2][]float32
	for k, unit := range []float32{1, 1000} {
		m := newRFF(t, rawRFF(), placesSpec(1), 1)
		for _, places := range [][]int{{0, 1, 2, 0, 1, 0}, {3, 2, 1, 0, 5, 5}} {
			x := rl.NewRollout(placesSpec(1), len(places), 0)
			for row, place := range places {
				x.Alive[row], x.ObsRow(row)[place] = 1, unit
			}
			must.Value(m.Reward(t.Context(), x))
			u[k] = x.Intrinsic
		}
	}
	for row := range u[0] {
		if math.Abs(float64(u[0][row]-u[1][row])) > 1e-5 {
			t.Errorf("in units of 1 and 1000 the bonuses are %v and %v", u[0], u[1])
		}
	}
	m := newRFF(t, rawRFF(), placesSpec(1), 1)
	rewardAt(t, m, 4)
	if u := rewardAt(t, m, 4, 5); !(u[0] < u[1]) || m.agents[0].Length != m.cfg.Bandwidth {
		t.Errorf("after constant observations, at ℓ = %g: %v", m.agents[0].Length, u)
	}
}

func TestSavedRFFGoesOnBitExactly(t *testing.T) {
	one, two := newRFF(t, DefaultRFF(), placesSpec(2), 1), newRFF(t, DefaultRFF(), placesSpec(2), 1)
	rewardAt(t, one, 0, 1, 2, 2, 1, 3, 0, 0)
	must.Do(t, two.Load(one.Save()))
	for range 2 {
		if a, b := rewardAt(t, one, 5, 1, 4, 0), rewardAt(t, two, 5, 1, 4, 0); !slices.Equal(a, b) {
			t.Errorf("it goes on with %v, want %v", b, a)
		}
	}
	fewer := DefaultRFF()
	fewer.Waves = 7
	for _, other := range []*rff{newRFF(t, fewer, placesSpec(2), 1), newRFF(t, DefaultRFF(), placesSpec(1), 1)} {
		if other.Load(one.Save()) == nil || other.Load(nil) == nil {
			t.Error("a state of other settings, or none, is accepted")
		}
	}
}
