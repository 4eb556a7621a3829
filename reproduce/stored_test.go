// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"image/gif"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
)

func TestATrainedRunIsFilmedAndDeleted(t *testing.T) {
	if testing.Short() {
		t.Skip("trains and films")
	}
	t.Setenv("GOMLX_BACKEND", nn.Sequential)
	store := t.TempDir()
	tiny := []string{"train", "task=balance", "method=mappo", "budget=smoke", "-m", "learner.lr=1e-3,3e-4,0.001", "budget.frames=1000", "policy.hidden=[8,8]", "learner.critic_hidden=8", "-store", store}
	out, err := command(t, tiny...)
	if err != nil || !strings.Contains(out, "(2 of 2 runs done)") || !strings.Contains(out, "learner.lr=0.0003") || !strings.Contains(out, "policy.hidden=[8,8]") {
		t.Fatalf("a run for each of two rates (%v):\n%s", err, out)
	}
	st, err := results.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := st.Find(results.Query{})
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	film := filepath.Join(store, "film.gif")
	out, err = command(t, "watch", runs[0].ID[:8], "-o", film, "-store", store)
	if err != nil || !strings.Contains(out, "after 1000 frames of training: score ") {
		t.Fatalf("watch (%v): %s", err, out)
	}
	data, err := os.ReadFile(film)
	if err != nil {
		t.Fatal(err)
	}
	if g, err := gif.DecodeAll(bytes.NewReader(data)); err != nil || len(g.Image) < 10 || g.Delay[0] < 5 {
		t.Errorf("the film: %v", err)
	}
	if again, err := command(t, "train", "-again", runs[1].ID, "-store", store); err != nil || !strings.Contains(again, "in the store") {
		t.Errorf("what has its weights is trained again (%v):\n%s", err, again)
	}
	if err := os.Remove(filepath.Join(store, runs[1].ID, "checkpoint.safetensors")); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, "train", "-again", runs[1].ID, "-store", store); err == nil || !strings.Contains(err.Error(), "go run ./reproduce delete "+runs[1].ID) {
		t.Errorf("what has lost its weights: %v", err)
	}
	if out, err = command(t, "delete", "-yes", runs[0].ID, runs[1].ID[:6], runs[1].ID, "-store", store); err != nil || !strings.Contains(out, "Deleted: 2 runs") {
		t.Errorf("delete (%v): %s", err, out)
	}
	if left, err := st.IDs(); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

func TestDeletingAsks(t *testing.T) {
	for answer, want := range map[string]string{"y\n": "", "Yes\n": "", "n\n": "nothing was deleted", "\n": "nothing was deleted", "": "-yes was not given"} {
		err := confirm(&bytes.Buffer{}, strings.NewReader(answer), "Delete 2 runs?", "nothing was deleted")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

func TestCommittedRecordsAreNeitherDeletedNorPlayedButTrainedAgain(t *testing.T) {
	store := t.TempDir()
	st, err := openStore(store)
	if err != nil {
		t.Fatal(err)
	}
	e, err := plan.New(plan.Request{Task: "navigation", Method: "mappo", Budget: "short", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	id, err := e.ID()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := st.Head(id); err != nil || !r.Complete {
		t.Skipf("no record of MAPPO on Navigation is committed: %v", err)
	}
	if _, err := command(t, "delete", "-yes", id, "-store", store); err == nil || !strings.Contains(err.Error(), "a committed record") {
		t.Errorf("delete: %v", err)
	}
	for _, verb := range []string{"evaluate", "watch"} {
		if _, err := command(t, verb, id[:10], "-store", store); err != nil && !strings.Contains(err.Error(), "go run ./reproduce train -again "+id) {
			t.Errorf("%s: %v", verb, err)
		}
	}
	es, err := storedRuns(st, []string{id[:10]})
	if err != nil || len(es) != 1 {
		t.Fatalf("%d experiments, %v", len(es), err)
	}
	again, err := anew(store, es)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := es[0].ID(); err != nil || same != id {
		t.Errorf("trained again it is run %s, %v", same, err)
	}
	if _, err := again.Head(id); err == nil {
		t.Error("train -again finds the committed record, and would train nothing")
	}
}

func TestARunOfANotebooksOwnTaskSaysWhereItsCodeIs(t *testing.T) {
	store := t.TempDir()
	st, err := results.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	e, err := plan.New(plan.Request{Task: "balance", Method: "mappo", Budget: "smoke", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	text, err := conf.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for id, kind := range map[string]string{"aaaa0001": "mine/meet", "aaaa0002": "mine/nowhere"} {
		r, err := st.Claim(t.Context(), id, bytes.Replace(text, []byte(`"vmas/balance"`), []byte(`"`+kind+`"`), 1), results.Record{Task: kind, Method: "mappo", Budget: "smoke", Seed: 1}, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]string{"aaaa0001": "its code is in notebooks/91_your_task.ipynb", "aaaa0002": "its code is in the file that it was trained from"} {
		for _, args := range [][]string{{"evaluate", id}, {"watch", id}, {"train", "-again", id}, {"train", "-fork", id + "@1000", "-set", "learner.lr=1"}} {
			_, err := command(t, append(args, "-store", store)...)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v: %v, want %q", args, err, want)
			}
		}
	}
}

func TestListsOfValuesAreSplitOutsideOfBrackets(t *testing.T) {
	for text, want := range map[string][]string{
		"1,2": {"1", "2"}, "[1,2],[3]": {"[1,2]", "[3]"}, `{"a":[1,2],"b":3},none`: {`{"a":[1,2],"b":3}`, "none"}, "": {""}, `"a,b"`: {`"a,b"`},
	} {
		if got := listed(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := combinations([]string{"a=1,2", "b", "c=3,4"}); len(got) != 4 || !reflect.DeepEqual(got[3], []string{"a=2", "b", "c=4"}) {
		t.Errorf("%q", got)
	}
}
