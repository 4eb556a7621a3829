// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
)

func TestCommittedRecordsComeOutAgain(t *testing.T) {
	store, id := trainedRun(t)
	committed := t.TempDir()
	st := must.Get(results.Open(store))(t)
	r, err := st.Get(id)
	if err == nil {
		_, err = results.WritePack(committed, r)
	}
	must.Do(t, err)
	again := func(ids ...string) (string, error) {
		var out bytes.Buffer
		err := check(t.Context(), &out, os.DirFS(committed), ids)
		return out.String(), err
	}
	said, err := again(id[:8])
	if err != nil || !strings.HasPrefix(said, id) {
		t.Errorf("%v:\n%s", err, said)
	}
	contains(t, said, "equal in every bit: 6 evaluations")

	if _, err := again("zz"); !errors.As(err, new(usageError)) {
		t.Errorf("an unknown ID: %v", err)
	}

	older := *r
	older.ID = "0123456789abcdef"
	older.Experiment = bytes.Replace(r.Experiment, []byte(`"seed":`), []byte(`"forgotten":1,"seed":`), 1)
	path := must.Get(results.WritePack(committed, &older))(t)
	if said, err = again(older.ID, id); err == nil {
		t.Error("a record of another version is checked")
	}
	contains(t, said, "cannot be trained here: its settings are of another version", "equal in every bit")
	must.Do(t, os.Remove(path))

	data := must.Get(os.ReadFile(filepath.Join(committed, id+".json.gz")))(t)
	changed := must.Get(results.Unpack(data))(t)
	changed.Evals[0].Scores[0]++
	must.Get(results.WritePack(committed, changed))(t)
	if said, err = again(id); err == nil {
		t.Error("a changed score is not found")
	}
	contains(t, said, "the return of episode 1 at 50 frames is")
}

func TestOtherMachinesAreComparedByInterval(t *testing.T) {
	record := func(score float64, cpu string) *results.Record {
		return &results.Record{ID: "x", Evals: []results.Eval{{Scores: []float64{score}}}, Host: results.Host{CPU: cpu}}
	}
	all := []*results.Record{record(10, "a"), record(11, "a"), record(12, "a")}
	// Student's t with 2 degrees of freedom: 4.303 · 1 · √(4/3) = 4.968 either side of 11.
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
