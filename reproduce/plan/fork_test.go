// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/nn"
	"cermic/envs/envtest/must"
)

// asking returns a function that configures runs of small networks on a task.
func asking(t *testing.T, task string) func(set ...string) experiment.Config {
	t.Setenv("GOMLX_BACKEND", nn.Sequential) // compiles such small networks in no time
	return func(set ...string) experiment.Config {
		return configure(t, Request{Task: task, Method: "mappo", Budget: "smoke", Seed: 1,
			Set: append(set, "learner.critic_hidden=8", "policy.hidden=8")})
	}
}

// If agents observe more than before, or there are other numbers of environments, a new run starts from scratch, also in
// the middle of training. With other lengths of episodes the run branches.
func TestAWorldWithOtherObservationsIsARunOfItsOwn(t *testing.T) {
	st := libtest.Store(t)
	ask := asking(t, "explore/rooms")
	now := ask()
	libtest.Stop(t, now, 1000, st)
	for _, c := range []struct {
		setting string
		forks   int
	}{{"task.tv=screen", 0}, {"task.tv=peer", 0}, {"task.max_steps=40", 1}, {"task.copies=5", 0}} {
		e, err := Turn(st, now, ask(c.setting))
		if err != nil || len(e.Forks) != c.forks {
			t.Errorf("%s: %d forks, %v; want %d", c.setting, len(e.Forks), err, c.forks)
		}
	}
}

// A control that moves while a run trains makes it branch off. Where that is impossible or pointless, a new run
// starts.
func TestATurnedSettingBranchesOffARunInTraining(t *testing.T) {
	st := libtest.Store(t)
	ask := asking(t, "balance")
	turn := func(now, next experiment.Config) experiment.Config { return must.Get(Turn(st, now, next))(t) }
	now, next := ask(), ask("learner.lr=0.001")
	if e := turn(now, next); len(e.Forks) != 0 || e.Method != next.Method {
		t.Errorf("before it is trained: %q with forks %v, want a run of its own", e.Method, e.Forks)
	}
	libtest.Stop(t, now, 1000, st)
	e := turn(now, next)
	if len(e.Forks) != 1 || e.Forks[0].At != 1000 || !strings.HasSuffix(e.Method, "learner.lr=0.001 policy.hidden=[8] (learner.lr=0.0001 until 1k)") {
		t.Errorf("in the middle: %q with forks %+v, want a branch at 1000 frames", e.Method, e.Forks)
	}
	slower := turn(now, ask("learner.lr=0.0003"))
	if f := turn(e, ask("learner.lr=0.0003")); f.Label() != slower.Label() || f.Forks[0].Parent != e.Forks[0].Parent {
		t.Errorf("moved again before the branch trains: %q of %+v, want %q", f.Label(), f.Forks, slower.Label())
	}
	libtest.Stop(t, e, 1000, st)
	if f := turn(e, ask("learner.lr=0.0003")); f.Label() != slower.Label() {
		t.Errorf("moved again where the branch begins: %q, want %q", f.Label(), slower.Label())
	}
	if f := turn(e, now); len(f.Forks) != 0 || f.Label() != now.Label() {
		t.Errorf("moved and moved back before the branch trains: %q, want %q", f.Label(), now.Label())
	}
	if e := turn(now, now); len(e.Forks) != 0 {
		t.Errorf("moved and moved back: %+v, want the same run", e.Forks)
	}
	if e := turn(now, ask("explore=cermic")); len(e.Forks) != 0 || e.Explore.Kind() != "cermic" {
		t.Errorf("another explorer: %+v, want a run of its own", e.Forks)
	}
	curious := ask("explore=cermic")
	libtest.Stop(t, curious, 1000, st)
	if e := turn(curious, ask("explore=cermic", "explore.actor_uses_context=true")); len(e.Forks) != 0 {
		t.Errorf("an actor with another input: %+v, want a run of its own", e.Forks)
	}
	must.Get(experiment.Run(t.Context(), now, st))(t)
	if e := turn(now, next); len(e.Forks) != 0 {
		t.Errorf("after its end: %+v, want a run of its own", e.Forks)
	}
	again, err := Branch(st, e.Forks[0].Parent[:5]+"@2_000", []string{"learner.lr=0.001"})
	if err != nil || again.Forks[0].At != 2000 {
		t.Errorf("by name: %+v, %v", again.Forks, err)
	}
}

// A fork of parts that no method has is called after the method that it is nearest to, not after nothing.
func TestAForkOfAnUnnamedCompositionSaysWhatItIsMadeOf(t *testing.T) {
	e := must.Get(New(Request{Task: "balance", Method: "mappo", Budget: "smoke", Seed: 1, Set: []string{"policy=spectra"}}))(t)
	fork, err := branch(e, 1000, []string{"task.milestones=3"})
	want := "mappo policy=spectra task.milestones=3 (task.milestones=1 until 1k)"
	if err != nil || fork.Label() != want || fork.Budget.Name != "smoke" {
		t.Errorf("a fork is called %q at budget %q (%v), want %q at smoke", fork.Label(), fork.Budget.Name, err, want)
	}
	longer, err := branch(e, 1000, []string{"budget.frames=5000"})
	if want = "mappo budget.frames=5000 policy=spectra (else smoke) (continued from 1k)"; err != nil || longer.Label() != want || longer.Budget.Name != "custom" {
		t.Errorf("a longer fork is called %q at budget %q (%v), want %q at custom", longer.Label(), longer.Budget.Name, err, want)
	}
	if err := longer.Validate(); err != nil {
		t.Errorf("a longer fork: %v", err)
	}
}
