// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
)

func TestTrainingIsSummedUpAndFoundAgain(t *testing.T) {
	store := t.TempDir()
	train := func(replace ...string) string {
		t.Helper()
		args := tinyTraining("mappo", store)
		out, err := command(t, append(append(args[:1:1], replace...), args[1:]...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := train("-seeds", "2")
	for _, want := range []string{"1 balance mappo", "2 balance mappo", "300/300", "frames/s", "2 seeds", "budget custom",
		"preset default with single changes", "sparse one over 300 steps", "own over 35", "learner.critic_hidden=[8]"} {
		if !strings.Contains(first, want) {
			t.Errorf("training does not say %q:\n%s", want, first)
		}
	}
	second, err := command(t, append(tinyTraining("MAPPO,mappo", store), "-seeds", "2", "-task", "vmas/balance,Balance")...)
	if err != nil || strings.Count(second, "in the store") != 2 || strings.Contains(second, "frames/s") || strings.Count(second, "reward, 2 seeds (") != 1 {
		t.Errorf("repeating it trains again, or counts seeds twice (%v):\n%s", err, second)
	}
	if third := train("-seeds", "2-2"); strings.Count(third, "in the store") != 1 || !strings.HasPrefix(third, "2 balance mappo") {
		t.Errorf("seeds 2-2 are not the second alone:\n%s", third)
	}
	if status, err := command(t, "status", "-store", store); err != nil || strings.Count(status, "complete") != 2 || strings.Count(status, "mappo budget.eval_episodes=3") != 2 {
		t.Errorf("status (%v):\n%s", err, status)
	}
	picture := filepath.Join(store, "curves.png")
	if _, err := command(t, "curves", "-budget", "custom", "-reward", "sparse", "-store", store, "-o", picture); err != nil {
		t.Error(err)
	} else if data, err := os.ReadFile(picture); err != nil || !bytes.HasPrefix(data, []byte("\x89PNG")) {
		t.Errorf("%s is no PNG (%v)", picture, err)
	}
}

func TestATrainedRunIsEvaluatedAndForked(t *testing.T) {
	store, id := trainedRun(t)
	again, err := command(t, "evaluate", id[:6], "-store", store, "-set", "budget.sampled=true", "budget.eval_episodes=7")
	if err != nil || !strings.Contains(again, "at 300 frames: 7 sampled episodes\n  score ") || !strings.Contains(again, "success") {
		t.Errorf("evaluated again (%v):\n%s", err, again)
	}
	if one, err := command(t, "evaluate", id, "-set", "budget.eval_episodes=1", "-store", store); err != nil || strings.Contains(one, "NaN") {
		t.Errorf("a single episode (%v):\n%s", err, one)
	}
	for _, wrong := range []string{"learner.lr=1", "task.vmas_fov=-1", "budget.frames=3"} {
		if _, err := command(t, "evaluate", id, "-set", wrong, "-store", store); !errors.As(err, new(usageError)) {
			t.Errorf("%s: %v, want a usage error", wrong, err)
		}
	}
	out, err := command(t, "train", "-fork", id[:6]+"@100", "-set", "learner.entropy_coef=0.1", "-store", store)
	if err != nil || !strings.Contains(out, "300/300") || !strings.Contains(out, "(learner.entropy_coef=0 until 100)") {
		t.Fatalf("the fork (%v):\n%s", err, out)
	}
	st, err := results.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := st.Find(results.Query{})
	runs = slices.DeleteFunc(runs, func(r *results.Record) bool { return r.ID == id })
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d forks, %v", len(runs), err)
	}
	if parent, at := runs[0].Fork(); parent != id || at != 100 {
		t.Errorf("the fork's parent is %q at %d", parent, at)
	}
}

func TestTrainAgainTrainsRecordsAndNamesLostWeights(t *testing.T) {
	store, id := trainedRun(t)
	if again, err := command(t, "train", "-again", id, "-store", store); err != nil || !strings.Contains(again, "in the store") {
		t.Errorf("a run with its weights is trained again (%v):\n%s", err, again)
	}
	if err := os.Remove(filepath.Join(store, id, "checkpoint.safetensors")); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, "train", "-again", id, "-store", store); err == nil || !strings.Contains(err.Error(), "delete the folder "+store+"/"+id) {
		t.Errorf("a run that has lost its weights: %v", err)
	}
	const record = "4ece91a1887075b0" // which a notebook tells to train again
	st, err := openStore(store)
	if err != nil {
		t.Fatal(err)
	}
	es, err := storedRuns(st, []string{record[:10]})
	if err != nil || len(es) != 1 {
		t.Fatalf("%d experiments, %v", len(es), err)
	}
	if same, err := es[0].ID(); err != nil || same != record {
		t.Errorf("trained again it is run %s, %v", same, err)
	}
	bare, err := withoutRecords(store, es)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bare.Head(record); err == nil {
		t.Error("train -again finds the committed record, and would train nothing")
	}
}

func TestARunOfATaskInANotebookIsRefused(t *testing.T) {
	store := t.TempDir()
	st, err := results.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	e, err := plan.New(plan.Request{Task: "balance", Method: "mappo", Budget: "smoke", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	text, err := conf.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"vmas/balance"`), []byte(`"mine/meet"`), 1)
	r, err := st.Claim(t.Context(), "aaaa0001", text, results.Record{Task: "mine/meet", Method: "mappo", Budget: "smoke", Seed: 1}, false, nil)
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"evaluate aaaa0001", "train -again aaaa0001", "train -fork aaaa0001@1000 -set learner.lr=1"} {
		_, err := command(t, append(strings.Fields(line), "-store", store)...)
		if err == nil || !strings.Contains(err.Error(), `the task "mine/meet"`) || !strings.Contains(err.Error(), "with experiment.Evaluate") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestACancelledTrainingSaves(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	root := newRoot()
	root.SetOut(&bytes.Buffer{})
	root.SetArgs(normalize(tinyTraining("mappo", t.TempDir())))
	if err := root.ExecuteContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestStatusOfAnEmptyStoreSaysHowToFillItAndOfADamagedOneThatItIs(t *testing.T) {
	store := t.TempDir()
	if err := os.MkdirAll(filepath.Join(store, "campaigns"), 0o777); err != nil { // which holds no run
		t.Fatal(err)
	}
	if out, err := command(t, "status", "-store", store); err != nil || !strings.Contains(out, "go run ./reproduce train") {
		t.Errorf("%q, %v", out, err)
	}
	write(t, filepath.Join(store, "0123456789abcdef", "record.json"), "{", 0o666)
	if out, err := command(t, "status", "-store", store); err == nil || !strings.Contains(err.Error(), "can be read") || strings.Contains(out, "No runs") {
		t.Errorf("got %v: %s", err, out)
	}
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
		if demo := got.complete(); demo != c.demo || got.task != c.task || got.method != c.method || strings.Join(got.set, " ") != c.set {
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
		cfg, err := envs.Default(c.task)
		if err != nil {
			t.Fatal(err)
		}
		common := cfg.Shared()
		common.Reward, common.NumEnvs = c.reward, 1
		env, err := cfg.WithShared(common).Build(1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := tooShort(env.Spec()); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s, %s reward: got %q, want %q", c.task, c.reward, got, c.want)
		}
	}
}
