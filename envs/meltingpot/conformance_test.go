// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
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

func FuzzLoad(f *testing.F) { envtest.FuzzLoad(f) }
