// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs"
	"cermic/envs/rng"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// fakeSpec is a task of c copies and 3 agents with 5 observed numbers and 2 numbers of force.
func fakeSpec(c int) *envs.Spec {
	return &envs.Spec{Name: "fake", Copies: c, Agents: 3, Obs: []int{5}, State: 1,
		Act: envs.ActSpec{Dim: 2, Low: []float32{-1, -1}, High: []float32{1, 1}}}
}

// fakeRollout fills a rollout of t steps with smooth random walks; an episode of copy k ends whenever (step+k) % 7 == 6.
func fakeRollout(spec *envs.Spec, t, iteration int) *rl.Rollout {
	x := rl.NewRollout(spec, t, 0)
	x.Iteration, x.Frames = iteration, iteration*t*spec.Copies
	r := rng.New(7, "fake rollout", uint64(iteration))
	step := envs.NewStep(spec)
	for i := range step.Alive {
		step.Alive[i] = 1
	}
	start := func(c int) {
		per := spec.Agents * spec.ObsLen()
		for i := range per {
			step.Obs[c*per+i] = r.Norm()
		}
	}
	for c := range spec.Copies {
		start(c)
		x.Started[c] = 1
	}
	for k := range t {
		x.See(k, step)
		for i := range step.Obs {
			step.Obs[i] += 0.3 * r.Norm()
		}
		n := spec.Copies * spec.Agents
		for i := range n {
			x.Extrinsic[k*n+i] = r.Norm()
		}
		for i := range n * spec.Act.Dim {
			x.Act.Force[k*n*spec.Act.Dim+i] = r.Uniform(-1, 1)
		}
		for c := range spec.Copies {
			if (k+c)%7 != 6 {
				continue
			}
			x.Truncated[k*spec.Copies+c] = 1
			x.End(k, c, step)
			start(c)
			if k+1 < t {
				x.Started[(k+1)*spec.Copies+c] = 1
			}
		}
	}
	x.See(t, step)
	return x
}

func newModule(t testing.TB, c Config, spec *envs.Spec, seed uint64) (*module, *model.Store) {
	t.Helper()
	backend, err := nn.OpenConfig("go:parallelism=-1") // compiles at once, and every build has it
	if err != nil {
		t.Fatal(err)
	}
	store := nn.NewStore(seed)
	m, err := c.Build(&nn.Build{Spec: spec, Backend: backend, Store: store, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*module), store
}

// small returns the defaults with as much training as a test can wait for.
func small() Config {
	c := Default()
	c.Minibatch, c.Fraction = 16, 0.1
	return c
}

// iterate runs Reward and Update on the fake rollouts first to last-1 and returns everything that they produce: intrinsic
// rewards, scalars and, at the end, all variables.
func iterate(t testing.TB, m *module, store *model.Store, spec *envs.Spec, first, last int) []float64 {
	t.Helper()
	var all []float64
	for it := first; it < last; it++ {
		x := fakeRollout(spec, 9, it)
		for _, f := range []func(context.Context, *rl.Rollout) (rl.Scalars, error){m.Reward, m.Update} {
			s, err := f(t.Context(), x)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range slices.Sorted(maps.Keys(s)) {
				if math.IsNaN(s[name]) || math.IsInf(s[name], 0) {
					t.Fatalf("iteration %d: %s is %g", it, name, s[name])
				}
				all = append(all, s[name])
			}
		}
		for _, r := range x.Intrinsic {
			all = append(all, float64(r))
		}
	}
	for _, v := range nn.Variables(store, "") {
		tensors.MustConstFlatData(v.MustValue(), func(flat []float32) {
			for _, w := range flat {
				all = append(all, float64(w))
			}
		})
	}
	return all
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
	if slices.Equal(first, iterate(t, c, storeC, spec, 0, 2)) {
		t.Error("runs with different seeds are equal")
	}
}

func TestParameterCounts(t *testing.T) {
	spec := fakeSpec(1)
	spec.Obs = []int{18}
	c := small()
	c.Memory = memory.MLP{Embed: 64, Hidden: 128, Width: 512}
	_, store := newModule(t, c, spec, 1)
	// The counts of the specification, at 18 observed numbers, 2 numbers of force and F = 512.
	for path, want := range map[string]int{
		"encoder": 27_200, "transition": 315_520, "decoder": 296_257, "critic": 263_168, "calibration": 65_921, "contrast": 64 * 64,
		"momentum": 0, // a copy that no optimiser trains
	} {
		if got := nn.NumParameters(store, "/cermic/"+path); got != want {
			t.Errorf("%s has %d parameters, want %d", path, got, want)
		}
	}
}
