// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os/exec"
	"path"
	"strings"
	"sync"
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/reproduce/figures"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
)

// packed is a committed record with its bytes.
type packed struct {
	*results.Record
	file string
	data []byte
}

// committedRecords reads all committed records, once for all tests.
var committedRecords = sync.OnceValues(func() (all []packed, err error) {
	files, err := fs.Glob(records.FS, "*.json.gz")
	for _, file := range files {
		data, failed := fs.ReadFile(records.FS, file)
		if failed != nil {
			return nil, failed
		}
		r, failed := results.Unpack(data)
		if failed != nil || r.ID+".json.gz" != file || len(r.Evals) == 0 || len(r.Scalars) == 0 {
			err = errors.Join(err, fmt.Errorf("%s is read as %+v, %w", file, r, failed))
			continue
		}
		all = append(all, packed{r, file, data})
	}
	return all, err
})

// eachRecord runs a test on every committed record.
func eachRecord(t *testing.T, test func(r packed)) {
	t.Helper()
	all, err := committedRecords()
	if err != nil || len(all) < 222 {
		t.Fatalf("%d records, %v", len(all), err)
	}
	for _, r := range all {
		test(r)
	}
}

// Records are never rewritten, so that every number of an earlier form must be read; packing one of today's form gives
// its bytes.
func TestCommittedRecordsAreReadToTheLastNumber(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all records")
	}
	eachRecord(t, func(r packed) {
		again := must.Get(results.Pack(r.Record))(t)
		text, numbers := unzipped(t, r.data), 0
		for _, points := range r.Scalars {
			numbers += len(points)
		}
		if points := strings.Count(text, `{"frames":`) > len(r.Evals)+len(r.Scalars); points {
			if n := strings.Count(text, `"value":`); n == 0 || n != numbers {
				t.Errorf("%s has %d values, %d are read", r.file, n, numbers)
			}
		} else if unzipped(t, again) != text {
			t.Errorf("%s is something else when it is packed again", r.file)
		}
	})
}

func unzipped(t *testing.T, data []byte) string {
	t.Helper()
	z := must.Get(gzip.NewReader(bytes.NewReader(data)))(t)
	return string(must.Get(io.ReadAll(z))(t))
}

// Tables and figures count the runs of today's defaults: a record with another ID or label would leave its cell.
func TestCommittedRecordsAreWhatTheirNamesMeanToday(t *testing.T) {
	eachRecord(t, func(r packed) {
		most := 30 << 10
		if r.Budget == "paper" {
			most = 36 << 10
		}
		if r.Task == "vmas/simple_adversary" { // two groups, each with scalars of its own
			most *= 2
		}
		if len(r.data) > most {
			t.Errorf("%s has %d bytes, want at most %d KiB", r.file, len(r.data), most>>10)
		}
		var e experiment.Config
		if err := conf.Unmarshal(r.Experiment, &e); err != nil {
			t.Errorf("%s, %s on %s: %v", r.file, r.Method, r.Task, err)
			return
		}
		if id, err := e.ID(); err != nil || id != r.ID {
			t.Errorf("%s, %s on %s, seed %d, is run %s today (%v)", r.file, r.Method, r.Task, r.Seed, id, err)
		}
		if label := plan.Groups([]*results.Record{r.Record})[0].Label; label != r.Method {
			t.Errorf("%s is called %q, today %q", r.file, r.Method, label)
		}
	})
}

// Notebooks film these runs in a clone without own runs.
func TestCommittedWeightsPlayAsTheirRecordsSay(t *testing.T) {
	if testing.Short() {
		t.Skip("plays all committed weights")
	}
	st := committedStore(t)
	heads := must.Get(st.Heads(results.Query{}))(t)
	good := map[string]bool{} // tasks with weights that score above their untrained policy
	named := 0
	for _, r := range heads {
		if r.Weights == "" {
			continue
		}
		named++
		full := must.Get(st.Get(r.ID))(t)
		e := must.Get(plan.Stored(st, r.ID))(t)
		eval, err := experiment.Evaluate(t.Context(), e, e, st)
		if err != nil {
			t.Errorf("%s, %s on %s: %v", r.ID, r.Method, r.Task, err)
			continue
		}
		last := full.Evals[len(full.Evals)-1]
		if got, want := eval.Score(), last.Score(); math.Abs(got-want) > 0.05*max(1, math.Abs(want)) { // bits differ by machine
			t.Errorf("%s, %s on %s plays %v, its record says %v", r.ID, r.Method, r.Task, got, want)
		}
		good[r.Task] = good[r.Task] || last.Score() > full.Evals[0].Score()
	}
	files, err := fs.ReadDir(records.FS, "weights")
	if err != nil || len(files) != named || len(good) < 8 {
		t.Errorf("%d files of weights, %d records name theirs, %d tasks have a good policy, want 8: %v", len(files), named, len(good), err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Size() > 300_000 {
			t.Errorf("%s: %v, %v, want at most 300 kB", f.Name(), info, err)
		}
	}
}

// The playground continues these runs with either value of α.
func TestCommittedCheckpointsCanBeContinued(t *testing.T) {
	if testing.Short() {
		t.Skip("trains on the Go backend")
	}
	st := libtest.Store(t)
	st.Base(records.Layer())
	files, err := fs.Glob(records.FS, "checkpoints/*.safetensors.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d checkpoints are committed, %v", len(files), err)
	}
	for _, file := range files {
		id := strings.TrimSuffix(path.Base(file), ".safetensors.gz")
		parent := must.Get(st.Get(id))(t)
		for _, alpha := range []string{"0", "0.2"} {
			next, err := plan.New(plan.Request{Task: parent.Task, Method: "mappo-cermic-ucb", Budget: "explore", Seed: 1,
				Set: []string{"task.tv=screen", "explore.alpha=" + alpha, fmt.Sprint("budget.frames=", parent.Frames+3000)}})
			if err == nil {
				next, err = plan.Continue(st, id, next)
			}
			if err != nil || len(next.Forks) != 1 || next.Seed != parent.Seed {
				t.Fatalf("%s with α = %s: seed %d, forks %v, %v", id, alpha, next.Seed, next.Forks, err)
			}
			if !strings.HasPrefix(next.Label(), "mappo-cermic-ucb budget.frames=") {
				t.Errorf("%s is continued as %q", id, next.Label())
			}
			r, err := experiment.Run(t.Context(), next, st, func(e results.Event) {
				if strings.Contains(e.Note, "again") {
					t.Errorf("%s is not continued from its checkpoint: %s", id, e.Note)
				}
			})
			if err != nil || r.Frames != parent.Frames+3000 {
				t.Errorf("%s with α = %s: %v", id, alpha, err)
			}
		}
	}
}

// A committed pre-training is named by the hash of its settings, which must not change.
func TestCommittedPretrainingsAreWhatTheirNamesMeanToday(t *testing.T) {
	known := map[string]bool{}
	for _, task := range plan.Tasks() {
		for _, kind := range conf.Kinds[memory.Config]() {
			p := must.Get(plan.NewPretraining(task.ID, kind))(t)
			for _, p.Frames = range figures.ReportFrames {
				name := must.Get(p.File())(t)
				known[name] = true
			}
		}
	}
	names, err := fs.Glob(records.FS, "pretrained/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d pre-trainings are committed, %v", len(names), err)
	}
	for _, name := range names {
		if !known[name] {
			t.Errorf("no report of today reads %s", name)
		}
	}
}

func TestCommitsHaveTheSourcesOfTheirRecords(t *testing.T) {
	shallow, err := exec.Command("git", "rev-parse", "--is-shallow-repository").Output()
	if err != nil || strings.TrimSpace(string(shallow)) != "false" {
		t.Skipf("git does not know the whole history here (%v): the commits of records are not looked up", err)
	}
	history := must.Get(exec.Command("git", "rev-list", "HEAD").Output())(t)
	sources := map[string]string{}
	eachRecord(t, func(r packed) {
		h := r.Host
		if known := h.Commit != "" && !h.Dirty && strings.Contains(string(history),
			h.Commit+"\n"); known != records.Rebuildable(h) {
			t.Errorf("%s of commit %q counts as rebuildable: %v, want %v", r.file, h.Commit, !known, known)
		}
		if h.Sources == "" {
			return
		}
		if _, ok := sources[h.Commit]; !ok {
			var err error
			if sources[h.Commit], err = experiment.SourcesOf(h.Commit); err != nil {
				t.Errorf("%s: %v", r.file, err)
			}
		}
		if h.Sources != sources[h.Commit] || h.Dirty {
			t.Errorf("%s was trained from sources %s, its commit %s has %s: train it again from a commit", r.file, h.Sources,
				h.Commit, sources[h.Commit])
		}
		if err := refuseUnbuildable([]*results.Record{r.Record}); err != nil {
			t.Errorf("a committed record is refused: %v", err)
		}
	})
}
