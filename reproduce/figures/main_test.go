// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"testing"
	"testing/fstest"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/plan"
)

func TestMain(m *testing.M) { libtest.Main(m) }

func emptyStore(t *testing.T) *results.Store {
	t.Helper()
	st, err := results.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// committed is a store with packed records alone.
func committed(t *testing.T, rs ...*results.Record) *results.Store {
	t.Helper()
	files := fstest.MapFS{}
	for _, r := range rs {
		data, err := results.Pack(r)
		if err != nil {
			t.Fatal(err)
		}
		files[r.ID+".json.gz"] = &fstest.MapFile{Data: data}
	}
	st := emptyStore(t)
	if err := st.Base(files); err != nil {
		t.Fatal(err)
	}
	return st
}

// configure is New for requests that must succeed.
func configure(t *testing.T, q plan.Request) experiment.Config {
	t.Helper()
	e, err := plan.New(q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return e
}

// shown are labels with their numbers of runs.
func shown(gs []results.Group) map[string]int {
	out := map[string]int{}
	for _, g := range gs {
		out[g.Label] += len(g.Runs)
	}
	return out
}

// recorded is a complete run of what is asked for that scores its seed.
func recorded(t *testing.T, q plan.Request) *results.Record {
	t.Helper()
	e := configure(t, q)
	text, err := conf.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	id, err := e.ID()
	if err != nil {
		t.Fatal(err)
	}
	return &results.Record{ID: id, Task: e.Task.Kind(), Method: q.Method, Budget: e.Budget.Name, Seed: q.Seed, Complete: true, Frames: e.Budget.Frames,
		Experiment: text, Evals: []results.Eval{{Frames: e.Budget.Frames, Scores: []float64{float64(q.Seed)}}}}
}
