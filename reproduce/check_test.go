// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
)

func TestCommittedRecordsComeOutAgain(t *testing.T) {
	store, committed := t.TempDir(), t.TempDir()
	if _, err := command(t, tinyCampaign(store)...); err != nil {
		t.Fatal(err)
	}
	st, err := results.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := st.Find(results.Query{Complete: true})
	if err == nil {
		err = exportRecords(st, runs, committed) // the verb would refuse a tree that is being changed
	}
	if err != nil {
		t.Fatal(err)
	}
	again := func() (string, error) {
		var out bytes.Buffer
		err := check(t.Context(), &out, []string{"-n", "1"}, os.DirFS(committed))
		return out.String(), err
	}
	if said, err := again(); err != nil || !strings.Contains(said, "equal in every bit: 1 evaluation") {
		t.Errorf("%v:\n%s", err, said)
	}

	files, _ := filepath.Glob(filepath.Join(committed, "*.json.gz"))
	id, _, _ := strings.Cut(filepath.Base(files[0]), ".")
	var out bytes.Buffer
	if err := check(t.Context(), &out, []string{id[:8]}, os.DirFS(committed)); err != nil || !strings.HasPrefix(out.String(), id) {
		t.Errorf("by its ID: %v:\n%s", err, out.String())
	}
	for _, wrong := range []string{"", "zz"} {
		if err := check(t.Context(), &out, []string{wrong}, os.DirFS(committed)); err == nil || !strings.Contains(err.Error(), "want one") {
			t.Errorf("%q is accepted as an ID: %v", wrong, err)
		}
	}

	checkBeside(t, committed)

	for _, file := range files { // as if somebody had improved the results
		data, _ := os.ReadFile(file)
		r, err := results.Unpack(data)
		if err != nil {
			t.Fatal(err)
		}
		r.Evals[0].Scores[0]++
		if _, err := results.WritePack(committed, r); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := again(); err == nil || !strings.Contains(said, "the return of episode 1 at 1000 frames is") {
		t.Errorf("a changed score is not found (%v):\n%s", err, said)
	}
}

// checkBeside adds a record that nobody can train, checks it beside the others, and takes it away again.
func checkBeside(t *testing.T, committed string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(committed, "*.json.gz"))
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	r, err := results.Unpack(data)
	if err != nil {
		t.Fatal(err)
	}
	r.ID, r.Experiment = "0123456789abcdef", bytes.Replace(r.Experiment, []byte(`"seed":`), []byte(`"forgotten":1,"seed":`), 1)
	path, err := results.WritePack(committed, r)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(path)
	var out bytes.Buffer
	err = check(t.Context(), &out, []string{"-n", "3"}, os.DirFS(committed))
	if said := out.String(); err == nil || !strings.Contains(said, "cannot be trained here: its settings are of another version") ||
		!strings.Contains(said, "equal in every bit") {
		t.Errorf("one record that cannot be trained beside others that can: %v\n%s", err, said)
	}
}

func TestOtherMachinesAreComparedByInterval(t *testing.T) {
	record := func(score float64, cpu string) *results.Record {
		return &results.Record{ID: "x", Evals: []results.Eval{{Scores: []float64{score}}}, Host: results.Host{CPU: cpu}}
	}
	all := []*results.Record{record(10, "a"), record(11, "a"), record(12, "a")}
	// Student's t with 2 degrees of freedom: 4.303 · 1 · √(4/3) = 4.968 either side of 11.
	if i := stats.Further([]float64{10, 11, 12}); math.Abs(i.Low-6.032) > 1e-3 || math.Abs(i.High-15.968) > 1e-3 {
		t.Errorf("interval [%g, %g]", i.Low, i.High)
	}
	for score, want := range map[float64]bool{15.9: true, 16: false, 6: false, 6.1: true} {
		if verdict, same := compare(all[0], record(score, "b"), all); same != want {
			t.Errorf("%g: %s", score, verdict)
		}
	}
	equal := []*results.Record{record(0, "a"), record(0, "a"), record(0, "a")} // none has solved its task
	for score, want := range map[float64]bool{0: true, 0.5: false} {
		if verdict, same := compare(equal[0], record(score, "b"), equal); same != want || strings.Contains(verdict, "NaN") {
			t.Errorf("%g beside equal seeds: %s", score, verdict)
		}
	}
	if verdict, same := compare(all[0], record(99, "b"), all[:2]); !same || !strings.Contains(verdict, "too few seeds") {
		t.Errorf("two seeds: %s", verdict)
	}
}

func TestCheckOfNothingSaysHowToCommit(t *testing.T) {
	var out bytes.Buffer
	if err := check(t.Context(), &out, nil, os.DirFS(t.TempDir())); err == nil || !strings.Contains(err.Error(), "export records") {
		t.Errorf("got %v", err)
	}
}
