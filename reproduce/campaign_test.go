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
	if testing.Short() {
		t.Skip("trains a campaign")
	}
	store := t.TempDir()
	run := func(more ...string) string {
		t.Helper()
		return succeed(t, append(tinyCampaign(store), append([]string{"-seeds", "2"}, more...)...)...)
	}
	contains(t, run(), "mappo   2     0     600  ", "2 done, 0 training, 0 failed, 0 to go")
	planned := run("-plan")
	contains(t, planned, "mappo   2     2     0  ", " measured)")
	lacks(t, planned, "done,")
	lacks(t, run(), "frames/s  ")
	manifest := filepath.Join(store, "manifest")
	contains(t, run("-manifest", manifest), "Nothing is missing.")
	if found := globbed(t, manifest); len(found) > 0 {
		t.Error("a manifest of nothing is written")
	}
}

func TestThePlanOfEverythingNamesEachTableAtEachBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("plans every table at every budget")
	}
	contains(t, succeed(t, "campaign", "-plan", "-seeds", "1", "-store", t.TempDir()),
		"sota      short", "density   paper", "4 nodes of 16 cores", "extrapolated", "has measurements of a GPU")
}

func TestFailedRunsDoNotStopACampaign(t *testing.T) {
	out := refuse(t, "2 of 2 runs failed", append(tinyCampaign(t.TempDir(), "learner.lr=1e30"), "-seeds", "2")...)
	contains(t, out, "_loss became", "0 done, 0 training, 2 failed, 0 to go")
	if strings.Count(out, "failed  ") != 2 {
		t.Errorf("the board says\n%s", out)
	}
}

func TestTheScriptOfSlurmHasItsFlags(t *testing.T) {
	for _, name := range []string{"GOMLX_BACKEND", "XLA_FLAGS"} { // which -backend and -portable set
		t.Setenv(name, os.Getenv(name))
	}
	store := t.TempDir()
	flags := "-on slurm -dry-run -account lab -partition gpu -gpus 1 -time 4:00:00 -bundle 2 " +
		"-backend xla:cuda,tf32 -portable"
	script := succeed(t, append(tinyCampaign(store), strings.Fields(flags)...)...)
	contains(t, script, "#!/bin/bash\n", "--array=0-1", "--requeue", "--account=lab", "--partition=gpu",
		"--gpus-per-task=1", "--time=4:00:00", "--signal=B:TERM@60", "-bundle 2 '-backend=xla:cuda,tf32' '-portable=true' '",
		"scontrol requeue", " = RUNNING ]")
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
	contains(t, succeed(t, append(tinyCampaign(store), "-manifest", path)...), "3 runs in "+path)
	if es, err := campaign.ReadManifest(path); err != nil || len(es) != 3 || es[2].Seed != 3 {
		t.Fatalf("%d experiments, %v", len(es), err)
	}
	second := succeed(t, "work", path, "-store", store, "-bundle", "2", "-index", "1")
	contains(t, second, "3 balance mappo")
	lacks(t, second, "1 balance")
	refuse(t, "bundle 2 is empty", "work", path, "-store", store, "-bundle", "2", "-index", "2")
	refuse(t, "is empty", "work", path, "-store", store, "-bundle", "4611686018427387904", "-index", "2") // overflows
	write(t, path, `{"method":"mappo","exper`, 0o666)
	refuse(t, "line 1", "work", path, "-store", store)
}
