// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs/rng"
)

// unscaled leaves features as they are.
func unscaled(width int) scaling {
	return scaling{make([]float64, width), slices.Repeat([]float64{1}, width)}
}

func everyRow(int) bool { return true }

// testAlgebra is an algebra of its own.
func testAlgebra(t *testing.T, dims int, weighted bool) *algebra {
	t.Helper()
	backend, err := nn.Open()
	if err != nil {
		t.Fatal(err)
	}
	b := &nn.Build{Spec: fakeSpec(1), Backend: backend, Store: nn.NewStore(1), Seed: 1}
	t.Cleanup(b.Close)
	a, err := newAlgebra(b, dims, weighted)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ηᵀΛ⁻¹η of many blocks of steps agrees with a plain inverse.
func TestEllipsoidIsTheInverse(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		checkInverse(t, weighted)
	}
}

func checkInverse(t *testing.T, weighted bool) {
	t.Helper()
	const width, rows, lambda, weight = 6, 2*ellipsoidRows + 17, 0.3, 2.5
	r := rng.New(1, "ellipsoid")
	features := make([]float32, rows*width)
	for i := range features {
		features[i] = r.Norm()
	}
	s := unscaled(width)
	s.shift[2], s.by[3] = 0.5, 4
	counts := func(row int) bool { return row%5 != 0 }
	e := newEllipsoid(testAlgebra(t, len(s.by)+1, weighted), s, lambda)
	if weighted {
		e.addWeighted(different(features, width), counts, func(int) float64 { return weight })
	} else {
		e.add(different(features, width), counts, weight)
	}
	if err := e.factorise(); err != nil {
		t.Fatal(err)
	}
	got := make([]float32, rows)
	e.distance(got, different(features, width), everyRow)

	sum := mat.NewSymDense(width+1, nil)
	v := mat.NewVecDense(width+1, nil)
	for i := range width + 1 {
		sum.SetSym(i, i, lambda)
	}
	for row := range rows {
		if counts(row) {
			eta(s, v.RawVector().Data, features[row*width:(row+1)*width])
			sum.SymRankOne(sum, weight, v)
		}
	}
	var inverse mat.Dense
	if err := inverse.Inverse(sum); err != nil {
		t.Fatal(err)
	}
	for row := range rows {
		eta(s, v.RawVector().Data, features[row*width:(row+1)*width])
		if want := mat.Inner(v, &inverse, v); math.Abs(float64(got[row])-want) > 1e-5*want { // products are of float32
			t.Fatalf("row %d has distance %g, want %g", row, got[row], want)
		}
	}
}

// The running inverse of an episode is that of its steps so far, and of these alone.
func TestEpisodesForgetAtTheirEnd(t *testing.T) {
	const width, lambda = 3, 0.5
	p, err := newEpisodes(2, width+1, lambda)
	if err != nil {
		t.Fatal(err)
	}
	r, s := rng.New(2, "episodes"), unscaled(width)
	var e *ellipsoid
	for step := range 60 {
		if step%20 == 0 {
			e = newEllipsoid(testAlgebra(t, len(s.by)+1, false), s, lambda)
		}
		f := []float32{r.Norm(), r.Norm(), r.Norm()}
		if err := e.factorise(); err != nil {
			t.Fatal(err)
		}
		want := make([]float32, 1)
		e.distance(want, different(f, len(f)), everyRow)
		if got := p.visit(1, step%20 == 0, f, s); math.Abs(got-float64(want[0])) > 1e-5*got {
			t.Fatalf("step %d has distance %g, want %g", step, got, want[0])
		}
		e.add(different(f, len(f)), everyRow, 1)
		p.visit(0, false, []float32{9, 9, 9}, s) // another agent
	}
}

// Where features tell steps apart without error, the bonus is that of counting: r^i = (λ + n)^-½.
func TestEllipticalCountsWhatItTellsApart(t *testing.T) {
	const kinds, lambda = 4, 1
	visits := []int{1, 10, 100, 1000}
	s := unscaled(kinds)
	s.by = slices.Repeat([]float64{1e3}, kinds) // so large that the constant, which all share, tells nothing
	e := newEllipsoid(testAlgebra(t, len(s.by)+1, false), s, lambda)
	for kind, n := range visits {
		f := make([]float32, kinds)
		f[kind] = 1
		for range n {
			e.add(different(f, len(f)), everyRow, 1)
		}
	}
	if err := e.factorise(); err != nil {
		t.Fatal(err)
	}
	for kind, n := range visits {
		f, got := make([]float32, kinds), make([]float32, 1)
		f[kind] = 1
		e.distance(got, different(f, len(f)), everyRow)
		if want := 1 / float64(n); math.Abs(float64(got[0])-want) > 0.01*want { // λ beside 1e6·n, and the constant
			t.Errorf("after %d visits x is %g, want %g", n, got[0], want)
		}
	}
}

// A step that comes again and again pays less and less; one that has never been pays more.
func TestEllipticalBonusFades(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a module for each form")
	}
	spec := fakeSpec(4)
	for _, features := range []string{FeatureCode, FeatureHidden, FeatureEmbed, FeaturePred, FeatureNext} {
		for _, whose := range []string{WhoseAll, WhoseOwn} {
			f := DefaultElliptical()
			f.Features, f.Whose = features, whose
			m, _ := newModule(t, withForm(f), spec, 1)
			x := fakeRollout(spec, 9, 0)
			mean := func() float64 {
				reward(t, m, x)
				sum := 0.0
				for _, r := range m.raw {
					sum += float64(r)
				}
				return sum / float64(len(m.raw))
			}
			first := mean()
			for range 8 {
				mean()
			}
			x.Iteration++
			ninth := mean()
			// After ten times as many of the same steps, 10^-½ = .32 of it is left where λ counts little; it still does at first.
			if ninth > 0.6*first {
				t.Errorf("%s, %s: the bonus of the same steps is %g at first and %g in the tenth rollout", features, whose, first, ninth)
			}
			y := fakeRollout(spec, 9, 55)
			if reward(t, m, y); float64(slices.Max(m.raw)) < 1.5*ninth {
				t.Errorf("%s, %s: new steps get at most %g, known ones %g", features, whose, slices.Max(m.raw), ninth)
			}
		}
	}
}

// Λ of a sample of the agent steps, each with the weight of those it stands for, is about that of all: the bonus of a step goes with it.
func TestSampledLambdaGoesWithTheWhole(t *testing.T) {
	spec := fakeSpec(4)
	ratings := func(sample int) []float32 {
		f := DefaultElliptical()
		f.Sample = sample
		m, _ := newModule(t, withForm(f), spec, 1)
		x := fakeRollout(spec, 64, 0)
		for range 3 {
			reward(t, m, x)
			x.Iteration++
		}
		return slices.Clone(m.raw)
	}
	all, half := ratings(0), ratings(fakeRollout(spec, 64, 0).Rows()/2)
	var a, b float64
	for i := range all {
		a, b = a+float64(all[i]), b+float64(half[i])
	}
	if ratio := b / a; math.Abs(ratio-1) > 0.15 {
		t.Errorf("the mean bonus with half of the steps is %.3f of that with all, want about 1", ratio)
	}
	if slices.Equal(all, half) {
		t.Error("the sample changes nothing")
	}
}

// Every agent step so far is as likely to be kept, whenever it came; one that forgets prefers the last rollouts.
func TestReservoirIsUniform(t *testing.T) {
	spec := fakeSpec(4)
	b := &nn.Build{Spec: spec, Seed: 3}
	kept := func(keep float64, seeds int) []float64 {
		share := make([]float64, 6)
		for seed := range seeds {
			b.Seed = uint64(seed)
			r, err := newReservoir(60, 2, b)
			if err != nil {
				t.Fatal(err)
			}
			for it := range share {
				x := fakeRollout(spec, 9, it) // 108 agent steps
				for row := range x.Rows() {
					x.ObsRow(row)[0] = float32(it)
				}
				r.fade(keep)
				r.take(x, steps{obs: x.Gather, act: func([]float32, int) {}})
			}
			for row := range r.rows() {
				share[int(r.Obs[row*5])] += 1 / float64(r.rows()*seeds)
			}
			if total := r.total(); keep == 1 && total != 648 {
				t.Fatalf("%g steps were counted, want 648", total)
			}
		}
		return share
	}
	for it, share := range kept(1, 50) {
		// 3,000 draws at 1/6: a standard deviation of .007.
		if math.Abs(share-1.0/6) > 0.035 {
			t.Errorf("rollout %d of 6 has a share of %.3f", it, share)
		}
	}
	fading := kept(0.5, 50)
	if !slices.IsSorted(fading) || math.Abs(fading[5]-0.5) > 0.05 {
		t.Errorf("with half of the weight forgotten, rollouts have shares of %.3f", fading)
	}
}

// Steps of a peer count as much as γ for an agent that detects it, and not for others.
func TestPeersInSightCountInLambda(t *testing.T) {
	spec := fakeSpec(2)
	f := DefaultElliptical()
	f.Whose, f.Peers = WhoseOwn, true
	c := withForm(f)
	c.Memory = memory.DefaultGraph()
	m, store := newModule(t, c, spec, 1)
	e := m.form.(*elliptical)
	m.mem = sightedMemory{m.mem, func(row int) uint64 { return map[int]uint64{0: 1 << 1}[row%3] }} // agent 0 sees agent 1; nobody else sees anybody
	x := fakeRollout(spec, 9, 0)
	lambdas := func(gamma float32) (flat [][]float64) {
		tensors.MustMutableFlatData(store.GetVariable("/cermic/critic/gamma_lo").MustValue(), func(flat []float32) { flat[0] = gamma })
		if err := e.measure(t.Context(), &e.now, x.Rows(), e.stepsOf(x)); err != nil {
			t.Fatal(err)
		}
		if err := e.learn(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		for _, k := range e.known {
			flat = append(flat, slices.Clone(k.sum.RawSymmetric().Data))
		}
		return flat
	}
	none, half := lambdas(0), lambdas(0.5)
	last := len(none[0]) - 1 // of the constant: the number of steps, and λ
	if got, want := none[0][last], 18.0+1; math.Abs(got-want) > 1e-9 {
		t.Errorf("without γ, Λ holds %g steps, want %g", got, want)
	}
	if got, want := half[0][last], 18+9.0+1; math.Abs(got-want) > 1e-9 {
		t.Errorf("with γ = 1/2, Λ holds %g steps, want %g", got, want)
	}
	if !slices.Equal(none[1], half[1]) || !slices.Equal(none[2], half[2]) {
		t.Error("agents that see nobody count steps of others")
	}
}

// sightedMemory is a memory with detections of its own.
type sightedMemory struct {
	memory.Memory
	seen func(row int) uint64
}

func (s sightedMemory) Watch(*rl.Rollout) error { return nil }

func (s sightedMemory) Inspect(*rl.Rollout) ([]results.Graph, error) { return nil, nil }

func (s sightedMemory) Detected() []uint64 {
	seen := make([]uint64, 9*2*3)
	for row := range seen {
		seen[row] = s.seen(row)
	}
	return seen
}

// ½·log(1 + x) is 1 at x = e² − 1.
func TestTheLogShapeIsTheRootOfAnInformationGain(t *testing.T) {
	f := &elliptical{Elliptical: Elliptical{Shape: ShapeLog}}
	if got := f.shaped(float32(math.E*math.E - 1)); math.Abs(float64(got)-1) > 1e-6 {
		t.Errorf("r^i is %g, want 1", got)
	}
}

// Waves are those of the seed: equal ones of equal seeds, others of another.
func TestFourierWavesAreThoseOfTheSeed(t *testing.T) {
	e := DefaultElliptical()
	e.Waves = 5
	b := &nn.Build{Backend: pureGo(t), Store: nn.NewStore(1)}
	inputs := []nn.Input{nn.F32("features", 1, 3)}
	p, err := nn.NewProgram(b, "waves", inputs, func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{e.fourier(in[0], 1), e.fourier(in[0], 1), e.fourier(in[0], 2)}
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Feed(0, func(dst []float32) { copy(dst, []float32{1, 2, 4}) })
	if err := p.Run(); err != nil {
		t.Fatal(err)
	}
	var waves [3][6]float32
	for i := range waves {
		p.Read(i, waves[i][:])
	}
	if waves[0] != waves[1] || waves[0][0] == waves[2][0] {
		t.Errorf("of the seeds 1, 1 and 2 they are %v", waves)
	}
}
