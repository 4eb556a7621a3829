// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
	"cermic/reproduce/figures"
)

func TestCurvesOfNothingSayHowToTrainThem(t *testing.T) {
	args := strings.Fields("curves -task navigation -reward sparse -budget paper -store " + t.TempDir())
	refuse(t, "go run ./reproduce train -task navigation -budget paper -set task.reward=sparse", args...)
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
