// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
	"cermic/reproduce/plan"
	"cermic/viz"
)

func TestMain(m *testing.M) { libtest.Main(m) }

// configure is New for requests that must succeed.
func configure(t *testing.T, q plan.Request) experiment.Config {
	t.Helper()
	return must.Get(plan.New(q))(t)
}

// recorded is a complete run of the requested experiment that scores its seed.
func recorded(t *testing.T, q plan.Request) *results.Record {
	t.Helper()
	return libtest.Record(t, configure(t, q), q.Method)
}

func TestTheFirstRunWithWeightsIsWatched(t *testing.T) {
	st := libtest.Store(t)
	tiny := []string{"budget.frames=1000", "learner.critic_hidden=8", "policy.hidden=8"}
	es := must.Get(plan.Grid([]string{"vmas/ball_trajectory"}, []string{"mappo"}, "smoke", 2, tiny...))(t)
	var rs []*results.Record
	for _, e := range es {
		r := must.Get(experiment.Run(t.Context(), e, st))(t)
		rs = append(rs, r)
	}
	must.Do(t, os.Remove(filepath.Join(st.Dir(), rs[0].ID, "checkpoint.safetensors")))
	scenes, about, err := Watch(t.Context(), st, plan.Groups(rs))
	if err != nil || len(scenes) < 2 || !strings.Contains(about, "seed 2, trained for 1000 frames") {
		t.Errorf("%d scenes, %q, %v; want those of seed 2", len(scenes), about, err)
	}
	if scenes, about, err := Watch(t.Context(), st, plan.Groups(rs[:1])); err != nil || scenes != nil || !strings.Contains(about, "train -again "+rs[0].ID) {
		t.Errorf("%d scenes, %q, %v; want none and what to do", len(scenes), about, err)
	}
}

func TestCurvesOfOneRewardLeaveItOutOfTheirLabels(t *testing.T) {
	var all []*results.Record
	for _, set := range []string{"", "learner.lr=0.1 task.reward=dense", "task.reward=dense"} {
		all = append(all, recorded(t, plan.Request{Task: "balance", Method: "mappo", Budget: "short", Set: strings.Fields(set), Seed: 1}))
	}
	dense := plan.Groups(TrainedOn(all, "dense"), "task.reward")
	if len(dense) != 2 || dense[0].Label != "mappo learner.lr=0.1" || dense[1].Label != "mappo" || dense[1].Method != "mappo" {
		t.Errorf("got %+v", dense)
	}
}

func TestRunsOfOneWorldAreLabelledByWhatDiffers(t *testing.T) {
	for _, c := range []struct{ sets, want []string }{
		{[]string{"budget.frames=300000 task.tv=screen", "task.tv=screen learner.lr=0.1"}, []string{"mappo", "mappo learner.lr=0.1"}},
		{[]string{"budget.frames=300000 task.tv=screen"}, []string{"mappo"}},
		{[]string{"budget.frames=3000", "budget.frames=6000"}, []string{"mappo budget.frames=3000", "mappo budget.frames=6000"}},
	} {
		var same []*results.Record
		for _, set := range c.sets {
			e := configure(t, plan.Request{Task: "lock", Method: "mappo", Budget: "explore", Set: strings.Fields(set), Seed: 1})
			same = append(same, libtest.Record(t, e, e.Label()))
		}
		var got []string
		for _, g := range inWorld(same) {
			got = append(got, g.Label)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// The score of an episode's first steps has panels where runs noted it, and no empty ones where none did.
func TestFirstStepsHavePanelsWhereRunsNotedThem(t *testing.T) {
	r := recorded(t, plan.Request{Task: "clean_up", Method: "mappo", Budget: "short", Seed: 1})
	r.Evals = []results.Eval{{Frames: 10, Scores: []float64{3}}}
	group := func() []results.Group { return []results.Group{{Label: "mappo", Runs: []*results.Record{r}}} }
	columns := func() int {
		drawn, err := Returns("clean_up", group())
		if err != nil || len(drawn.Rows) != 1 {
			t.Fatalf("%+v, %v", drawn, err)
		}
		return len(drawn.Rows[0])
	}
	if n := columns(); n != 2 {
		t.Errorf("%d panels of a run without, want 2", n)
	}
	r.Evals[0].Early = []float64{1}
	if n := columns(); n != 3 {
		t.Errorf("%d panels of a run with, want 3", n)
	}
}

func TestCurvesStandBesideTheRecordedOnes(t *testing.T) {
	st := libtest.Store(t)
	drawn, err := CurvesOf(st, "vmas", "short", "dense")
	panels, ok := drawn.(viz.Panels)
	if err != nil || !ok || len(slices.Concat(panels.Rows...)) != 10 || len(panels.Legend) != 2 { // nine tasks are recorded, one with two groups
		t.Errorf("%v, %v", drawn, err)
	}
	if said, err := CurvesOf(st, "smac", "short", "sparse"); err != nil || !strings.Contains(said.(string), "No complete run of smac") {
		t.Errorf("curves of nothing: %v, %v", said, err)
	}
	if len(Recorded("vmas/balance")) != 2 || len(Recorded("vmas/passage")) != 0 {
		t.Error("MAPPO and QMIX were recorded on balance, nothing on passage")
	}
}

func TestMomentsAreBranchPointsAndEndsByFrames(t *testing.T) {
	st := libtest.Store(t)
	ask := func(task string, seed uint64, set ...string) experiment.Config {
		set = append(set, "budget.frames=3000", "learner.critic_hidden=8", "policy.hidden=8")
		q := plan.Request{Task: task, Method: "mappo", Budget: "smoke", Seed: seed, Set: set}
		return configure(t, plan.In(q))
	}
	left := ask("explore/rooms", 1)
	libtest.Stop(t, left, 1000, st)
	fork := must.Get(plan.Turn(st, left, ask("explore/rooms", 1, "learner.lr=0.001")))(t)
	want := []string{must.Get(left.ID())(t), must.Get(fork.ID())(t)}
	for _, e := range []experiment.Config{fork, ask("explore/rooms", 2), ask("explore/rooms task.tv=screen", 1)} {
		must.Get(experiment.Run(t.Context(), e, st))(t)
	}
	got := must.Get(Moments(st, left))(t)
	if len(got) != 2 || got[0].ID != want[0] || got[0].Frames != 1000 || got[1].ID != want[1] || got[1].Frames != 3000 {
		t.Errorf("%+v, want the branch point %s at 1000 frames and the fork %s at 3000", got, want[0], want[1])
	}
}
