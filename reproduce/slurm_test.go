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

func TestTheScriptPassesOnWhatTheClusterNeeds(t *testing.T) {
	for _, name := range []string{"GOMLX_BACKEND", "XLA_FLAGS"} { // which -backend and -portable set
		t.Setenv(name, os.Getenv(name))
	}
	store := t.TempDir()
	script, err := command(t, tinyCampaign(store, "-on", "slurm", "-dry-run", "-account", "lab", "-partition", "gpu", "-gpus", "1",
		"-time", "4:00:00", "-bundle", "2", "-force", "-backend", "xla:cuda,tf32", "-portable")...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"#!/bin/bash\n", "--array=0-0", "--requeue", "--account=lab", "--partition=gpu", "--gpus-per-task=1", "--time=4:00:00",
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

func TestAScriptHasNoLinesOfTheUsersOwn(t *testing.T) {
	for _, bad := range [][]string{
		{"-account", "lab\ncurl evil"}, {"-partition", "a\rb"}, {"-gpus", "1\n"}, {"-time", "1:00\n#SBATCH"}, {"-bundle", "1000000000"},
		{"-bundle", "9223372036854775807"}, {"-store", "runs\nrm"}, {"-backend", "go:\nrm"},
	} {
		out, err := command(t, tinyCampaign(t.TempDir(), append([]string{"-on", "slurm", "-dry-run"}, bad...)...)...)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is accepted, or is refused in more than one line: %v\n%s", bad, err, out)
		}
	}
}

func TestAManifestReadsBackAndIsWorkedOffInBundles(t *testing.T) {
	store := t.TempDir()
	set := []string{"budget.frames=1000", "learner.critic_hidden=8", "policy.hidden=8"}
	es, err := choice{task: "balance", method: "mappo", budget: "smoke", seeds: seedRange{1, 3}, set: set}.experiments(os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(store, "manifest.jsonl")
	said, err := command(t, "campaign", "-task", "balance", "-method", "mappo", "-budget", "smoke", "-set", set[0], "-set", set[1], "-set", set[2],
		"-store", store, "-manifest", path)
	if err != nil || !strings.Contains(said, "3 runs in "+path) {
		t.Fatalf("the manifest (%v):\n%s", err, said)
	}
	back, err := campaign.ReadManifest(path)
	if err != nil || len(back) != 3 {
		t.Fatalf("%d experiments, %v", len(back), err)
	}
	for i := range es {
		a, _ := es[i].ID()
		if b, err := back[i].ID(); a != b || err != nil || back[i].Label() != es[i].Label() {
			t.Errorf("experiment %d is %s %q, was %s %q", i, b, back[i].Label(), a, es[i].Label())
		}
	}
	if out, err := command(t, "work", path, "-store", store, "-bundle", "2", "-index", "1"); err != nil || !strings.Contains(out, "3 balance mappo") || strings.Contains(out, "1 balance") {
		t.Errorf("the second bundle (%v):\n%s", err, out)
	}
	for _, beyond := range [][2]string{{"2", "2"}, {"4611686018427387904", "2"}, {"3", "6148914691236517205"}} { // products that overflow
		_, err := command(t, "work", path, "-store", store, "-bundle", beyond[0], "-index", beyond[1])
		if err == nil || !strings.Contains(err.Error(), "bundle "+beyond[1]+" is empty") {
			t.Errorf("bundle %s of %s: %v", beyond[1], beyond[0], err)
		}
	}
	for damaged, want := range map[string]string{
		`{"method":"mappo","experiment":{"learner":1}}`: "line 1", `{"method":"mappo","exper`: "line 1", "": "is empty", "{}": "line 1",
	} {
		if err := os.WriteFile(path, []byte(damaged), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := command(t, "work", path, "-store", store); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("a damaged manifest, %q: %v, want %q", damaged, err, want)
		}
	}
}
