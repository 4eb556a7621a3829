// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// variants visits all tasks with every distraction.
func variants(t testing.TB, visit func(name string, cfg envs.Config)) {
	t.Helper()
	for _, name := range envs.Names() {
		for _, tv := range []TV{Off, Screen, Peer} {
			task := strings.TrimPrefix(name, "explore/")
			visit(task+"/"+string(tv), must.Get(changed(task, "tv="+string(tv)))(t))
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
			scriptReachesTheOptimum(t, must.Value(cfg.WithShared(shared).Build(3, 1)))
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

// TestImpossibleSettingsAreRefusedInOneSentence checks that the error names the task and the setting.
func TestImpossibleSettingsAreRefusedInOneSentence(t *testing.T) {
	for _, c := range []struct{ task, set, names string }{
		{"lock", "n_agents=0", "n_agents"}, {"lock", "levers=1", "levers"}, {"lock", "length=0", "length"},
		{"lock", "max_steps=7", "max_steps"},
		{"lock", "false_leads=8", "false_leads"}, {"lock", "false_reward=1", "false_reward"}, {"lock", "tv=scren", "screen"},
		{"lock", "noise.width=1 noise.height=1", "tv=screen"}, {"pass", "size=4", "size"},
		{"pass", "max_steps=5", "max_steps"},
		{"secret", "secret=3", "secret"}, {"secret", "rooms=1", "rooms"}, {"secret", "rooms=8 size=8", "joint states"},
		{"rooms", "size=2", "size"},
		{"rooms", "rooms=16 size=16", "joint states"}, {"climbing", "max_steps=0", "max_steps"},
		{"two_step", "max_steps=1", "max_steps"},
		{"penalty", "k=1", "k"},
	} {
		_, err := must.Get(changed(c.task, strings.Fields(c.set)...))(t).Build(1, 1)
		must.RefuseAs(t, err, "explore/"+c.task, c.names)
	}
}

// changed returns the default of a task with some settings changed.
func changed(task string, set ...string) (envs.Config, error) {
	holder := struct {
		Task envs.Config `json:"task"`
	}{}
	var err error
	if holder.Task, err = envs.Default("explore/" + task); err != nil {
		return nil, err
	}
	for _, assignment := range set {
		key, value, _ := strings.Cut(assignment, "=")
		if err := conf.Set(&holder, "task."+key, value); err != nil {
			return nil, err
		}
	}
	return holder.Task, nil
}

// FuzzSettings checks that a config is either rejected with one sentence, or its script reaches the optimum.
func FuzzSettings(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rng.New(seed, "settings")
		some := func(key string, low, high int) string { return fmt.Sprintf("%s=%d", key, low+r.IntN(high-low)) }
		steps := some("max_steps", 0, 60)
		task := [][]string{
			{"lock", some("n_agents", 0, 5), some("levers", 0, 6), some("length", 0, 20), some("false_leads", -1, 6),
				steps, some("combination", 0, 9)},
			{"pass", some("size", 0, 14), steps},
			{"secret", some("rooms", 0, 5), some("secret", -1, 5), some("size", 0, 5), steps},
			{"rooms", some("rooms", 0, 6), some("size", 0, 6), steps},
			{"climbing", steps}, {"penalty", some("k", -200, 2), steps}, {"nonmonotonic", steps}, {"two_step", steps},
		}[r.IntN(8)]
		cfg := must.Value(changed(task[0], append(task[1:], "tv="+string([]TV{Off, Screen, Peer}[r.IntN(3)]), "copies=3")...))
		env, err := cfg.Build(seed, 1)
		if err != nil {
			if !strings.HasPrefix(err.Error(), cfg.Kind()) {
				t.Errorf("%v: error %q does not name the task", task, err)
			}
			return
		}
		scriptReachesTheOptimum(t, env)
	})
}
