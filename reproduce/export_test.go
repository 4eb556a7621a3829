// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/cermiclib/results/safetensors"
	"cermic/envs/envtest/must"
	"cermic/reproduce/figures"
)

func TestRunsAreExportedInEveryForm(t *testing.T) {
	if testing.Short() {
		t.Skip("trains and exports")
	}
	store, id := trainedRun(t)
	st := must.Get(results.Open(store))(t)
	r := must.Get(st.Get(id))(t)
	to := t.TempDir()
	arguments := func(form, name string) []string {
		return []string{"export", form, "-task", "balance", "-budget", "custom", "-store", store, "-o", filepath.Join(to, name)}
	}
	written := func(form, file string) string {
		t.Helper()
		name, _, _ := strings.Cut(file, "/")
		contains(t, succeed(t, arguments(form, name)...), "1 run")
		found := globbed(t, filepath.Join(to, file))
		if len(found) != 1 {
			t.Fatalf("%s wrote %v", form, found)
		}
		return string(must.Get(os.ReadFile(found[0]))(t))
	}
	lines := strings.Split(strings.TrimSpace(written("csv", "runs.csv")), "\n")
	if len(lines) != 1+len(r.Evals)*len(r.Evals[0].Scores) || !strings.HasPrefix(lines[1], id+",vmas/balance,") {
		t.Errorf("%d lines; the first is %q", len(lines), lines[1])
	}
	contains(t, written("tensorboard", "tb/vmas/balance/*/seed_1/events.out.tfevents.*"), "eval/return")
	checkWeights(t, st, id, []byte(written("weights", "weights/*.safetensors")))

	picture := filepath.Join(to, "both.svg")
	other := marlEvalFile(t, filepath.Join(to, "all.json"), "mappo", 1, 40)
	succeed(t, "curves", "-budget", "custom", "-store", store, "-with", other, "-o", picture)
	if data, err := os.ReadFile(picture); err != nil || !strings.Contains(string(data), "<svg") {
		t.Errorf("no SVG (%v)", err)
	}

	// Records of other machines have no weights, and a damaged checkpoint is named.
	file := filepath.Join(store, id, "checkpoint.safetensors")
	write(t, file, "junk", 0o666)
	refuse(t, file+" is damaged", arguments("weights", "none")...)
	out := refuse(t, "none of these runs", "export", "weights", "-budget", "short", "-task", "wheel", "-store", store)
	contains(t, out, "trained elsewhere")
	refuse(t, "at budget smoke in "+store, "export", "csv", "-budget", "smoke", "-store", store)
}

// checkWeights compares exported weights with the checkpoint, bit by bit.
func checkWeights(t *testing.T, st *results.Store, id string, data []byte) {
	t.Helper()
	tensors, meta, err := safetensors.Read(data)
	if err != nil || meta["run"] != id {
		t.Fatalf("weights of %q, %v", meta["run"], err)
	}
	c := must.Get(st.Checkpoint(id))(t)
	names := map[string]bool{}
	for name, x := range tensors {
		names[name] = true
		if string(c.Tensors["weights/"+name].Data) != string(x.Data) {
			t.Errorf("%s is not what the run learned", name)
		}
	}
	if !names["actor/layer_0/weights"] || !names["critic/out/bias"] || len(names) != 8 { // one hidden layer each
		t.Errorf("variables: %v", names)
	}
}

func TestTheTableOfEpisodesHasAColumnForEachGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.csv")
	eval := func(score float64, groups map[string][]float64) []results.Eval {
		return []results.Eval{{Frames: 1, Scores: []float64{score}, Groups: groups}}
	}
	groups := map[string][]float64{"b": {3}, "a": {-1}}
	rs := []*results.Record{{ID: "a", Evals: eval(1, groups)}, {ID: "b", Evals: eval(2, nil)}}
	must.Get((&runExport{to: file}).csv(nil, rs))(t)
	text, err := os.ReadFile(file)
	lines := strings.Split(string(text), "\n")
	if err != nil || !strings.HasSuffix(lines[0], "success,a_return,b_return") ||
		!strings.HasSuffix(lines[1], ",1,,,-1,3") || !strings.HasSuffix(lines[2], ",2,,,,") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestRunsOfUncommittedSourcesAreNotExportedAsRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("exports three stores")
	}
	for _, host := range []results.Host{{Commit: "0123"}, {Commit: "0123", Dirty: true}, {}} {
		st := libtest.Store(t)
		header := results.Record{ID: "0a", Task: "vmas/balance", Method: "mappo", Budget: "smoke", Seed: 1,
			Experiment: []byte(`{"seed":1}`)}
		r := must.Get(st.Claim(t.Context(), header, false, nil))(t)
		eval := results.Eval{Frames: 1, Scores: []float64{1}}
		must.Do(t, errors.Join(r.AppendEval(eval), r.Finish(host), r.Close()))
		args := []string{"export", "records", "-budget", "smoke", "-store", st.Dir(), "-o", t.TempDir()}
		if host.Commit != "" && !host.Dirty {
			succeed(t, args...)
		} else {
			refuse(t, "names no commit that has the sources", args...)
		}
	}
}

func TestCurvesOfNothingSayHowToTrainThem(t *testing.T) {
	args := strings.Fields("curves -task navigation -reward sparse -budget paper -store " + t.TempDir())
	refuse(t, "no complete run of vmas/navigation with these flags", args...)
}

func TestCurvesHaveBenchMARLsOfTheSameLearner(t *testing.T) {
	of := func(task, reward string) []results.Group {
		run := &results.Record{Task: task, Experiment: []byte(`{"task":{"reward":"` + reward + `"}}`)}
		return []results.Group{{Label: "mappo", Method: "mappo", Runs: []*results.Record{run}}}
	}
	for _, c := range []struct {
		groups  []results.Group
		methods []string
		want    string
	}{
		{of("vmas/balance", "dense"), nil, "BenchMARL mappo BenchMARL qmix"},
		{of("vmas/balance", "dense"), []string{"mappo"}, "BenchMARL mappo"},
		{of("vmas/balance", "sparse"), nil, ""},
		{of("vmas/simple_adversary", "sparse"), []string{"mappo"}, "BenchMARL mappo"}, // its only reward
		{nil, nil, ""},
	} {
		var got []string
		for _, s := range benchMARL(c.groups, c.methods) {
			got = append(got, s.Label)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%v beside %v: %q, want %q", c.methods, c.groups, text, c.want)
		}
	}
	if ids, err := findMethods("MAPPO,qmix"); err != nil || !slices.Equal(ids, []string{"mappo", "qmix"}) {
		t.Errorf("MAPPO,qmix are %v, %v", ids, err)
	}
}

// marlEvalFile writes a run of one method and seed on Balance, as BenchMARL does, and returns the file's path.
func marlEvalFile(t *testing.T, path, method string, seed int, score float64) string {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
	text := fmt.Sprintf(`{"vmas": {"Balance": {%q: {"seed_%d": {
		"step_0": {"step_count": 6000.0, "return": [%g]}, "step_1": {"step_count": 600000.0, "return": [%g]}}}}}}`,
		method, seed, score, score)
	must.Do(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

func TestSeedsInFilesOfTheirOwnAreOneImportedCurve(t *testing.T) {
	dir := t.TempDir()
	one := func(name, method string, seed int) string {
		return marlEvalFile(t, filepath.Join(dir, name), method, seed, 40+float64(seed))
	}
	imported := func(files ...string) string {
		t.Helper()
		series, err := figures.Imported(files, "vmas/balance")
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, s := range series {
			out = append(out, fmt.Sprintf("%s × %d", s.Label, len(s.Y)))
			if !s.Reference {
				t.Errorf("%s has the style of a method of ours", s.Label)
			}
		}
		return strings.Join(out, "; ")
	}
	a, b := one("a.json", "mappo", 0), one("b.json", "mappo", 1)
	for want, got := range map[string]string{
		"imported mappo × 2; imported qmix × 1":                                                     imported(a, b, one("d.json", "qmix", 0)),
		"D/a.json and D/c.json both have a run of mappo with seed 0: a mean counts every seed once": imported(a, one("c.json", "mappo", 0)),
		"imported mappo × 1": imported(a, a),
	} {
		if got = strings.ReplaceAll(got, dir, "D"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	_, err := figures.Imported([]string{a}, "vmas/wheel")
	contains(t, fmt.Sprint(err), "a.json has no run of vmas/wheel, but of vmas/Balance")
}
