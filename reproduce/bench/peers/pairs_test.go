// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/cermiclib/results/export"
	"cermic/cermiclib/stats"
	"cermic/envs/envtest/must"
)

func TestTurnsAlternateAndRatiosSayHowManyTimesBetter(t *testing.T) {
	var order []string
	turn := func(name string, values ...float64) func(context.Context) (float64, error) {
		return func(context.Context) (float64, error) {
			order = append(order, name)
			v := values[0]
			values = append(values[1:], v)
			return v, nil
		}
	}
	faster := pair{unit: "frames/s", ours: turn("here", 20, 40, 30), theirs: turn("there", 10, 10, 10)}
	here, there, err := faster.turns(t.Context(), 3)
	if got := faster.ratios(here, there); err != nil || !slices.Equal(got, []float64{2, 3, 4}) {
		t.Errorf("ratios %v, %v", got, err)
	}
	if want := []string{"here", "there", "there", "here", "here", "there"}; !slices.Equal(order, want) {
		t.Errorf("turns %v, want %v", order, want)
	}
	if got := (pair{unit: "ms"}).ratios([]float64{5}, []float64{10}); !slices.Equal(got, []float64{2}) {
		t.Errorf("ratios of times %v", got)
	}
	failing := errors.New("no")
	fails := pair{ours: turn("here", 1), theirs: func(context.Context) (float64, error) { return 0, failing }}
	if _, _, err := fails.turns(t.Context(), 1); !errors.Is(err, failing) {
		t.Errorf("a peer that fails: %v", err)
	}
	if m := median([]float64{3, 1, 2, 10}); m != 2.5 {
		t.Errorf("median %g", m)
	}
}

func TestAPeerPrintsANumberOrAnError(t *testing.T) {
	failing := errors.New("no such module")
	for output, want := range map[string]float64{"noise\n12.5\n": 12.5, "nan": 0, "-1": 0, "none": 0, "": 0, "3": 0} {
		m := Machine{Root: "root", Python: func(folder string, args ...string) (string, error) {
			if folder != ".peers/jax" || !slices.Equal(args, []string{"root/reproduce/bench/peers/peers.py", "steps"}) {
				t.Errorf("in %s python runs %v", folder, args)
			}
			if output == "3" {
				return output, failing
			}
			return output, nil
		}}
		v, err := m.measure(jax, "steps")
		if v != want || (err == nil) != (want > 0) || errors.Is(err, failing) != (output == "3") {
			t.Errorf("%q is %v, %v", output, v, err)
		}
	}
}

// Each group has the packages that it needs, and Melting Pot's source once its packages are there.
func TestOnlyWhatAGroupNeedsIsInstalled(t *testing.T) {
	for group, want := range map[string]string{
		"env": ".peers", "train": ".peers .peers/jax", "collect": ".peers wheel:.peers",
		"meltingpot": ".peers .peers/meltingpot install-meltingpot:.peers/meltingpot wheel:.peers",
	} {
		var did []string
		m := Machine{
			Packages: func(_, _, folder, requirements string, _ ...string) error {
				did = append(did, folder)
				_, err := os.Stat(filepath.Join("..", "..", "..", requirements))
				return err
			},
			Wheel: func(folder string) error { did = append(did, "wheel:"+folder); return nil },
			Python: func(folder string, args ...string) (string, error) {
				did = append(did, args[1]+":"+folder)
				return "", nil
			},
		}
		if err := m.install([]string{group}); err != nil || strings.Join(did, " ") != want {
			t.Errorf("%s: %v, %v; want %s", group, did, err, want)
		}
	}
}

func TestPairsAreChosenByGroupAndPartOfTheirNames(t *testing.T) {
	all := new(Machine).pairs()
	for only, want := range map[string]int{
		"update": 3, "update/jax": 1, "update/torch": 2, "train": 3, "train/qmix": 1, "train/jaxmarl": 1,
		"env": 22, "python": 22, "python/: balance, 60": 1, "meltingpot": 8, "meltingpot/clean_up": 2, "collect": 1, "": 59,
	} {
		if got, err := chosen(all, only); err != nil || len(got) != want {
			t.Errorf("%q chooses %d pairs, %v, want %d", only, len(got), err, want)
		}
	}
	if _, err := chosen(all, "env/balence"); err == nil || !strings.Contains(err.Error(), `"balence"`) {
		t.Errorf("env/balence: %v", err)
	}
}

// learningRow is a row of the table: the k-th evaluation of two sides. It has mean returns over runs with intervals
// of Student's t, their difference with Welch's, and whether each mean lies in the other's interval.
func learningRow(here, there []*results.Record, k int) string {
	at := func(runs []*results.Record) (means []float64) {
		for _, r := range runs {
			means = append(means, r.Evals[k].Score())
		}
		return means
	}
	text := func(i stats.Interval) string {
		return strings.ReplaceAll(fmt.Sprintf("%.1f [%.1f, %.1f]", i.Value, i.Low, i.High), "-", "−")
	}
	a, b, agree := stats.Student(at(here)), stats.Student(at(there)), "yes"
	if b.Excludes(a.Value) || a.Excludes(b.Value) {
		agree = "no"
	}
	difference := stats.Welch(at(here), at(there))
	return fmt.Sprintf("| %d | %s | %s | %s | %s |", here[0].Evals[k].Frames, text(a), text(b), text(difference), agree)
}

// The table in envs/python/README.md shows the committed curves.
func TestCommittedCurvesAreShown(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	page := must.Get(os.ReadFile(filepath.Join(root, "envs", "python", "README.md")))(t)
	var runs [2][]*results.Record
	for i, side := range []string{"cermic", "vmas"} {
		data := must.Get(os.ReadFile(filepath.Join(root, "envs", "python", "learning", side+".json.gz")))(t)
		runs[i] = must.Get(export.Import(data))(t)
	}
	for k := range runs[0][0].Evals {
		if row := learningRow(runs[0], runs[1], k); !strings.Contains(string(page), row) {
			t.Errorf("envs/python/README.md has no row %s", row)
		}
	}
}
