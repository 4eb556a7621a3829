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

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
)

func TestTrainingIsSummedUpAndFoundAgain(t *testing.T) {
	store := t.TempDir()
	args := []string{"train", "-method", "mappo", "-task", "balance", "-budget", "smoke", "-seeds", "2", "-store", store,
		"-set", "budget.frames=1000", "-set", "learner.critic_hidden=16", "-set", "policy.hidden=16"} // this is not about learning
	first, err := command(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 balance mappo", "2 balance mappo", "1000/1000", "frames/s", "2 seeds", "budget custom",
		"preset default with single changes", "sparse one over 300 steps", "own over 100", "learner.critic_hidden=[16]"} {
		if !strings.Contains(first, want) {
			t.Errorf("training does not say %q:\n%s", want, first)
		}
	}
	args[2], args[4] = "MAPPO,mappo", "vmas/balance,Balance" // names given twice are one
	second, err := command(t, args...)
	if err != nil || strings.Count(second, "in the store") != 2 || strings.Contains(second, "frames/s") || strings.Count(second, "reward, 2 seeds (") != 1 {
		t.Errorf("the second time trains again, or counts seeds twice (%v):\n%s", err, second)
	}
	alone := slices.Clone(args)
	alone[8] = "2-2"
	third, err := command(t, alone...)
	if err != nil || strings.Count(third, "in the store") != 1 || !strings.HasPrefix(third, "2 balance mappo") {
		t.Errorf("seeds 2-2 are not the second alone (%v):\n%s", err, third)
	}
	table, err := command(t, "table", "agents", "-store", store)
	if err != nil || !strings.Contains(table, "No run of this table at budget "+plan.DefaultBudget) || !strings.Contains(table, "2 runs at budget custom.") || !strings.Contains(table, "Add -budget short.") {
		t.Errorf("table (%v):\n%s", err, table)
	}
	picture := filepath.Join(store, "curves.png")
	if _, err := command(t, "curves", "-budget", "custom", "-reward", "sparse", "-store", store, "-o", picture); err != nil {
		t.Error(err)
	} else if data, err := os.ReadFile(picture); err != nil || !bytes.HasPrefix(data, []byte("\x89PNG")) {
		t.Errorf("%s is no PNG (%v)", picture, err)
	}
	if _, err := command(t, "curves", "-budget", "smoke", "-store", store); err == nil || !strings.Contains(err.Error(), "go run ./reproduce train -task balance -budget smoke") {
		t.Errorf("curves of nothing: %v", err)
	}
	status, err := command(t, "status", "-store", store)
	if err != nil || strings.Count(status, "complete") != 2 || strings.Count(status, "mappo budget.frames=1000 learner.critic_hidden=[16] policy.hidden=[16] (else smoke)") != 2 ||
		strings.Count(status, " reward  ") != 2 {
		t.Errorf("status (%v):\n%s", err, status)
	}
}

func TestAForkIsTrainedFromItsParentAndNamedAfterIt(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", nn.Sequential) // compiles such small networks in no time
	store := t.TempDir()
	args := []string{"train", "-method", "mappo", "-task", "balance", "-budget", "smoke", "-store", store, "-set", "budget.frames=2000",
		"-set", "learner.critic_hidden=16", "-set", "policy.hidden=16"}
	if _, err := command(t, args...); err != nil {
		t.Fatal(err)
	}
	st, err := results.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	parent, err := st.Find(results.Query{})
	if err != nil || len(parent) != 1 {
		t.Fatalf("%d runs, %v", len(parent), err)
	}
	again, err := command(t, "evaluate", parent[0].ID[:6], "-set", "budget.sampled=true", "-set", "budget.eval_episodes=7", "-store", store)
	if err != nil || !strings.Contains(again, "at 2000 frames: 7 sampled episodes\n  score ") || !strings.Contains(again, "success") {
		t.Errorf("evaluated again (%v):\n%s", err, again)
	}
	if one, err := command(t, "evaluate", parent[0].ID, "-set", "budget.eval_episodes=1", "-store", store); err != nil || strings.Contains(one, "NaN") {
		t.Errorf("a single episode (%v):\n%s", err, one)
	}
	for _, wrong := range []string{"learner.lr=1", "task.vmas_fov=-1"} {
		if _, err := command(t, "evaluate", parent[0].ID, "-set", wrong, "-store", store); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want a sentence", wrong, err)
		}
	}
	from := parent[0].ID[:6] + "@1000"
	out, err := command(t, "train", "-fork", from, "-set", "learner.entropy_coef=0.1", "-store", store)
	name := "mappo budget.frames=2000 learner.critic_hidden=[16] learner.entropy_coef=0.1 policy.hidden=[16] (else smoke) (learner.entropy_coef=0 until 1k)"
	for _, want := range []string{"training run " + parent[0].ID + " again from 0 to 1000 frames", "2000/2000", name} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("the fork does not say %q (%v):\n%s", want, err, out)
		}
	}
	forks, err := st.Find(results.Query{})
	forks = slices.DeleteFunc(forks, func(r *results.Record) bool { return r.Method != name })
	if err != nil || len(forks) != 1 {
		t.Fatalf("%d forks, %v", len(forks), err)
	}
	if id, at := forks[0].Fork(); id != parent[0].ID || at != 1000 {
		t.Errorf("the fork's parent is %q at %d", id, at)
	}
}

func TestAStopSavesAndSaysHowToGoOn(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out bytes.Buffer
	err := dispatch(ctx, &out, []string{"train", "-method", "mappo", "-store", t.TempDir()})
	if !errors.Is(err, errStopped) || !strings.Contains(out.String(), "the same command goes on") {
		t.Errorf("got %v and %q", err, out.String())
	}
}

func TestAStoreInWhichNothingCanBeReadIsNotCalledEmpty(t *testing.T) {
	store := t.TempDir()
	folder := filepath.Join(store, "0123456789abcdef")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "record.json"), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := command(t, "status", "-store", store); err == nil || !strings.Contains(err.Error(), "can be read") || strings.Contains(out, "No runs") {
		t.Errorf("got %v: %s", err, out)
	}
}

func TestStatusOfAnEmptyStoreSaysHowToFillIt(t *testing.T) {
	store := t.TempDir()
	for _, folder := range []string{"", "pretrained", "campaigns"} { // which hold no run
		if err := os.MkdirAll(filepath.Join(store, folder), 0o777); err != nil {
			t.Fatal(err)
		}
		out, err := command(t, "status", "-store", store)
		if err != nil || !strings.Contains(out, "go run ./reproduce train") {
			t.Errorf("beside %q: %q, %v", folder, out, err)
		}
	}
	if out, err := command(t, "delete", "-store", store, "-yes", "campaigns"); err == nil || strings.Contains(out, "Deleted") {
		t.Errorf("the manifests of campaigns are deleted as a run: %s", out)
	}
}

func TestTrainWithoutAnythingNamedIsADemonstration(t *testing.T) {
	for _, c := range []struct {
		given        choice
		task, method string
		set          string
		demo         bool
	}{
		{choice{}, "balance", "mappo,mappo-cermic", "task.reward=dense", true},
		{choice{method: "mace"}, "balance", "mace", "task.reward=dense", false},
		{choice{task: "wheel"}, "wheel", "mappo-cermic", "", false},
		{choice{set: repeated{"task.reward=sparse"}}, "balance", "mappo-cermic", "task.reward=sparse", false},
		{choice{set: repeated{"explore.alpha=1"}}, "balance", "mappo-cermic", "explore.alpha=1 task.reward=dense", false},
		{choice{table: "sota"}, "balance", "mappo-cermic", "", false},
	} {
		got := c.given
		if demo := got.complete(); demo != c.demo || got.task != c.task || got.method != c.method || strings.Join(got.set, " ") != c.set {
			t.Errorf("%+v becomes %+v, a demonstration: %v", c.given, got, demo)
		}
	}
	e, err := choice{task: "balance", method: demoMethods, budget: plan.DefaultBudget, seeds: seedRange{1, 1}, set: repeated{demoSetting}}.grid()
	if err != nil || len(e) != 2 || e[1].Label() != "mappo-cermic task.reward=dense" {
		t.Errorf("%v, %v", e, err)
	}
}

func TestEveryVerbHasTheSameDefaultBudget(t *testing.T) {
	asked := 0
	for _, v := range verbs() {
		var help bytes.Buffer
		_ = v.run(t.Context(), &help, []string{"-h"})
		_, budget, ok := strings.Cut(help.String(), "\n  -budget ")
		if budget, _, _ = strings.Cut(budget, "\n  -"); ok && v.name != "notebooks" && v.name != "check" {
			if asked++; !strings.Contains(budget, `(default "`+plan.DefaultBudget+`")`) {
				t.Errorf("%s: -budget %s", v.name, budget)
			}
		}
	}
	if asked < 5 {
		t.Errorf("%d verbs take a budget", asked)
	}
}
