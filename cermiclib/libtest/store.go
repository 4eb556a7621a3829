// SPDX-License-Identifier: Apache-2.0

package libtest

import (
	"testing"
	"testing/fstest"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
)

// Store is an empty store.
func Store(t testing.TB) *results.Store {
	t.Helper()
	return must.Get(results.Open(t.TempDir()))(t)
}

// Committed is a store with packed records alone.
func Committed(t testing.TB, rs ...*results.Record) *results.Store {
	t.Helper()
	files := fstest.MapFS{}
	for _, r := range rs {
		data := must.Get(results.Pack(r))(t)
		files[r.ID+".json.gz"] = &fstest.MapFile{Data: data}
	}
	st := Store(t)
	st.Base(results.NewLayer(files))
	return st
}

// Record is a complete run of e by the named method that scores its seed.
func Record(t testing.TB, e experiment.Config, method string) *results.Record {
	t.Helper()
	text := must.Get(conf.Marshal(e))(t)
	id := must.Get(e.ID())(t)
	return &results.Record{ID: id, Task: e.Task.Kind(), Method: method, Budget: e.Budget.Name, Seed: e.Seed,
		Complete: true, Frames: e.Budget.Frames, Experiment: text,
		Evals: []results.Eval{{Frames: e.Budget.Frames, Scores: []float64{float64(e.Seed)}}}}
}

// Lines are the labels of groups with their numbers of runs.
func Lines(gs []results.Group) map[string]int {
	out := map[string]int{}
	for _, g := range gs {
		out[g.Label] += len(g.Runs)
	}
	return out
}
