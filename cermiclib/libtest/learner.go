// SPDX-License-Identifier: Apache-2.0

package libtest

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// Main runs a package's tests on the pure Go backend, which every machine has and which compiles small graphs
// fastest, unless GOMLX_BACKEND chooses another.
func Main(m *testing.M) {
	if os.Getenv("GOMLX_BACKEND") == "" {
		if err := os.Setenv("GOMLX_BACKEND", nn.Sequential); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// Stop trains e and cancels the run at the given number of frames.
func Stop(t testing.TB, e experiment.Config, frames int, st *results.Store) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err := experiment.Run(ctx, e, st, func(e results.Event) {
		if e.Frames >= frames {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) || r.Frames != frames {
		t.Fatalf("stopped at %d frames (%v), want %d", r.Frames, err, frames)
	}
}

// Backend opens the pure Go backend, which every machine has.
func Backend(t testing.TB) nn.Backend {
	t.Helper()
	return must.Get(nn.OpenConfig(nn.Sequential))(t)
}

// NewBuild returns the inputs for building a component of task.
func NewBuild(t testing.TB, task envs.Config, seed uint64) (*nn.Build, envs.Env) {
	t.Helper()
	env := must.Get(task.Build(seed, 1))(t)
	return &nn.Build{Spec: env.Spec(), Backend: Backend(t), Store: nn.NewStore(seed), Seed: seed}, env
}

// Observe returns observations of standard normal numbers, with random cells.
func Observe(s *envs.Spec, hidden int, r *rng.Rand) *rl.Obs {
	rows := s.NumEnvs * s.Agents
	in := &rl.Obs{
		Obs: make([]float32, rows*s.ObsLen()), State: make([]float32, s.NumEnvs*s.State), Alive: make([]uint8, rows),
		Hidden: make([]float32, rows*hidden),
	}
	for _, v := range [][]float32{in.Obs, in.State, in.Hidden} {
		for i := range v {
			v[i] = r.Norm()
		}
	}
	for range rows * s.CellLen() {
		in.Cells = append(in.Cells, uint16(r.IntN(kinds(s))))
	}
	for i := range in.Alive {
		in.Alive[i] = 1
	}
	return in
}

// kinds is V, the number of values that a cell can have.
func kinds(s *envs.Spec) int { return len(s.Pixels) / (3 * envs.CellPixels * envs.CellPixels) }

// CheckDecentralised fails if an agent's action depends on anything but its own observation and recurrent state. All
// other inputs are NaN, or cells with other values.
func CheckDecentralised(t *testing.T, task envs.Config, l learn.Config, p policy.Config) {
	t.Helper()
	b, _ := NewBuild(t, task, 1)
	learner := must.Get(l.Build(b, p))(t)
	s, nan := b.Spec, float32(math.NaN())
	in := Observe(s, learner.HiddenLen(), rng.New(1, "observations"))
	want, got := rl.NewDist(s, learner.HiddenLen()), rl.NewDist(s, learner.HiddenLen())
	must.Do(t, learner.Act(in, want))
	rows, o, c := s.NumEnvs*s.Agents, s.ObsLen(), learner.HiddenLen()
	row := rows / 2
	blind := *in
	blind.Obs, blind.State, blind.Hidden = slices.Clone(in.Obs), slices.Clone(in.State), slices.Clone(in.Hidden)
	blind.Cells = slices.Clone(in.Cells)
	for i := range blind.Cells {
		if i/s.CellLen() != row {
			blind.Cells[i] = (blind.Cells[i] + 1) % uint16(kinds(s))
		}
	}
	for i := range blind.Obs {
		if i/o != row {
			blind.Obs[i] = nan
		}
	}
	for i := range blind.State {
		blind.State[i] = nan
	}
	for i := range blind.Hidden {
		if i/c != row {
			blind.Hidden[i] = nan
		}
	}
	must.Do(t, learner.Act(&blind, got))
	for _, pair := range [][2][]float32{
		{want.Logits, got.Logits}, {want.Mean, got.Mean}, {want.Scale, got.Scale}, {want.Hidden, got.Hidden},
	} {
		k := len(pair[0]) / rows
		for i := row * k; i < (row+1)*k; i++ {
			// rows of one matrix product: equal but for the order of additions
			if math.IsNaN(float64(pair[1][i])) || math.Abs(float64(pair[0][i]-pair[1][i])) > 1e-5 {
				t.Errorf("output %d of agent row %d changed from %g to %g when everything else became NaN",
					i-row*k, row, pair[0][i], pair[1][i])
			}
		}
	}
}

// Train runs the experiment in a fresh store and returns its record.
func Train(t testing.TB, e experiment.Config) *results.Record {
	t.Helper()
	return must.Get(experiment.Run(t.Context(), e, Store(t)))(t)
}

// CheckLearns fails if the last evaluation's mean score of the experiment stays below want. Short tests leave it out.
func CheckLearns(t *testing.T, e experiment.Config, want float64) {
	t.Helper()
	if testing.Short() {
		t.Skip("learning takes seconds")
	}
	if e.Explore == nil {
		e.Explore = explore.None{}
	}
	evals := Train(t, e).Evals
	mean := func(scores []float64) float64 {
		sum := 0.0
		for _, s := range scores {
			sum += s
		}
		return sum / float64(len(scores))
	}
	first, last := mean(evals[0].Scores), mean(evals[len(evals)-1].Scores)
	if last < want {
		t.Errorf("%s on %s: mean score went from %.3f to %.3f, want at least %.3f",
			e.Label(), e.Task.Kind(), first, last, want)
	}
}
