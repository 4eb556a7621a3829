// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"cermic/cermiclib/rl"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// testElliptical is a form whose features are set by hand, one kind of step per row.
func testElliptical(lambda float64, features [][]float32) *elliptical {
	f := &elliptical{Elliptical: Elliptical{Lambda: lambda}, width: len(features[0])}
	for k, row := range features {
		f.now.flat, f.now.of = append(f.now.flat, row...), append(f.now.of, int32(k))
	}
	return f
}

// kinds are so many features that distinguish all steps.
func kinds(n int) (features [][]float32) {
	for k := range n {
		features = append(features, make([]float32, n))
		features[k][k] = 1
	}
	return features
}

// r^i agrees with a plain inverse of Λ for features with two weights.
func TestEllipticalBonusIsTheInformationGain(t *testing.T) {
	const width, rows, lambda = 6, 40, 0.3
	r := rng.New(1, "elliptical")
	features, weights := make([][]float32, rows), make([]float64, rows)
	for k := range features {
		weights[k] = float64(k % 3) // some have weight 0
		for range width {
			features[k] = append(features[k], 3*r.Norm())
		}
	}
	f := testElliptical(lambda, features)
	must.Do(t, f.factorise(&f.now, weights))
	got := make([]float32, rows)
	gains(got, f.distances(&f.now), nil)
	squares, total := 0.0, 0.0
	for row, w := range weights {
		for _, v := range features[row] {
			squares, total = squares+w*float64(v)*float64(v), total+w
		}
	}
	eta := func(row int) *mat.VecDense { // features in units of their root mean square, and 1
		v := mat.NewVecDense(width+1, nil)
		for i, value := range features[row] {
			v.SetVec(i, float64(value)/math.Sqrt(squares/total))
		}
		v.SetVec(width, 1)
		return v
	}
	sum := mat.NewSymDense(width+1, nil)
	for i := range width + 1 {
		sum.SetSym(i, i, lambda)
	}
	for row, w := range weights {
		sum.SymRankOne(sum, w, eta(row))
	}
	var inverse mat.Dense
	must.Do(t, inverse.Inverse(sum))
	for row, r := range got {
		want := 0.5 * math.Log1p(mat.Inner(eta(row), &inverse, eta(row)))
		if math.Abs(float64(r)-want) > 1e-6*max(1, want) {
			t.Fatalf("row %d gets %g, want %g", row, r, want)
		}
	}
	alive := slices.Repeat([]uint8{1}, rows)
	alive[5] = 0
	if gains(got, f.distances(&f.now), alive); got[5] != 0 || got[6] == 0 {
		t.Errorf("a dead agent gets %g, a living one %g", got[5], got[6])
	}
}

// Where features distinguish all steps, the bonus is the count-based one: x is 1/n after n visits.
func TestEllipticalCountsWhatItTellsApart(t *testing.T) {
	visits := []float64{1, 10, 100, 1000}
	f := testElliptical(1e-6, kinds(len(visits)))
	must.Do(t, f.factorise(&f.now, visits))
	got := make([]float32, len(visits))
	gains(got, f.distances(&f.now), nil)
	for kind, n := range visits {
		if x := math.Expm1(2 * float64(got[kind])); math.Abs(x*n-1) > 0.01 {
			t.Errorf("after %g visits x is %g, want %g", n, x, 1/n)
		}
	}
}

// A repeated step earns less and less; a step that never occurred earns more.
func TestEllipticalBonusFades(t *testing.T) {
	spec := fakeSpec(4)
	m, _ := newModule(t, withForm(DefaultElliptical()), spec, 1)
	x := fakeRollout(spec, 9, 0)
	mean := func() float64 {
		reward(t, m, x)
		sum := 0.0
		for _, r := range m.raw {
			sum += float64(r)
		}
		x.Iteration++
		return sum / float64(len(m.raw))
	}
	first := mean()
	for range 8 {
		mean()
	}
	tenth := mean()
	if tenth > 0.4*first {
		t.Errorf("the bonus of the same steps is %g at first and %g in the tenth rollout", first, tenth)
	}
	y := fakeRollout(spec, 9, 55)
	if reward(t, m, y); float64(slices.Max(m.raw)) < 1.5*tenth {
		t.Errorf("new steps get at most %g, known ones %g", slices.Max(m.raw), tenth)
	}
}

// Σ w·v over the drawn steps equals Σ over all steps in expectation, for any leverage. At most room steps are drawn.
func TestDrawingByLeverageKeepsSums(t *testing.T) {
	const steps, room, times = 400, 60, 4000
	r := rng.New(3, "leverage")
	weight, leverage, value := make([]float64, steps), make([]float64, steps), make([]float64, steps)
	want := 0.0
	for i := range weight {
		weight[i], leverage[i], value[i] = 1+9*r.Float64(), math.Pow(r.Float64(), 6), r.Float64()
		want += weight[i] * value[i]
	}
	leverage[7], leverage[8] = 1e3, 0
	got, always, common := 0.0, 0, 0
	for k := range times {
		chosen, chance := draw(weight, leverage, room, rng.New(uint64(k), "draw"))
		if len(chosen) > room || len(chosen) < room-1 {
			t.Fatalf("%d steps drawn, want %d", len(chosen), room)
		}
		for _, i := range chosen {
			got += weight[i] / chance[i] * value[i] / times
			switch i {
			case 7:
				always++
			case 8:
				common++
			}
		}
	}
	if math.Abs(got-want) > 0.02*want {
		t.Errorf("the weighted sum is %.1f in the mean, want %.1f", got, want)
	}
	if always != times {
		t.Errorf("the step that nothing else tells of was kept in %d of %d draws", always, times)
	}
	if common == 0 || common > times/2 {
		t.Errorf("the step without leverage was kept in %d of %d draws, want a few", common, times)
	}
}

// With a hundred kept steps of sixty thousand, x of a place is still about one over its visits. A place with ten visits
// is neither new nor as familiar as the rest.
func TestLeverageTellsRareFromNew(t *testing.T) {
	const batches = 20
	visits := []int{3000, 25, 1, 0} // in each batch, the third kind in the first one alone
	rows := 0
	for _, n := range visits {
		rows += n
	}
	x := &rl.Rollout{T: rows, E: 1, N: 1, Alive: slices.Repeat([]uint8{1}, rows)}
	of := make([]int32, 0, rows) // kind of each step
	for k, n := range visits {
		of = append(of, slices.Repeat([]int32{int32(k)}, n)...)
	}
	f := testElliptical(1e-3, kinds(len(visits)))
	f.now.of = of
	f.past = &reservoir{room: 100, seed: 1, obs: 1}
	from := steps{obs: func(to []float32, row int) { to[0] = float32(of[row]) }, act: func([]float32, int) {}}
	remembered := func() { // as measure and learn do
		f.old = distinct{flat: f.now.flat}
		for k := range f.past.rows() {
			f.old.of = append(f.old.of, int32(f.past.Obs[k]))
		}
		must.Do(t, f.factorise(&f.old, f.old.weights(func(k int) float64 { return f.past.Weight[k] })))
	}
	for batch := range batches {
		x.Iteration = batch
		if batch == 0 { // measured beside itself
			must.Do(t, f.factorise(&f.now, f.now.weights(func(int) float64 { return 1 })))
		} else {
			remembered()
			x.Alive[rows-1] = 0 // the third kind
		}
		f.past.resample(x, from, f.distances(&f.old), f.distances(&f.now))
	}
	remembered()
	f.now.of = []int32{0, 1, 2, 3}
	far := f.distances(&f.now)
	for kind, n := range []float64{3000 * batches, 25 * batches, 1} {
		if got := 1 / far[kind]; got < 0.5*n || got > 2*n {
			t.Errorf("after %g visits x is 1/%.3g", n, got)
		}
	}
	if far[3] < 100*far[1] {
		t.Errorf("where nobody has been x is %g, and %g after %d visits", far[3], far[1], 25*batches)
	}
}

// Weights of the kept steps add up to about all steps so far, and at most room steps are kept.
func TestReservoirKeepsStepsWithWeightsThatCount(t *testing.T) {
	spec := fakeSpec(4)
	m, _ := newModule(t, withForm(formsUnderTest()["elliptical"]), spec, 1)
	f := m.form.(*elliptical)
	for it := range 3 {
		x := fakeRollout(spec, 9, it)
		must.Do(t, f.reward(t.Context(), make([]float32, x.Rows()), x))
	}
	weights := 0.0
	for _, w := range f.past.Weight {
		weights += w
	}
	if all := float64(3 * 9 * 4 * 3); f.past.rows() < f.Reservoir-1 || f.past.rows() > f.Reservoir || weights < all/2 || weights > 2*all {
		t.Errorf("%d steps are kept, want %d; their weights add up to %g, want about %g", f.past.rows(), f.Reservoir, weights, all)
	}
}

// Steps are alike exactly if their inputs are equal in every bit.
func TestStepsAreAlikeInEveryBit(t *testing.T) {
	zero := float32(math.Copysign(0, -1))
	obs, act := []float32{0, 1, 0, 2, 1, zero, 1}, []float32{0, 1, 0, 0, 1, 0, 2}
	s := steps{
		obs: func(to []float32, row int) { to[0] = obs[row] },
		act: func(to []float32, row int) { to[0] = act[row] },
	}
	var d distinct
	first, of := []int{0, 1, 3, 5, 6}, []int32{0, 1, 0, 2, 1, 3, 4}
	if got := d.find(s, len(obs), 1, 1); !slices.Equal(got, first) || !slices.Equal(d.of, of) {
		t.Errorf("first %v of %v, want %v of %v", got, d.of, first, of)
	}
	if w := d.weights(func(int) float64 { return 2 }); w[0] != 4 || len(w) != len(first) {
		t.Errorf("with a weight of 2 each, kinds weigh %v", w)
	}
}
