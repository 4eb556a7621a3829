// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"cermic/cermiclib"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
)

// FuzzSet sets any two things of any method on any task: the answer is one sentence, or an experiment that has what was
// set and that the JSON of its record gives back.
func FuzzSet(f *testing.F) {
	for i, text := range []string{
		"explore.alpha=0.5", "policy.hidden=64,64", "explore=db", "explore.memory=gru", "explore.memory=bonus", "task.noise.width=NaN", "learner.lr=1e999",
		"task.copies=-1", "budget.frames=9223372036854775808", "explore={\"kind\":\"cermic\",\"alpha\":1e-400}", "=", "explore.alpha", "a\nb=\x1b[2J",
		"explore.memory.memory.memory=mlp", "explore=null", "policy=[[[[", "task.reward=sparse", "seed=3", "forks=[1]", "budget.name=x",
	} {
		f.Add(uint8(i), uint8(3*i), text, "learner.lr=0.001")
	}
	f.Fuzz(func(t *testing.T, task, method uint8, one, two string) {
		q := Request{
			Task: Tasks()[int(task)%len(Tasks())].ID, Method: cermiclib.Methods()[int(method)%len(cermiclib.Methods())].ID, Budget: "smoke", Seed: 1, Set: []string{one, two},
		}
		e, err := New(q)
		if err != nil {
			if text := err.Error(); text == "" || strings.Contains(strings.ReplaceAll(text, one, ""), "\n") && !strings.Contains(one+two, "\n") {
				t.Errorf("not one sentence: %q", text)
			}
			return
		}
		text := must.Get(conf.Marshal(e))(t)
		back := e
		if err := conf.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if again, _ := conf.Marshal(back); string(again) != string(text) {
			t.Errorf("wrote %s\nread  %s", text, again)
		}
	})
}
