// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/cermiclib/results/export"
	"cermic/cermiclib/results/safetensors"
)

func TestRunsAreExportedInEveryForm(t *testing.T) {
	store, id := trainedRun(t)
	st, err := results.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	r, err := st.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	written := func(form, file string) string {
		t.Helper()
		name, _, _ := strings.Cut(file, "/")
		if out, err := command(t, "export", form, "-budget", "custom", "-store", store, "-o", filepath.Join(to, name)); err != nil || !strings.Contains(out, "1 run") {
			t.Fatalf("%s: %q, %v", form, out, err)
		}
		found := globbed(t, filepath.Join(to, file))
		if len(found) != 1 {
			t.Fatalf("%s wrote %v", form, found)
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	lines := strings.Split(strings.TrimSpace(written("csv", "runs.csv")), "\n")
	if want := 1 + len(r.Evals)*len(r.Evals[0].Scores); len(lines) != want || !strings.HasPrefix(lines[1], id+",vmas/balance,") {
		t.Errorf("%d lines, want %d; the first is %q", len(lines), want, lines[1])
	}
	back, err := export.ReadMarlEval([]byte(written("marl-eval", "all.json")))
	if err != nil || back[0].Evals[0].Scores[0] != r.Evals[0].Scores[0] {
		t.Errorf("marl-eval: %+v, %v", back, err)
	}
	if events := written("tensorboard", "tb/vmas/balance/*/seed_1/events.out.tfevents.*"); !strings.Contains(events, "eval/return") {
		t.Error("the event file names no return")
	}
	checkWeights(t, st, id, []byte(written("weights", "weights/*.safetensors")))

	picture := filepath.Join(to, "both.svg")
	if _, err := command(t, "curves", "-budget", "custom", "-store", store, "-with", filepath.Join(to, "all.json"), "-o", picture); err != nil {
		t.Error(err)
	} else if data, err := os.ReadFile(picture); err != nil || !strings.Contains(string(data), "<svg") {
		t.Errorf("no SVG (%v)", err)
	}

	// Records of other machines have no weights, and a damaged checkpoint is named.
	file := filepath.Join(store, id, "checkpoint.safetensors")
	write(t, file, "junk", 0o666)
	if out, err := command(t, "export", "weights", "-budget", "custom", "-store", store, "-o", filepath.Join(to, "none")); err == nil ||
		!strings.Contains(err.Error(), "none of these runs has weights") || !strings.Contains(out, "left out: "+file+" is damaged") {
		t.Errorf("weights of a damaged checkpoint: %q, %v", out, err)
	}
	if out, err := command(t, "export", "weights", "-budget", "short", "-task", "wheel", "-store", store, "-o", filepath.Join(to, "none")); err == nil || !strings.Contains(out, "trained elsewhere") {
		t.Errorf("weights of committed records: %q, %v", out, err)
	}
	if _, err := command(t, "export", "csv", "-budget", "smoke", "-store", store); err == nil || !strings.Contains(err.Error(), "at budget smoke in "+store) {
		t.Errorf("runs of a budget without any: %v", err)
	}
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
	kept, names := map[string]string{}, map[string]bool{}
	for _, x := range c.Tensors {
		kept[x.Name] = string(x.Data)
	}
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

func TestTheTableOfEpisodesHasAColumnForEachGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.csv")
	rs := []*results.Record{
		{ID: "a", Evals: []results.Eval{{Frames: 1, Scores: []float64{1}, Groups: map[string][]float64{"b": {3}, "a": {-1}}}}},
		{ID: "b", Evals: []results.Eval{{Frames: 1, Scores: []float64{2}}}},
	}
	if err := exportCSV(nil, rs, file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	lines := strings.Split(string(text), "\n")
	if err != nil || !strings.HasSuffix(lines[0], "success,a_return,b_return") || !strings.HasSuffix(lines[1], ",1,,,-1,3") || !strings.HasSuffix(lines[2], ",2,,,,") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestRunsOfUncommittedSourcesAreNotExportedAsRecords(t *testing.T) {
	for want, host := range map[string]results.Host{
		"": {Commit: "0123", Sources: "4567"}, "no commit that has": {Commit: "0123", Sources: "4567", Dirty: true}, "commit them": {Sources: "4567"},
	} {
		st := libtest.Store(t)
		r, err := st.Claim(t.Context(), "0a", []byte(`{"seed":1}`), results.Record{Task: "vmas/balance", Method: "mappo", Budget: "smoke", Seed: 1}, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.AppendEval(results.Eval{Frames: 1, Scores: []float64{1}}), r.Finish(host), r.Close()); err != nil {
			t.Fatal(err)
		}
		_, err = command(t, "export", "records", "-budget", "smoke", "-store", st.Dir(), "-o", t.TempDir())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", host, err)
		}
	}
}
