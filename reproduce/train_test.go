// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/reproduce/plan"
)

func TestTrainingIsSummedUpAndFoundAgain(t *testing.T) {
	store := t.TempDir()
	first := succeed(t, append(tinyTraining("mappo", store), "-seeds", "2")...)
	contains(t, first, "1 balance mappo", "2 balance mappo", "300/300", "frames/s", "2 seeds", "budget custom",
		"preset default with single changes", "sparse one over 300 steps", "own over 35", "learner.critic_hidden=[8]")
	// Names given twice are one.
	second := succeed(t, append(tinyTraining("MAPPO,mappo", store), "-seeds", "2", "-task", "vmas/balance,Balance")...)
	lacks(t, second, "frames/s")
	if strings.Count(second, "in the store") != 2 || strings.Count(second, "reward, 2 seeds (") != 1 {
		t.Errorf("repeating it counts seeds twice:\n%s", second)
	}
	third := succeed(t, append(tinyTraining("mappo", store), "-seeds", "2-2")...)
	if strings.Count(third, "in the store") != 1 || !strings.HasPrefix(third, "2 balance mappo") {
		t.Errorf("seeds 2-2 are not the second alone:\n%s", third)
	}
	if status := succeed(t, "status", "-store", store); strings.Count(status, "  complete  ") != 2 {
		t.Errorf("status:\n%s", status)
	}
	picture := filepath.Join(store, "curves.png")
	succeed(t, "curves", "-budget", "custom", "-reward", "sparse", "-store", store, "-o", picture)
	if data, err := os.ReadFile(picture); err != nil || !bytes.HasPrefix(data, []byte("\x89PNG")) {
		t.Errorf("%s is no PNG (%v)", picture, err)
	}
}

func TestATrainedRunIsEvaluatedAndForked(t *testing.T) {
	store, id := trainedRun(t)
	again := succeed(t, "evaluate", id[:6], "-store", store, "-set", "budget.sampled=true", "budget.eval_episodes=7")
	contains(t, again, "at 300 frames: 7 sampled episodes\n  score ", "success")
	lacks(t, succeed(t, "evaluate", id, "-set", "budget.eval_episodes=1", "-store", store), "NaN")
	for _, key := range []string{"learner.lr", "task.vmas_fov", "budget.frames"} {
		refuse(t, strings.Split(key, ".")[1], "evaluate", id, "-set", key+"=-1", "-store", store)
	}
	out := succeed(t, "train", "-fork", id[:6]+"@100", "-set", "learner.entropy_coef=0.1", "-store", store)
	contains(t, out, "300/300", "(learner.entropy_coef=0 until 100)")
	st := must.Get(results.Open(store))(t)
	runs, err := st.Find(results.Query{})
	runs = slices.DeleteFunc(runs, func(r *results.Record) bool { return r.ID == id })
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d forks, %v", len(runs), err)
	}
	if parent, at := runs[0].Fork(); parent != id || at != 100 {
		t.Errorf("the fork's parent is %q at %d", parent, at)
	}
}

func TestTrainAgainTrainsRecords(t *testing.T) {
	store, id := trainedRun(t)
	contains(t, succeed(t, "train", "-again", id, "-store", store), "in the store")
	const record = "4ece91a1887075b0" // which a notebook tells to train again
	st := must.Get(openStore(store))(t)
	es, err := storedRuns(st, []string{record[:10]})
	if err != nil || len(es) != 1 {
		t.Fatalf("%d experiments, %v", len(es), err)
	}
	if same, err := es[0].ID(); err != nil || same != record {
		t.Errorf("trained again it is run %s, %v", same, err)
	}
}

func TestARunOfATaskInANotebookIsRefused(t *testing.T) {
	store := t.TempDir()
	st := must.Get(results.Open(store))(t)
	e := must.Get(plan.New(plan.Request{Task: "balance", Method: "mappo", Budget: "smoke", Seed: 1}))(t)
	text := must.Get(conf.Marshal(e))(t)
	text = bytes.Replace(text, []byte(`"vmas/balance"`), []byte(`"mine/meet"`), 1)
	header := results.Record{ID: "aaaa0001", Task: "mine/meet", Method: "mappo", Budget: "smoke", Seed: 1, Experiment: text}
	r, err := st.Claim(t.Context(), header, false, nil)
	if err == nil {
		err = r.Close()
	}
	must.Do(t, err)
	for _, line := range []string{"evaluate aaaa0001", "train -again aaaa0001", "train -fork aaaa0001@10 -set learner.lr=1"} {
		refuse(t, "mine/meet", append(strings.Fields(line), "-store", store)...)
	}
}

func TestStatusOfAnEmptyStoreSaysHowToFillItAndOfADamagedOneThatItIs(t *testing.T) {
	store := t.TempDir()
	if err := os.MkdirAll(filepath.Join(store, "campaigns"), 0o777); err != nil { // which holds no run
		t.Fatal(err)
	}
	contains(t, succeed(t, "status", "-store", store), "go run ./reproduce train")
	write(t, filepath.Join(store, "0123456789abcdef", "record.json"), "{", 0o666)
	lacks(t, refuse(t, "can be read", "status", "-store", store), "No runs")
}

func TestTrainWithoutArgumentsIsADemonstration(t *testing.T) {
	for _, c := range []struct {
		given        choice
		task, method string
		set          string
		demo         bool
	}{
		{choice{}, "balance", "mappo,mappo-cermic", "task.reward=dense", true},
		{choice{method: "mace"}, "balance", "mace", "task.reward=dense", false},
		{choice{task: "wheel"}, "wheel", "mappo-cermic", "", false},
		{choice{set: []string{"task.reward=sparse"}}, "balance", "mappo-cermic", "task.reward=sparse", false},
		{choice{set: []string{"explore.alpha=1"}}, "balance", "mappo-cermic", "explore.alpha=1 task.reward=dense", false},
	} {
		got := c.given
		if demo := got.complete(); demo != c.demo || got.task != c.task || got.method != c.method ||
			strings.Join(got.set, " ") != c.set {
			t.Errorf("%+v becomes %+v, a demonstration: %v", c.given, got, demo)
		}
	}
}

// In the 100 steps of the benchmark's own Balance no policy can succeed: "0 %" alone reads as a failure of the learner.
func TestASummarySaysWhereEpisodesAreTooShortToSucceed(t *testing.T) {
	for _, c := range []struct {
		task   string
		reward envs.Reward
		want   string
	}{
		{"vmas/balance", envs.Dense, "100 steps, the benchmark's own, are too few"},
		{"vmas/balance", envs.Sparse, ""},
		{"explore/lock", envs.Sparse, ""},
	} {
		cfg := must.Get(envs.Default(c.task))(t)
		common := cfg.Shared()
		common.Reward, common.NumEnvs = c.reward, 1
		env := must.Get(cfg.WithShared(common).Build(1, 0))(t)
		if got := tooShort(env.Spec()); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s, %s reward: got %q, want %q", c.task, c.reward, got, c.want)
		}
	}
}

// The playground names a panel for each knob on which its effect shows within seconds.
func TestKnobsOfThePlaygroundMoveTheirPanels(t *testing.T) {
	if testing.Short() {
		t.Skip("trains four runs")
	}
	if _, err := nn.OpenConfig("xla:cpu"); err != nil {
		t.Skip("the Go backend takes minutes: ", err)
	}
	last := func(scalar string, set ...string) float64 { // trained by a process of its own: this one has the Go backend
		dir := t.TempDir()
		p := start(t, append([]string{"train", "-backend", "xla:cpu", "-store", dir, "-task", "lock", "-method",
			"mappo-cermic-ucb", "-budget", "explore", "-set", "task.tv=screen", "budget.frames=6000",
			"budget.eval_every=6000", "budget.eval_episodes=1"}, set...)...)
		if code := p.end(); code != 0 {
			t.Fatalf("%v ended with %d: %s", set, code, &p.stderr)
		}
		all, err := must.Get(results.Open(dir))(t).Find(results.Query{})
		if err != nil || len(all) != 1 || len(all[0].Scalars[scalar]) == 0 {
			t.Fatalf("%v has %d runs and no scalar %s, %v", set, len(all), scalar, err)
		}
		points := all[0].Scalars[scalar]
		return points[len(points)-1].Value
	}
	for _, knob := range []struct {
		panel, from, to string
		least           float64 // half of the measured change
	}{
		{"cermic/kl", "explore.alpha=0", "explore.alpha=1", 0.13},
		{"cermic/gamma_hi", "explore.memory=graph", "explore.memory=mlp", 0.04},
	} {
		if from, to := last(knob.panel, knob.from), last(knob.panel, knob.to); to-from < knob.least {
			t.Errorf("%s is %.3f at %s and %.3f at %s, want %g more", knob.panel, from, knob.from, to, knob.to, knob.least)
		}
	}
}
