// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"slices"
	"testing"

	"cermic/envs/rng"
)

// Steps are alike whose inputs are, in every bit, and no others.
func TestStepsAreAlikeInEveryBit(t *testing.T) {
	zero := float32(math.Copysign(0, -1))
	obs, act := []float32{0, 1, 0, 2, 1, zero, 1}, []float32{0, 1, 0, 0, 1, 0, 2}
	s := steps{
		obs: func(to []float32, row int) { to[0] = obs[row] },
		act: func(to []float32, row int) { to[0] = act[row] },
	}
	for _, c := range []struct {
		act   int
		first []int
		of    []int32
	}{
		{0, []int{0, 1, 3, 5}, []int32{0, 1, 0, 2, 1, 3, 1}},
		{1, []int{0, 1, 3, 5, 6}, []int32{0, 1, 0, 2, 1, 3, 4}},
	} {
		first, of := s.distinct(len(obs), 1, c.act)
		if !slices.Equal(first, c.first) || !slices.Equal(of, c.of) {
			t.Errorf("with %d numbers of actions: first %v of %v, want %v of %v", c.act, first, of, c.first, c.of)
		}
		to := []float32{9}
		if s.only(first).obs(to, len(first)-1); to[0] != obs[first[len(first)-1]] {
			t.Errorf("the last of them observes %g", to[0])
		}
	}
}

// Computed once for steps that look alike, features and distances are what they are computed for each step, but for the
// rounding of a product's last rows, which pure Go sums in another order.
func TestWhatIsComputedOnceIsWhatEachStepGets(t *testing.T) {
	e := DefaultElliptical()
	e.Features, e.Squash, e.Waves = FeatureEmbed, SquashFourier, 15
	m, _ := newModule(t, withForm(e), fakeSpec(4), 1)
	f := m.form.(*elliptical)
	const rows, kinds = scoreBatch + 100, 7
	r, of := rng.New(1, "alike"), make([]int, rows)
	looks := make([]float32, kinds*f.past.obs)
	for i := range looks {
		looks[i] = r.Norm()
	}
	for i := range of {
		of[i] = r.IntN(kinds)
	}
	x := steps{
		obs: func(to []float32, row int) { copy(to, looks[of[row]*f.past.obs:]) },
		act: func(to []float32, row int) { clear(to); to[0] = float32(row) }, // s_t does not depend on it
	}
	var once alike
	if err := f.measure(t.Context(), &once, rows, x); err != nil {
		t.Fatal(err)
	}
	if got := len(once.flat) / f.width; got != kinds || once.rows() != rows {
		t.Fatalf("%d different of %d steps, want %d of %d", got, once.rows(), kinds, rows)
	}
	near := func(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-5*max(math.Abs(float64(b)), 0.1) }
	flat := make([]float32, (rows+scoreBatch)*f.width)
	err := f.each(t.Context(), rows, x, func(first, _ int) error {
		f.prog.Read(0, flat[first*f.width:(first+scoreBatch)*f.width])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	each := different(flat[:rows*f.width], f.width)
	for row := range rows {
		if got, want := once.row(row), each.row(row); !slices.EqualFunc(got, want, near) {
			t.Fatalf("step %d has features %v, want %v", row, got, want)
		}
	}
	l := newEllipsoid(f.maths, scaling{}, 1)
	if err := l.add(each, everyRow, 1); err != nil {
		t.Fatal(err)
	}
	if err := l.factorise(); err != nil {
		t.Fatal(err)
	}
	got, want := make([]float32, rows), make([]float32, rows)
	odd := func(row int) bool { return row%2 == 1 }
	if err := l.distance(got, &once, odd); err != nil {
		t.Fatal(err)
	}
	if err := l.distance(want, each, odd); err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, want, near) || got[1] == 0 || got[0] != 0 {
		t.Errorf("distances differ, or are written for steps that do not count: %g and %g of the first two", got[0], got[1])
	}
}
