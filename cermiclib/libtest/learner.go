// SPDX-License-Identifier: Apache-2.0

package libtest

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
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

// observe returns observations of standard normal numbers, with random cells.
func observe(s *envs.Spec, hidden int, r *rng.Rand) *rl.Obs {
	rows := s.NumEnvs * s.Agents
	in := &rl.Obs{
		Obs:    graphtest.Normal(r, make([]float32, rows*s.ObsLen())),
		State:  graphtest.Normal(r, make([]float32, s.NumEnvs*s.State)),
		Hidden: graphtest.Normal(r, make([]float32, rows*hidden)),
		Alive:  slices.Repeat([]uint8{1}, rows),
	}
	for range rows * s.CellLen() {
		in.Cells = append(in.Cells, uint16(r.IntN(kinds(s))))
	}
	return in
}

// kinds is V, the number of values that a cell can have.
func kinds(s *envs.Spec) int { return len(s.Pixels) / (3 * envs.CellPixels * envs.CellPixels) }

// CheckDecentralised fails if an agent's action depends on anything but its own observation and recurrent state. All
// other inputs are NaN, or cells with other values.
func CheckDecentralised(t *testing.T, task envs.Config, l learn.Config, p policy.Config) {
	t.Helper()
	s := must.Get(task.Build(1, 1))(t).Spec()
	learner := must.Get(l.Build(graphtest.Build(s, 1), p))(t)
	in := observe(s, learner.HiddenLen(), rng.New(1, "observations"))
	want, got := rl.NewDist(s, learner.HiddenLen()), rl.NewDist(s, learner.HiddenLen())
	must.Do(t, learner.Act(in, want))
	rows := s.NumEnvs * s.Agents
	row := rows / 2
	alone := func(v []float32) []float32 { // NaN but for one row
		out, width := make([]float32, len(v)), len(v)/rows
		graphtest.Fill(out, float32(math.NaN()))
		copy(out[row*width:(row+1)*width], v[row*width:])
		return out
	}
	blind := rl.Obs{Obs: alone(in.Obs), Hidden: alone(in.Hidden), Cells: slices.Clone(in.Cells), Alive: in.Alive,
		State: slices.Repeat([]float32{float32(math.NaN())}, len(in.State))}
	for i := range blind.Cells {
		if i/s.CellLen() != row {
			blind.Cells[i] = (blind.Cells[i] + 1) % uint16(kinds(s))
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

// MAPPO learns a toy task in a second on the pure Go backend.
func MAPPO() learn.MAPPO {
	l := learn.DefaultMAPPO()
	l.Frames, l.Epochs, l.Minibatch, l.LR, l.CriticHidden = 128, 8, 50, 0.01, []int{16}
	return l
}

// Toy is a short experiment of a learner on a small task, with an evaluation at its end.
func Toy(task envs.Config, l learn.Config, e explore.Config, frames int) experiment.Config {
	return experiment.Config{
		Task: task, Learner: l, Policy: policy.MLP{Hidden: []int{16}}, Explore: e,
		Budget: experiment.Budget{Name: "custom", Frames: frames, EvalEvery: frames, EvalEpisodes: 64}, Seed: 1,
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
	first, last := stat.Mean(evals[0].Scores, nil), stat.Mean(evals[len(evals)-1].Scores, nil)
	if last < want {
		t.Errorf("%s on %s: mean score went from %.3f to %.3f, want at least %.3f",
			e.Label(), e.Task.Kind(), first, last, want)
	}
}
