// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"slices"
	"testing"

	"cermic/cermiclib/nn"
	"cermic/envs/rng"
)

// Σ w·v over the steps that are drawn is Σ over all in expectation, whatever their leverage, and no more than room are drawn.
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

// With few steps kept, ηᵀΛ⁻¹η of a place is still one over its visits: where agents have been ten times among sixty thousand is neither new
// nor as old as the rest.
func TestLeverageTellsRareFromNew(t *testing.T) {
	const kinds, room, batches = 4, 100, 20
	visits := []int{3000, 25, 1, 0} // in each batch, the third kind in the first one alone
	a := testAlgebra(t, kinds+1, true)
	s := unscaled(kinds)
	spec := fakeSpec(1)
	past, err := newReservoir(room, 0, &nn.Build{Spec: spec, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	past.weighted = true
	one := func(kind int) []float32 {
		f := make([]float32, kinds)
		f[kind] = 100
		return f
	}
	known := func(steps []int) *ellipsoid {
		var features []float32
		for _, kind := range steps {
			features = append(features, one(kind)...)
		}
		e := newEllipsoid(a, s, 1)
		if err := e.addWeighted(different(features, kinds), everyRow, func(row int) float64 { return past.Weight[row] }); err != nil {
			t.Fatal(err)
		}
		if err := e.factorise(); err != nil {
			t.Fatal(err)
		}
		return e
	}
	var kept []int // kind of each step that is kept
	var e *ellipsoid
	for batch := range batches {
		if batch == 0 { // measured beside itself, as the first rollout is
			for kind, n := range visits {
				kept = append(kept, slices.Repeat([]int{kind}, n)...)
			}
			past.Weight = slices.Repeat([]float64{1}, len(kept))
		}
		e = known(kept)
		if batch == 0 {
			kept, past.Weight = nil, nil
		}
		far := func(kind int) float64 {
			x := make([]float32, 1)
			if err := e.distance(x, different(one(kind), kinds), everyRow); err != nil {
				t.Fatal(err)
			}
			return float64(x[0])
		}
		weight, leverage := append([]float64(nil), past.Weight...), []float64{}
		all := append([]int(nil), kept...)
		for i, kind := range kept {
			leverage = append(leverage, min(weight[i]*far(kind), 1))
		}
		for kind, n := range visits {
			if kind == 2 && batch > 0 {
				n = 0
			}
			x := far(kind)
			for range n {
				all, weight, leverage = append(all, kind), append(weight, 1), append(leverage, x/(1+x))
			}
		}
		chosen, chance := draw(weight, leverage, room, rng.New(uint64(batch), "kept"))
		kept, past.Weight = nil, nil
		for _, i := range chosen {
			kept, past.Weight = append(kept, all[i]), append(past.Weight, weight[i]/chance[i])
		}
	}
	e = known(kept)
	for kind, n := range []float64{3000 * batches, 25 * batches, 1} {
		x := make([]float32, 1)
		if err := e.distance(x, different(one(kind), kinds), everyRow); err != nil {
			t.Fatal(err)
		}
		if got := 1 / float64(x[0]); got < 0.5*n || got > 2*n {
			t.Errorf("after %g visits x is 1/%.1f", n, got)
		}
	}
	x := make([]float32, 1)
	if err := e.distance(x, different(one(3), kinds), everyRow); err != nil {
		t.Fatal(err)
	}
	if x[0] < 1e3 {
		t.Errorf("where nobody has been x is %g, want more than a thousand", x[0])
	}
}

// Steps are kept with weights that add up to all steps so far, and Λ counts each by its weight: its last component, a
// constant, adds them up.
func TestLeverageKeepsStepsWithWeightsThatCount(t *testing.T) {
	c := withForm(formsUnderTest()["leverage"])
	spec := fakeSpec(4)
	m, _ := newModule(t, c, spec, 1)
	f := m.form.(*elliptical)
	for it := range 3 {
		x := fakeRollout(spec, 9, it)
		if err := f.reward(t.Context(), make([]float32, x.Rows()), x); err != nil {
			t.Fatal(err)
		}
	}
	if f.past.rows() < f.Reservoir-1 || f.past.rows() > f.Reservoir {
		t.Fatalf("%d steps are kept, want %d", f.past.rows(), f.Reservoir)
	}
	weights := 0.0
	for _, w := range f.past.Weight {
		weights += w
	}
	if all := float64(3 * 9 * 4 * 3); weights < all/2 || weights > 2*all { // of one draw
		t.Errorf("the weights of %d steps add up to %g, want about %g", f.past.rows(), weights, all)
	}
	if err := f.learnEarlier(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	counted := 0.0
	for _, e := range f.known {
		counted += e.sum.At(e.dims-1, e.dims-1) - f.Lambda
	}
	if math.Abs(counted-weights) > 1e-4*weights { // squares of float32 roots
		t.Errorf("Λ counts %g steps, want %g", counted, weights)
	}
}
