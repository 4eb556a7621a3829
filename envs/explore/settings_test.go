// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

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
		cfg, err := changed(c.task, strings.Fields(c.set)...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = cfg.Build(1, 1)
		if err == nil {
			t.Errorf("%s with %s is accepted", c.task, c.set)
		} else if !strings.HasPrefix(err.Error(), "explore/"+c.task) || !strings.Contains(err.Error(), c.names) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s with %s: error %q, want one sentence that names the task and %s", c.task, c.set, err, c.names)
		}
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
