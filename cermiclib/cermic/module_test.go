// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/nn/nntest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// fakeSpec is a task of c environments with 3 agents, observations of length 5 and two-dimensional continuous actions.
func fakeSpec(c int) *envs.Spec {
	return &envs.Spec{Name: "fake", NumEnvs: c, Agents: 3, Obs: []int{5}, State: 1,
		Act: envs.ActSpec{Dim: 2, Low: []float32{-1, -1}, High: []float32{1, 1}}}
}

// fakeRollout is a rollout of t steps with smooth random walks. An episode of environment k ends at every step with
// (step+k) % 7 == 6.
func fakeRollout(spec *envs.Spec, t, iteration int) *rl.Rollout {
	x := rl.NewRollout(spec, t, 0)
	x.Iteration, x.Frames = iteration, iteration*t*spec.NumEnvs
	if spec.HidesPeers {
		x.KeepLabels()
	}
	r := rng.New(7, "fake rollout", uint64(iteration))
	step := envs.NewStep(spec)
	graphtest.Fill(step.Alive, 1)
	start := func(c int) {
		per := spec.Agents * spec.ObsLen()
		graphtest.Normal(r, step.Obs[c*per:(c+1)*per])
	}
	for c := range spec.NumEnvs {
		start(c)
		x.IsFirst[c] = 1
	}
	for k := range t {
		x.Observe(k, step)
		for i := range step.Obs {
			step.Obs[i] += 0.3 * r.Norm()
		}
		n := spec.NumEnvs * spec.Agents
		graphtest.Normal(r, x.Extrinsic[k*n:(k+1)*n])
		for i := range n * spec.Act.Dim {
			x.Act.Continuous[k*n*spec.Act.Dim+i] = r.Uniform(-1, 1)
		}
		for c := range spec.NumEnvs {
			if (k+c)%7 != 6 {
				continue
			}
			x.Truncated[k*spec.NumEnvs+c] = 1
			x.End(k, c, step)
			start(c)
			if k+1 < t {
				x.IsFirst[(k+1)*spec.NumEnvs+c] = 1
			}
		}
	}
	x.Observe(t, step)
	return x
}

func newModule(t testing.TB, c Config, spec *envs.Spec, seed uint64) (*module, *model.Store) {
	t.Helper()
	b := graphtest.Build(spec, seed)
	return must.Get(c.Build(b))(t).(*module), b.Store
}

// small returns the defaults with a short training.
func small() Config {
	c := Default()
	c.Memory = memory.MLP{Embed: 16, Hidden: 16, Width: 32}
	c.Hidden, c.Minibatch, c.Steps = 16, 16, 3
	return c
}

// iterate runs Reward and Update on the fake rollouts first to last-1. It returns all results: intrinsic rewards,
// scalars and finally all variables.
func iterate(t testing.TB, m *module, store *model.Store, spec *envs.Spec, first, last int) []float64 {
	t.Helper()
	var all []float64
	for it := first; it < last; it++ {
		x := fakeRollout(spec, 9, it)
		for _, f := range []func(context.Context, *rl.Rollout) (rl.Scalars, error){m.Reward, m.Update} {
			s := must.Value(f(t.Context(), x))
			for _, name := range slices.Sorted(maps.Keys(s)) {
				if math.IsNaN(s[name]) || math.IsInf(s[name], 0) {
					t.Fatalf("iteration %d: %s is %g", it, name, s[name])
				}
				all = append(all, s[name])
			}
		}
		all = append(all, nntest.Wide(x.Intrinsic)...)
	}
	return append(all, weights(store, "/")...)
}

func TestEqualSeedsGiveEqualRuns(t *testing.T) {
	spec := fakeSpec(4)
	a, storeA := newModule(t, small(), spec, 1)
	b, storeB := newModule(t, small(), spec, 1)
	c, storeC := newModule(t, small(), spec, 2)
	first := iterate(t, a, storeA, spec, 0, 2)
	if !slices.Equal(first, iterate(t, b, storeB, spec, 0, 2)) {
		t.Error("two runs with one seed differ")
	}
	if other := iterate(t, c, storeC, spec, 0, 1); slices.Equal(first[:20], other[:20]) {
		t.Error("runs with different seeds have equal results")
	}
}

func TestParameterCounts(t *testing.T) {
	spec := fakeSpec(1)
	spec.Obs = []int{18}
	c := small()
	c.Hidden, c.Memory = 0, memory.MLP{Embed: 64, Hidden: 128, Width: 512}
	_, store := newModule(t, c, spec, 1)
	// The counts of the specification, at 18 observed numbers, 2 numbers of force and F = 512.
	for path, want := range map[string]int{
		"encoder": 27_200, "transition": 315_520, "critic": 263_168, "contrast": 64 * 64,
		"momentum": 0, // a copy without trainable variables
		// The specification also counts an offset, which cancels in the default form of h, and a learned σ_ψ.
		"calibration": 65_921 - 1, "decoder": 296_257 - 1,
	} {
		if got := nntest.NumParameters(nn.Variables(store, "/cermic/"+path)); got != want {
			t.Errorf("%s has %d parameters, want %d", path, got, want)
		}
	}
}

// weights returns the values of all variables below a path, in alphabetical order.
func weights(store *model.Store, path string) (flat []float64) {
	for _, v := range nn.Variables(store, path) {
		flat = append(flat, values(v)...)
	}
	return flat
}

func TestMomentumEncoderFollowsItsFormula(t *testing.T) {
	spec := fakeSpec(4)
	c := small()
	c.Steps, c.Polyak = 1, 0.25
	m, store := newModule(t, c, spec, 1)
	start, slow := weights(store, "/cermic/encoder"), weights(store, "/cermic/momentum")
	if !slices.Equal(start, slow) {
		t.Fatal("θᵐ does not start as a copy of θ")
	}
	must.Value(m.Update(t.Context(), fakeRollout(spec, 5, 0)))
	online, after := weights(store, "/cermic/encoder"), weights(store, "/cermic/momentum")
	if slices.Equal(start, online) {
		t.Fatal("the gradient step does not change θ")
	}
	for i := range after {
		// Two roundings of float32.
		if want := 0.75*slow[i] + 0.25*online[i]; math.Abs(after[i]-want) > 2e-7*max(1, math.Abs(want)) {
			t.Fatalf("weight %d of θᵐ is %g, want (1-τ)·%g + τ·%g = %g", i, after[i], slow[i], online[i], want)
		}
	}
}

func TestEveryTrainableVariableMoves(t *testing.T) {
	spec := fakeSpec(4)
	c := small()
	c.Hidden = 0                                 // the default
	c.Upper, c.Lower, c.Chance = 0.12, 0.05, 0.9 // both exploitation losses act from the start
	m, store := newModule(t, c, spec, 1)
	for _, name := range []string{"gamma_lo", "gamma_hi"} { // h has no gradient at γ = 0
		graphtest.Set(store, "/cermic/critic/"+name, 0.5)
	}
	before := map[string][]float64{}
	variables := nn.Variables(store, "")
	for _, v := range variables {
		before[v.Path()] = values(v)
	}
	for it := range 2 {
		s := must.Value(m.Update(t.Context(), fakeRollout(spec, 9, it)))
		if it == 0 && (s["cermic/upper_active"] == 0 || s["cermic/lower_active"] == 0) {
			t.Fatalf("a ReLU is never active: %v", s)
		}
	}
	for _, v := range variables {
		if v.Trainable && slices.Equal(before[v.Path()], values(v)) {
			t.Errorf("%s has not moved", v.Path())
		}
	}
}

// values returns a copy of a variable's values.
func values(v *model.Variable) []float64 {
	return nntest.Wide(must.Value(tensors.CopyFlatData[float32](v.MustValue())))
}

// A module that is saved after two iterations and loaded again matches an uninterrupted one.
func TestSavedModuleContinuesBitExactly(t *testing.T) {
	spec, stateful := fakeSpec(4), small()
	stateful.IntNorm = explore.NormReturnStd // keeps state on the host
	configs := map[string]Config{"running statistics": stateful}
	for name, f := range formsUnderTest() {
		configs[name] = withForm(f)
	}
	for name, c := range configs {
		whole, wholeStore := newModule(t, c, spec, 1)
		iterate(t, whole, wholeStore, spec, 0, 2)
		resumed, resumedStore := newModule(t, c, spec, 1)
		graphtest.CopyVariables(resumedStore, wholeStore)
		must.Do(t, resumed.Load(whole.Save()))
		if want := iterate(t, whole, wholeStore, spec, 2, 4); !slices.Equal(want, iterate(t, resumed, resumedStore, spec, 2, 4)) {
			t.Errorf("%s: the resumed module differs from the uninterrupted one", name)
		}
		if err := resumed.Load([]byte("[]")); err == nil {
			t.Errorf("%s: Load accepts a state of another shape", name)
		}
	}
}

// The last step of an episode is trained on the true last observation, not on the next episode's first one.
func TestTrainingSeesTheTrueLastObservation(t *testing.T) {
	spec := fakeSpec(1)
	c := small()
	c.Minibatch = 30
	m, _ := newModule(t, c, spec, 1)
	x := fakeRollout(spec, 10, 0) // ends with step 6
	rows := make([]int32, 30)
	for i := range rows {
		rows[i] = int32(i)
	}
	m.feed(x, rows, slices.Repeat([]float32{1}, 30), 0)
	m.step.Feed(inNext, func(next []float32) {
		for row := range 30 {
			got, after := next[row*5:(row+1)*5], x.ObsRow(row+3)
			if last := row/3 == 6; slices.Equal(got, after) == last || !slices.Equal(got, x.NextRow(row)) {
				t.Errorf("row %d is fed %v as its next observation; the next row of the rollout is %v", row, got, after)
			}
		}
	})
}

func TestLiteralPresetChangesTenSettings(t *testing.T) {
	want := Default()
	want.LowerSign, want.NegKind, want.MIBounds, want.CalibForm = "printed", "noise", "appendix", "plain"
	want.Contrast, want.IntNorm, want.IntMemory = 0, "none", 0
	want.NegFilter, want.CalibCentre, want.PsiSpread = false, false, "learned"
	if Literal() != want {
		t.Errorf("Literal() is %+v, want %+v", Literal(), want)
	}
}

func TestBackendsAgree(t *testing.T) {
	fast := must.Value(nn.Open())
	if fast.Label == "go" {
		t.Skip("no second backend here")
	}
	if testing.Short() {
		t.Skip("compiling for XLA takes seconds")
	}
	spec := fakeSpec(4)
	var runs [2][]float64
	for i, b := range []nn.Backend{fast, graphtest.Backend()} {
		m := must.Value(small().Build(&nn.Build{Spec: spec, Backend: b, Store: nn.NewStore(1), Seed: 1}))
		x := fakeRollout(spec, 9, 0)
		s := must.Value(m.Update(t.Context(), x))
		for _, name := range slices.Sorted(maps.Keys(s)) {
			runs[i] = append(runs[i], s[name])
		}
		must.Value(m.Reward(t.Context(), x))
		runs[i] = append(runs[i], nntest.Wide(m.(*module).raw)...)
	}
	for k, v := range runs[0] {
		// Sums of up to 512 float32 in another order; the first steps of Adam amplify rounding.
		if math.Abs(v-runs[1][k]) > 2e-3*max(0.1, math.Abs(v)) {
			t.Errorf("value %d is %g on %s and %g on the pure Go backend", k, v, fast.Label, runs[1][k])
		}
	}
}

func TestHealthWarnsOutsideTheDocumentedRanges(t *testing.T) {
	var h health
	s := rl.Scalars{"cermic/enc_std": 0.05, "cermic/upper_active": 0.3}
	h.check(s)
	if s["cermic/warn_enc_std"] != 1 || s["cermic/warn_upper_active"] != 0 {
		t.Errorf("warnings are %v, want one for enc_std alone", s)
	}
	if _, there := s["cermic/warn_lower_active"]; there {
		t.Error("a scalar that was not reported has a warning")
	}
}

// A range is warned of once, after the first updates, and only on the side that has a message.
func TestHealthLogsAViolationOnce(t *testing.T) {
	log := must.Log(t)
	var h health
	for h.updates = range healthSettle + 5 {
		h.check(rl.Scalars{"cermic/enc_std": 0.05, "cermic/upper_active": 0.01, "cermic/kl": 1})
		if h.updates <= healthSettle && log.Len() > 0 {
			t.Fatalf("warned after %d updates: %s", h.updates, log)
		}
	}
	text := log.String()
	if strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "embeddings have collapsed") ||
		!strings.Contains(text, "cermic/enc_std") {
		t.Errorf("the log is %q, want one warning of collapsed embeddings", text)
	}
}

// After normalisation a nearly constant bonus has the same spread as any other, so its health is judged before.
func TestHealthJudgesTheBonusBeforeItIsNormalised(t *testing.T) {
	spec := fakeSpec(2)
	c := small()
	c.Bonus = explore.DefaultBonus("cermic") // centred, in units of its standard deviation
	m, _ := newModule(t, c, spec, 1)
	x := fakeRollout(spec, 4, 0)
	s, _ := reward(t, m, x)
	if s["cermic/int_norm_std"] < 0.9 || s["cermic/int_variation"] != s["cermic/int_std"]/s["cermic/int_mean"] {
		t.Fatalf("the bonus is %g ± %g and normalised %g ± %g: int_variation %g", s["cermic/int_mean"],
			s["cermic/int_std"], s["cermic/int_norm_mean"], s["cermic/int_norm_std"], s["cermic/int_variation"])
	}
	if _, there := s["cermic/int_rarity"]; there {
		t.Error("int_rarity is reported for a task without visit counts")
	}
	for _, b := range []struct {
		name           string
		raw            func(row int) float32
		constant, rare float64 // warnings
	}{
		{"the same everywhere", func(int) float32 { return 7 }, 1, 1},
		{"nearly the same everywhere", func(row int) float32 { return 7 + 0.05*float32(row%2) }, 1, 1},
		{"larger in less visited places", func(row int) float32 { return 1 / float32(1+row) }, 0, 0},
		{"larger in more visited places", func(row int) float32 { return float32(1 + row) }, 0, 1},
	} {
		x.Visits = make([]float32, x.Rows())
		raw := make([]float32, x.Rows())
		for row := range raw {
			raw[row], x.Visits[row] = b.raw(row), float32(1+row*row)
		}
		clear(x.Intrinsic)
		normaliser := explore.NewRewardNormaliser(c.Bonus)
		s := normaliser.Apply(x, raw, "cermic")
		judgeBonus(s, x, raw)
		new(health).check(s)
		if s["cermic/warn_int_variation"] != b.constant || s["cermic/warn_int_rarity"] != b.rare {
			t.Errorf("%s: variation %g, rarity %g, warnings %g and %g",
				b.name, s["cermic/int_variation"], s["cermic/int_rarity"],
				s["cermic/warn_int_variation"], s["cermic/warn_int_rarity"])
		}
	}
}
