// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// Numbers of an observation on the ring: where the agent is, one-hot; a screen; a flag that is hardly ever up.
const (
	ringCells    = 4
	ringScreen   = ringCells
	ringFlag     = ringCells + 1
	ringLen      = ringCells + 2
	ringFlagOdds = 0.0005
)

// ring is a rollout of agents that walk a ring of cells by choices -1, 0 and +1, or, where actions are continuous, a line whose place is the first number.
// The screen is on in every third step.
func ring(spec *envs.Spec, iteration int) *rl.Rollout {
	r := rng.New(5, "ring", uint64(iteration))
	x := rl.NewRollout(spec, 20, 0)
	x.Iteration = iteration
	at := make([]float64, x.E*x.N)
	for row := range (x.T + 1) * x.E * x.N {
		obs, who := x.ObsRow(row), row%(x.E*x.N)
		if row < x.E*x.N {
			at[who] = float64(r.IntN(ringCells))
		}
		if spec.Act.Choices > 0 {
			obs[int(at[who])] = 1
		} else {
			obs[0] = float32(at[who] / ringCells)
		}
		if r.IntN(3) == 0 {
			obs[ringScreen] = r.Uniform(-1, 1)
		}
		if r.Float64() < ringFlagOdds {
			obs[ringFlag] = 1
		}
		if row >= x.T*x.E*x.N {
			continue
		}
		x.Alive[row] = 1
		if spec.Act.Choices > 0 {
			k := r.IntN(spec.Act.Choices)
			x.Act.Discrete[row] = int32(k)
			at[who] = math.Mod(at[who]+float64(k-1)+ringCells, ringCells)
		} else {
			x.Act.Continuous[row] = r.Uniform(-1, 1)
			at[who] = min(max(at[who]+float64(x.Act.Continuous[row]), -ringCells), ringCells)
		}
	}
	return x
}

func ringSpec(act envs.ActSpec) *envs.Spec {
	return &envs.Spec{Name: "ring", NumEnvs: 50, Agents: 1, Obs: []int{ringLen}, Act: act}
}

// filtered is P·o.
func (f *foreseeable) filtered(o []float32) []float64 {
	p := make([]float64, f.obs)
	for j, v := range o {
		for i := range p {
			p[i] += float64(v) * float64(f.keep[j*f.obs+i])
		}
	}
	return p
}

// What nothing before tells is left out, however the agent moves; what it can tell, or has hardly seen, is kept as it is.
func TestTheFilterLeavesOutNoiseAlone(t *testing.T) {
	for name, act := range map[string]envs.ActSpec{"choices": {Choices: 3}, "continuous": {Dim: 1, Low: []float32{-1}, High: []float32{1}}} {
		f := newForeseeable(&nn.Build{Spec: ringSpec(act), Seed: 1})
		for it := range 40 {
			if err := f.learn(ring(ringSpec(act), it)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range ringLen {
			one := make([]float32, ringLen)
			one[i] = 1
			got, want := f.filtered(one), make([]float64, ringLen)
			if i != ringScreen {
				want[i] = 1
			}
			for j := range got {
				if math.Abs(got[j]-want[j]) > 0.1 {
					t.Errorf("%s: number %d becomes %.2f, want %.0f", name, i, got, want)
					break
				}
			}
		}
	}
}

// Before both halves have seen anything, nothing is known to be noise.
func TestTheFilterBeginsWithAll(t *testing.T) {
	spec := ringSpec(envs.ActSpec{Choices: 3})
	f := newForeseeable(&nn.Build{Spec: spec, Seed: 1})
	all := slices.Clone(f.keep)
	dead := ring(spec, 0)
	clear(dead.Alive)
	if err := f.learn(dead); err != nil || !slices.Equal(f.keep, all) {
		t.Errorf("after a rollout of the dead the filter is %v, %v", f.keep, err)
	}
}

func TestTheFilterContinuesBitExactly(t *testing.T) {
	spec := ringSpec(envs.ActSpec{Choices: 3})
	b := &nn.Build{Spec: spec, Seed: 1}
	straight, resumed := newForeseeable(b), newForeseeable(b)
	for it := range 6 {
		if it == 3 {
			again := newForeseeable(b)
			if err := again.restore(resumed.save()); err != nil || !slices.Equal(again.keep, resumed.keep) {
				t.Fatalf("restored, P is %v, want %v (%v)", again.keep, resumed.keep, err)
			}
			resumed = again
		}
		for _, f := range []*foreseeable{straight, resumed} {
			if err := f.learn(ring(spec, it)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.Equal(straight.keep, resumed.keep) {
		t.Error("the resumed filter departs from the uninterrupted one")
	}
}

func TestTheFilterRefusesWhatDoesNotFit(t *testing.T) {
	f := newForeseeable(&nn.Build{Spec: ringSpec(envs.ActSpec{Choices: 3}), Seed: 1})
	other := newForeseeable(&nn.Build{Spec: ringSpec(envs.ActSpec{Choices: 4}), Seed: 1})
	if err := f.restore(other.save()); err == nil || !strings.Contains(err.Error(), "4 actions") {
		t.Errorf("the state of another task: %v", err)
	}
	x := ring(ringSpec(envs.ActSpec{Choices: 3}), 0)
	for it := range 2 {
		x.Iteration = it
		x.ObsRow(60)[ringScreen] = float32(math.Inf(1))
		if err := f.learn(x); err != nil {
			if !strings.Contains(err.Error(), "int_form.filter") {
				t.Errorf("infinite observations: %v", err)
			}
			return
		}
	}
	t.Error("infinite observations are taken in")
}

// Pictures are not filtered: their sums would not fit.
func TestLongObservationsAreNotFiltered(t *testing.T) {
	spec := ringSpec(envs.ActSpec{Choices: 3})
	spec.Obs = []int{3000}
	if f := newForeseeable(&nn.Build{Spec: spec, Seed: 1}); f != nil {
		t.Errorf("an observation of %d numbers has a filter", f.obs)
	}
}

// The series is as good as float32.
func TestCosinesAreExact(t *testing.T) {
	turns := make([]float64, 4001)
	for i := range turns {
		turns[i] = float64(i-2000) / 271
	}
	got := evaluate(t, nn.NewStore(1), func(_ *model.Scope, in []*Node) []*Node { return []*Node{cosine(in[0])} },
		tensors.FromFlatDataAndDimensions(turns, len(turns)))[0]
	for i, v := range turns {
		if want := math.Cos(2 * math.Pi * v); math.Abs(got[i]-want) > 1e-7 {
			t.Fatalf("the cosine of %g turns is %.9g, want %.9g", v, got[i], want)
		}
	}
}
