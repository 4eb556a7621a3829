// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tinyCampaign trains two seeds of MAPPO for a thousand frames with a network of 16 units.
func tinyCampaign(store string, more ...string) []string {
	return append([]string{"campaign", "-task", "balance", "-method", "mappo", "-budget", "smoke", "-seeds", "2", "-store", store,
		"-set", "budget.frames=1000", "-set", "learner.critic_hidden=16", "-set", "policy.hidden=16"}, more...)
}

func TestACampaignSaysItsCostTrainsWhatIsMissingAndThenNothing(t *testing.T) {
	store := t.TempDir()
	said, err := command(t, tinyCampaign(store, "-plan")...)
	if err != nil || !strings.Contains(said, "mappo   2     0     2000          known after a first run") || strings.Contains(said, "done,") {
		t.Fatalf("the plan (%v):\n%s", err, said)
	}
	said, err = command(t, tinyCampaign(store)...)
	if err != nil || !strings.Contains(said, "2 done, 0 training, 0 failed, 0 to go") || strings.Count(said, "done    ") != 2 {
		t.Fatalf("the campaign (%v):\n%s", err, said)
	}
	said, err = command(t, tinyCampaign(store)...)
	if err != nil || strings.Contains(said, "done    ") || !strings.Contains(said, "mappo   2     2     0") || !strings.Contains(said, "(2 measured)") {
		t.Errorf("the second time (%v):\n%s", err, said)
	}
	manifest := filepath.Join(store, "manifest")
	if said, err = command(t, tinyCampaign(store, "-manifest", manifest)...); err != nil || !strings.Contains(said, "Nothing is missing.") {
		t.Errorf("a manifest of nothing (%v):\n%s", err, said)
	}
	if _, err := os.Stat(manifest); err == nil {
		t.Error("a manifest of nothing is written")
	}
}

func TestThePlanOfEverythingNamesEachTableAtEachBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("plans every table at every budget")
	}
	out, err := command(t, "campaign", "-plan", "-nodes", "8", "-seeds", "1", "-store", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sota      short", "density   paper", "8 nodes of 16 cores", "extrapolated", "has measurements of a GPU"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestRunsThatFailDoNotStopACampaign(t *testing.T) {
	said, err := command(t, tinyCampaign(t.TempDir(), "-set", "learner.lr=1e30")...)
	if err == nil || !strings.Contains(err.Error(), "2 runs of 2 failed") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	if strings.Count(said, "failed  ") != 2 || !strings.Contains(said, "_loss became") || !strings.Contains(said, "0 done, 0 training, 2 failed, 0 to go") {
		t.Errorf("the board says\n%s", said)
	}
}

func TestCampaignMistakesAreOneSentence(t *testing.T) {
	for want, args := range map[string][]string{
		"needs -table":           {"campaign"},
		"leave out -task":        {"campaign", "-table", "sota", "-task", "balance"},
		"did you mean sota":      {"campaign", "-table", "soto"},
		"-seeds is 0":            {"campaign", "-table", "sota", "-seeds", "0"},
		"a range needs":          {"campaign", "-plan", "-seeds", "2-3"},
		"want here or slurm":     {"campaign", "-table", "sota", "-on", "slrum"},
		"did you mean mappo":     {"campaign", "-task", "balance", "-method", "mapo"},
		"-dry-run only with -on": {"campaign", "-table", "sota", "-dry-run"},
		"use -on slurm":          {"campaign", "-table", "sota", "-on", "here", "-dry-run"},
		"leave out -workers":     {"campaign", "-table", "sota", "-on", "slurm", "-workers", "2"},
		"does not read -on":      {"campaign", "-table", "sota", "-on", "slurm", "-manifest", "x"},
		"only with -plan":        {"campaign", "-table", "sota", "-nodes", "8"},
		"want something like 4":  {"campaign", "-plan", "-nodes", "2,4"},
	} {
		if _, err := command(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}
