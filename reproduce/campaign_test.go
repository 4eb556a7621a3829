// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cermic/reproduce/campaign"
)

func TestACampaignStatesItsCostTrainsWhatIsMissingAndThenNothing(t *testing.T) {
	store := t.TempDir()
	run := func(more ...string) string {
		t.Helper()
		out, err := command(t, append(tinyCampaign(store), append([]string{"-seeds", "2"}, more...)...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := run("-plan"); !strings.Contains(out, "mappo   2     0     600           not measured yet") || strings.Contains(out, "done,") {
		t.Fatalf("the plan:\n%s", out)
	}
	if out := run(); !strings.Contains(out, "2 done, 0 training, 0 failed, 0 to go") || strings.Count(out, "done    ") != 2 {
		t.Fatalf("the campaign:\n%s", out)
	}
	if out := run(); strings.Contains(out, "done    ") || !strings.Contains(out, "mappo   2     2     0") || !strings.Contains(out, "(2 measured)") {
		t.Errorf("the second time:\n%s", out)
	}
	manifest := filepath.Join(store, "manifest")
	if out := run("-manifest", manifest); !strings.Contains(out, "Nothing is missing.") || len(globbed(t, manifest)) > 0 {
		t.Errorf("a manifest of nothing:\n%s", out)
	}
}

func TestThePlanOfEverythingNamesEachTableAtEachBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("plans every table at every budget")
	}
	out, err := command(t, "campaign", "-plan", "-seeds", "1", "-store", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sota      short", "density   paper", "4 nodes of 16 cores", "extrapolated", "bench -only gpu measures"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestFailedRunsDoNotStopACampaign(t *testing.T) {
	out, err := command(t, append(tinyCampaign(t.TempDir(), "learner.lr=1e30"), "-seeds", "2")...)
	if err == nil || !strings.Contains(err.Error(), "2 runs of 2 failed") {
		t.Errorf("got %v", err)
	}
	if strings.Count(out, "failed  ") != 2 || !strings.Contains(out, "_loss became") || !strings.Contains(out, "0 done, 0 training, 2 failed, 0 to go") {
		t.Errorf("the board says\n%s", out)
	}
}

func TestTheScriptOfSlurmHasItsFlags(t *testing.T) {
	for _, name := range []string{"GOMLX_BACKEND", "XLA_FLAGS"} { // which -backend and -portable set
		t.Setenv(name, os.Getenv(name))
	}
	store := t.TempDir()
	script, err := command(t, append(tinyCampaign(store), strings.Fields("-on slurm -dry-run -account lab -partition gpu -gpus 1 "+
		"-time 4:00:00 -bundle 2 -force -backend xla:cuda,tf32 -portable")...)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"#!/bin/bash\n", "--array=0-1", "--requeue", "--account=lab", "--partition=gpu", "--gpus-per-task=1", "--time=4:00:00",
		"--signal=B:TERM@60", "-bundle 2 '-backend=xla:cuda,tf32' '-force=true' '-portable=true' '", "scontrol requeue", " = RUNNING ]"} {
		if !strings.Contains(script, want) {
			t.Errorf("no %q in\n%s", want, script)
		}
	}
	if entries, _ := os.ReadDir(store); len(entries) != 0 {
		t.Errorf("a dry run writes %v", entries)
	}
	check := exec.Command("bash", "-n")
	check.Stdin = strings.NewReader(script)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("bash: %s", out)
	}
}

func TestAManifestIsTrainedInBundles(t *testing.T) {
	store := t.TempDir()
	path := filepath.Join(store, "manifest.jsonl")
	out, err := command(t, append(tinyCampaign(store), "-manifest", path)...)
	if err != nil || !strings.Contains(out, "3 runs in "+path) {
		t.Fatalf("the manifest (%v):\n%s", err, out)
	}
	if es, err := campaign.ReadManifest(path); err != nil || len(es) != 3 || es[2].Seed != 3 {
		t.Fatalf("%d experiments, %v", len(es), err)
	}
	if out, err := command(t, "work", path, "-store", store, "-bundle", "2", "-index", "1"); err != nil || !strings.Contains(out, "3 balance mappo") || strings.Contains(out, "1 balance") {
		t.Errorf("the second bundle (%v):\n%s", err, out)
	}
	for _, beyond := range [][2]string{{"2", "2"}, {"4611686018427387904", "2"}} { // the second product overflows
		_, err := command(t, "work", path, "-store", store, "-bundle", beyond[0], "-index", beyond[1])
		if err == nil || !strings.Contains(err.Error(), "bundle "+beyond[1]+" is empty") {
			t.Errorf("bundle %s of %s: %v", beyond[1], beyond[0], err)
		}
	}
	write(t, path, `{"method":"mappo","exper`, 0o666)
	if _, err := command(t, "work", path, "-store", store); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a damaged manifest: %v", err)
	}
}
