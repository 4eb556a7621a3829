// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
)

// variants visits all tasks with every distraction.
func variants(t testing.TB, visit func(name string, cfg envs.Config)) {
	t.Helper()
	for _, name := range envs.Names() {
		for _, tv := range []TV{Off, Screen, Peer} {
			holder := struct {
				Task envs.Config `json:"task"`
			}{}
			var err error
			if holder.Task, err = envs.Default(name); err != nil {
				t.Fatal(err)
			}
			must.Do(t, conf.Set(&holder, "task.tv", string(tv)))
			visit(strings.TrimPrefix(name, "explore/")+"/"+string(tv), holder.Task)
		}
	}
}

func TestTasksKeepTheContract(t *testing.T) {
	variants(t, func(name string, cfg envs.Config) {
		t.Run(name, func(t *testing.T) { envtest.Check(t, cfg) })
	})
}

func TestScriptReachesTheOptimum(t *testing.T) {
	variants(t, func(name string, cfg envs.Config) {
		t.Run(name, func(t *testing.T) {
			shared := cfg.Shared()
			shared.NumEnvs = 50
			env := must.Value(cfg.WithShared(shared).Build(3, 1))
			scriptReachesTheOptimum(t, env)
		})
	})
}

// scriptReachesTheOptimum runs one episode in every environment.
func scriptReachesTheOptimum(t *testing.T, env envs.Env) {
	t.Helper()
	spec := env.Spec()
	out, act := envs.NewStep(spec), envs.NewActions(spec)
	env.Reset(nil, out)
	score, over := make([]float32, spec.NumEnvs), make([]bool, spec.NumEnvs)
	for range spec.Horizon {
		if !env.(envs.Scripter).Script(act) {
			t.Fatal("the task has no script")
		}
		env.Step(act, out)
		for c := range score {
			if !over[c] {
				score[c] += out.Score[c]
			}
			over[c] = over[c] || out.Terminated[c] != 0
		}
	}
	for c, x := range score {
		if x != spec.Optimum {
			t.Errorf("environment %d has score %g, the optimum is %g", c, x, spec.Optimum)
		}
	}
}

// BenchmarkStep reports frames per second of every task.
func BenchmarkStep(b *testing.B) { envtest.Bench(b, nil) }

func FuzzLoad(f *testing.F) { envtest.FuzzLoad(f) }
