// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/cermiclib/results/export"
	"cermic/cermiclib/results/safetensors"
)

func TestRunsAreExportedInEveryForm(t *testing.T) {
	if testing.Short() {
		t.Skip("trains runs")
	}
	store, to := t.TempDir(), t.TempDir()
	if _, err := command(t, "train", "-method", "mappo", "-task", "balance", "-budget", "smoke", "-store", store, "-set", "budget.frames=1000",
		"-set", "learner.critic_hidden=16", "-set", "policy.hidden=16"); err != nil {
		t.Fatal(err)
	}
	st, err := results.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	found, err := st.Find(results.Query{Complete: true})
	if err != nil || len(found) != 1 {
		t.Fatal(len(found), err)
	}
	r := found[0]
	written := func(form, name string) []byte {
		t.Helper()
		if out, err := command(t, "export", form, "-budget", "custom", "-store", store, "-o", filepath.Join(to, name)); err != nil || !strings.Contains(out, "1 run") {
			t.Fatalf("%s: %q, %v", form, out, err)
		}
		for _, pattern := range []string{name, name + "/*", name + "/vmas/balance/*/seed_1/events.out.tfevents.*"} {
			for _, path := range globbed(t, filepath.Join(to, pattern)) {
				if info, err := os.Stat(path); err == nil && !info.IsDir() {
					data, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					return data
				}
			}
		}
		t.Fatalf("%s wrote no file", form)
		return nil
	}

	lines := strings.Split(strings.TrimSpace(string(written("csv", "runs.csv"))), "\n")
	if want := 1 + len(r.Evals)*len(r.Evals[0].Scores); len(lines) != want || !strings.HasPrefix(lines[1], r.ID+",vmas/balance,") {
		t.Errorf("%d lines, want %d; the first is %q", len(lines), want, lines[1])
	}
	back, err := export.Import(written("marl-eval", "all.json"))
	if err != nil || back[0].Evals[0].Scores[0] != r.Evals[0].Scores[0] {
		t.Errorf("marl-eval: %+v, %v", back, err)
	}
	if events := written("tensorboard", "tb"); !strings.Contains(string(events), "eval/return") {
		t.Error("the event file names no return")
	}
	checkWeights(t, st, r.ID, written("weights", "weights"))
	// Committed records of other machines stand beside one's own runs; some bring their weights along.
	committed, err := filepath.Glob(filepath.Join("records", "weights", "*.safetensors"))
	if err != nil || len(committed) == 0 {
		t.Fatalf("no committed weights: %v", err)
	}
	if said, err := command(t, "export", "weights", "-budget", "", "-store", store, "-o", filepath.Join(to, "own")); err != nil ||
		!strings.Contains(said, "left out: ") || !strings.HasSuffix(said, fmt.Sprintf(": %d runs\n", 1+len(committed))) {
		t.Errorf("weights beside records that have none: %q, %v", said, err)
	}

	// A checkpoint that was damaged costs its own run alone, and is named.
	file := filepath.Join(store, r.ID, "checkpoint.safetensors")
	if err := os.WriteFile(file, []byte("junk"), 0o666); err != nil {
		t.Fatal(err)
	}
	if said, err := command(t, "export", "weights", "-budget", "custom", "-store", store, "-o", filepath.Join(to, "none")); err == nil ||
		!strings.Contains(said, "left out: "+file+" is damaged") {
		t.Errorf("weights of a damaged checkpoint: %q, %v", said, err)
	}

	picture := filepath.Join(to, "both.svg")
	if _, err := command(t, "curves", "-budget", "custom", "-store", store, "-with", filepath.Join(to, "all.json"), "-o", picture); err != nil {
		t.Error(err)
	} else if data, err := os.ReadFile(picture); err != nil || !strings.Contains(string(data), "<svg") {
		t.Errorf("no SVG (%v)", err)
	}
}

func globbed(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// checkWeights compares exported weights with the checkpoint, bit by bit.
func checkWeights(t *testing.T, st *results.Store, id string, data []byte) {
	t.Helper()
	tensors, meta, err := safetensors.Read(data)
	if err != nil || meta["run"] != id {
		t.Fatalf("weights of %q, %v", meta["run"], err)
	}
	c, err := st.Checkpoint(id)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]string{}
	for _, x := range c.Tensors {
		kept[x.Name] = string(x.Data)
	}
	names := map[string]bool{}
	for _, x := range tensors {
		names[x.Name] = true
		if kept["weights/"+x.Name] != string(x.Data) {
			t.Errorf("%s is not what the run learned", x.Name)
		}
	}
	if !names["actor/layer_0/weights"] || !names["critic/out/bias"] || len(names) != 8 { // one hidden layer each
		t.Errorf("variables: %v", names)
	}
}

func TestExportMistakesAreOneSentence(t *testing.T) {
	store := t.TempDir()
	for want, args := range map[string][]string{
		"did you mean tensorboard":     {"export", "tensorbord"},
		"export to what":               {"export"},
		"did you mean balance":         {"export", "csv", "-task", "balence"},
		"of that kind at budget smoke": {"export", "csv", "-budget", "smoke"},                       // of which no run is ever committed
		"runs has weights here":        {"export", "weights", "-budget", "short", "-task", "wheel"}, // committed without weights
	} {
		if _, err := command(t, append(args, "-store", store)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
	if _, err := command(t, "curves", "-with", filepath.Join(store, "none.json"), "-store", store); err == nil {
		t.Error("curves of a file that does not exist")
	}
}
