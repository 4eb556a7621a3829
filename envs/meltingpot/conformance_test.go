// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"slices"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

func TestTasksKeepTheContract(t *testing.T) {
	for _, cfg := range allTasks(t) {
		t.Run(strings.TrimPrefix(cfg.Kind(), "meltingpot/"), func(t *testing.T) { envtest.Check(t, cfg) })
	}
}

// Short episodes end in some environments while others go on, which takes a thousand steps with the defaults.
func TestShortEpisodesKeepTheContract(t *testing.T) {
	apples, chicken := DefaultCleanUp(), DefaultChicken()
	apples.MaxSteps, chicken.MaxSteps = 7, 13
	apples.Score, chicken.Score = ScoreSum, ScoreMean100
	t.Run("clean_up", func(t *testing.T) { envtest.Check(t, apples) })
	t.Run("chicken", func(t *testing.T) { envtest.Check(t, chicken) })
}

// allTasks returns the default configs of this package's tasks.
func allTasks(t testing.TB) []envs.Config {
	t.Helper()
	var all []envs.Config
	for _, name := range envs.Names() {
		all = append(all, must.Value(envs.Default(name)))
	}
	if len(all) != 4 {
		t.Fatalf("%d tasks are registered, want 4", len(all))
	}
	return all
}

// build makes parallel environments of a task and resets them.
func build(t testing.TB, cfg envs.Config, numEnvs, workers int) (*env, *envs.Step, *envs.Actions) {
	t.Helper()
	e := must.Value(cfg.WithShared(envs.Common{NumEnvs: numEnvs, Reward: envs.Dense}).Build(11, workers)).(*env)
	out, act := envs.NewStep(e.Spec()), envs.NewActions(e.Spec())
	e.Reset(nil, out)
	return e, out, act
}

// lively plays scripts with every third action random, so that all rules apply: shots, collisions, returns.
func lively(e *env, act *envs.Actions, at int) {
	e.Script(act)
	r := rng.New(9, "lively", uint64(at))
	for k := range act.Discrete {
		if r.IntN(3) == 0 {
			act.Discrete[k] = int32(r.IntN(e.spec.Act.Choices))
		}
	}
}

// Players stand on free ground, at most one per cell, and the board has their positions.
func TestPlayersStandOnFreeGroundOfTheirOwn(t *testing.T) {
	for _, cfg := range allTasks(t) {
		e, out, act := build(t, cfg, 4, 1)
		away := 0
		for at := range 400 {
			lively(e, act, at)
			e.Step(act, out)
			for c, g := range e.games {
				b := g.base()
				count := 0
				for i := range b.avatars {
					if a := &b.avatars[i]; a.alive {
						count++
						if b.wall[a.cell] || b.who[a.cell] != int8(i) {
							t.Fatalf("%s: the board has the wrong position of player %d of environment %d", cfg.Kind(), i, c)
						}
					}
				}
				stand := 0
				for _, i := range b.who {
					if i >= 0 {
						stand++
					}
				}
				if stand != count {
					t.Fatalf("%s: %d players are alive, but %d cells are occupied", cfg.Kind(), count, stand)
				}
				away += len(b.avatars) - count
			}
		}
		if away == 0 {
			t.Errorf("%s: no player was ever away", cfg.Kind())
		}
	}
}

// A state saved at any step continues identically in another environment with another number of workers.
func TestGamesSavedInTheMiddleOfAnythingGoOnAlike(t *testing.T) {
	for _, cfg := range allTasks(t) {
		a, outA, actA := build(t, cfg, 9, 1)
		b, outB, actB := build(t, cfg, 9, 2)
		for at := range 300 {
			if at%37 == 0 {
				must.Do(t, b.Load(a.Save(nil)))
			}
			lively(a, actA, at)
			lively(b, actB, at)
			a.Step(actA, outA)
			b.Step(actB, outB)
			if !slices.Equal(outA.Cells, outB.Cells) || !slices.Equal(outA.Obs, outB.Obs) ||
				!slices.Equal(outA.Dense, outB.Dense) ||
				!slices.Equal(outA.Alive, outB.Alive) {
				t.Fatalf("%s: at step %d the loaded game differs from the saved one", cfg.Kind(), at)
			}
		}
		if slices.Max(a.episode) != 1 {
			t.Errorf("%s: episodes were reset", cfg.Kind())
		}
	}
}

// BenchmarkStep times rules, tile numbers, vector observations and labels, with all players acting.
func BenchmarkStep(b *testing.B) { envtest.Bench(b, nil) }

// BenchmarkStepAndPixels also renders every player's view.
func BenchmarkStepAndPixels(b *testing.B) {
	var rgb []uint8
	envtest.Bench(b, func(s *envs.Spec, out *envs.Step) {
		if n := 3 * envs.CellPixels * envs.CellPixels * len(out.Cells); len(rgb) < n {
			rgb = make([]uint8, n)
		}
		s.RGB(rgb[:3*envs.CellPixels*envs.CellPixels*len(out.Cells)], out.Cells)
	})
}
