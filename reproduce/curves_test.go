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
	"cermic/reproduce/figures"
	"cermic/viz"
)

func TestCurvesOfNothingSayHowToTrainThem(t *testing.T) {
	for want, args := range map[string][]string{
		"vmas/navigation trained on the sparse reward at budget paper in STORE: go run ./reproduce train -task navigation -budget paper -set task.reward=sparse": {
			"-task", "navigation", "-reward", "sparse", "-budget", "paper"},
		"vmas/balance by mappo,qmix at budget custom in STORE: go run ./reproduce train -task balance -method mappo,qmix -set budget.frames=60000": {
			"-method", "MAPPO,qmix", "-budget", "custom"},
	} {
		store := t.TempDir()
		_, err := command(t, append([]string{"curves", "-store", store}, args...)...)
		if err == nil || err.Error() != "no complete run of "+strings.Replace(want, "STORE", store, 1) {
			t.Errorf("%v: %v\nwant %s", args, err, want)
		}
	}
}

func TestCurvesOfOneMethodHaveOnlyThePeerOfItsLearner(t *testing.T) {
	run := []*results.Record{{Task: "vmas/balance", Experiment: []byte(`{"task":{"reward":"dense"}}`)}}
	groups := []results.Group{{Label: "mappo task.reward=dense", Method: "mappo", Runs: run}, {Label: "mine", Runs: run}}
	for list, want := range map[string]string{
		"":            "mappo mine, BenchMARL mappo BenchMARL qmix",
		"MAPPO":       "mappo, BenchMARL mappo",
		"MAPPO,mappo": "mappo, BenchMARL mappo",
		"mine,mappo":  "mappo mine, BenchMARL mappo",
		"mine":        "mine,",
	} {
		methods, err := methodsOf(list, groups)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		own := ofMethods(groups, methods)
		for _, g := range own {
			got = append(got, methodOf(g))
		}
		got[len(got)-1] += ","
		for _, s := range peer(own, methods, "") {
			got = append(got, s.Label)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("-method %q draws %q, want %q", list, text, want)
		}
	}
}

func TestCurvesOfATaskWithOneRewardHaveThePeerWhateverItsName(t *testing.T) {
	for task, want := range map[string]int{"vmas/simple_adversary": 1, "vmas/balance": 0} {
		run := []*results.Record{{Task: task, Experiment: []byte(`{"task":{"reward":"sparse"}}`)}}
		if got := peer([]results.Group{{Label: "mappo", Method: "mappo", Runs: run}}, []string{"mappo"}, ""); len(got) != want {
			t.Errorf("%s trained on its sparse reward is drawn beside %d curves, want %d", task, len(got), want)
		}
	}
	run := []*results.Record{{Task: "vmas/simple_adversary", Experiment: []byte(`{"task":{"reward":"sparse"}}`)}}
	for _, group := range []string{"adversary", "agent"} {
		if got := peer([]results.Group{{Label: "mappo", Method: "mappo", Runs: run}}, nil, group); len(got) != 1 || !got[0].Reference {
			t.Errorf("group %s is drawn beside %d curves, want BenchMARL's", group, len(got))
		}
	}
}

// marlEvalFile writes a run of one method and seed on Balance, as BenchMARL does, and returns the file's path.
func marlEvalFile(t *testing.T, path, method string, seed int, score float64) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"vmas": {"Balance": {%q: {"seed_%d": {"step_0": {"step_count": 6000.0, "return": [%g]}, "step_1": {"step_count": 600000.0, "return": [%g]}}}}}}`,
		method, seed, score, score)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSeedsInFilesOfTheirOwnAreOneImportedCurve(t *testing.T) {
	dir := t.TempDir()
	one := func(name, method string, seed int) string {
		return marlEvalFile(t, filepath.Join(dir, name), method, seed, 40+float64(seed))
	}
	seeds := []string{one("a.json", "mappo", 0), one("b.json", "mappo", 1), one("c.json", "mappo", 2), one("d.json", "qmix", 0)}
	labels := func(series []viz.Series) (out []string) {
		for _, s := range series {
			out = append(out, fmt.Sprintf("%s × %d", s.Label, len(s.Y)))
			if !s.Reference {
				t.Errorf("%s has the look of a method of ours", s.Label)
			}
		}
		return out
	}
	series, err := figures.Imported(seeds, "vmas/balance", viz.Evals)
	if got, want := labels(series), []string{"imported mappo × 3", "imported qmix × 1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("a file for every seed: %q, %v, want %q", got, err, want)
	}
	series, err = figures.Imported([]string{one("x/run.json", "mappo", 0), one("y/run.json", "mappo", 0), one("y/other.json", "mappo", 1)}, "vmas/balance", viz.Evals)
	if got, want := labels(series), []string{"imported mappo, x/run.json × 1", "imported mappo, y/run.json × 1", "imported mappo, other.json × 1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("two files with one seed: %q, %v, want %q", got, err, want)
	}
	if _, err := figures.Imported([]string{seeds[0], filepath.Join(dir, "x", "..", "a.json")}, "vmas/balance", viz.Evals); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("one file twice: %v", err)
	}
	if _, err := figures.Imported(seeds, "vmas/wheel", viz.Evals); err == nil || !strings.Contains(err.Error(), "a.json has no run of vmas/wheel, but of vmas/Balance") {
		t.Errorf("another task: %v", err)
	}
}
