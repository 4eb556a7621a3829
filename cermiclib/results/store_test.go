// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"cermic/cermiclib/results/safetensors"
	"cermic/envs/envtest/must"
)

const (
	testID         = "0123456789abcdef"
	testExperiment = `{"alpha":0.1,"note":"<&> ü"}`
	testTotal      = 600 // frames of the toy run
	testStep       = 100 // frames of one of its iterations
)

func testHeader() Record {
	return Record{ID: testID, Task: "vmas/balance", Method: "mappo", Budget: "smoke", Seed: 3,
		Host: Host{Go: "go", Cores: 2}, Experiment: []byte(testExperiment)}
}

// openTest opens a store whose notes fail the test; a test that expects some replaces Note.
func openTest(t testing.TB, dir string) *Store {
	t.Helper()
	s := must.Get(Open(dir))(t)
	s.Note = func(note string) { t.Errorf("unexpected note: %s", note) }
	return s
}

func claimTest(t testing.TB, s *Store) *Run {
	t.Helper()
	return must.Get(s.Claim(context.Background(), testHeader(), false, nil))(t)
}

// train is a toy trainer whose every number depends on all iterations before. It fails visibly if a checkpoint and the
// files that belong to it are mixed up. after is called behind each write.
func train(r *Run, after func()) error {
	if r.Record().Complete {
		return nil
	}
	state := []uint64{uint64(r.Record().Seed)}
	frames := 0
	if c, ok := r.LoadCheckpoint(); ok {
		frames = c.Frames
		var err error
		if state, err = safetensors.Values[uint64](c.Tensors, "state"); err != nil {
			return err
		}
		if c.Meta["note"] != fmt.Sprint(frames) {
			return fmt.Errorf("metadata %v at %d frames", c.Meta, frames)
		}
	}
	draw := func() float64 {
		state[0] = state[0]*6364136223846793005 + 1442695040888963407
		return float64(state[0]>>11) / (1 << 53)
	}
	for frames < testTotal {
		frames += testStep
		if err := r.AppendScalars(frames, map[string]float64{"loss": draw(), "bonus": -draw()}); err != nil {
			return err
		}
		after()
		if frames%(2*testStep) == 0 {
			if err := r.AppendEval(Eval{Frames: frames, Scores: []float64{draw(), draw()}, Lengths: []int{5, 6}}); err != nil {
				return err
			}
			after()
		}
		if frames%(3*testStep) != testStep {
			tensors := safetensors.Tensors{"state": safetensors.New(state), "z": safetensors.New(make([]uint8, 3))}
			c := Checkpoint{Frames: frames, Tensors: tensors, Meta: map[string]string{"note": fmt.Sprint(frames)}}
			if err := r.SaveCheckpoint(c); err != nil {
				return err
			}
			after()
		}
	}
	return r.Finish(Host{Seconds: 1})
}

// complete makes a finished toy run in a new store and returns the store's folder.
func complete(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	r := claimTest(t, openTest(t, dir))
	must.Do(t, errors.Join(train(r, func() {}), r.Close()))
	return dir
}

// resultOf is the result of the toy run: its record without the host, as JSON.
func resultOf(t testing.TB, dir string) string {
	t.Helper()
	r := must.Get(readRun(filepath.Join(dir, testID), true))(t)
	r.Host = Host{}
	return string(must.Get(compact(r))(t))
}

// copyDir copies a store.
func copyDir(t testing.TB, from string) string {
	t.Helper()
	to := t.TempDir()
	must.Do(t, os.CopyFS(to, os.DirFS(from)))
	return to
}

// finish claims the toy run in dir, trains it to its end and returns what was noted.
func finish(t testing.TB, dir string) (notes []string) {
	t.Helper()
	s := openTest(t, dir)
	s.Note = func(note string) { notes = append(notes, note) }
	r := claimTest(t, s)
	must.Do(t, errors.Join(train(r, func() {}), r.Close()))
	return notes
}

func TestFinishedRunReadsBackAsItWas(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	if _, err := s.Get(testID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty store has the run: %v", err)
	}
	r := claimTest(t, s)
	must.Do(t, train(r, func() {}))
	want := r.Record()
	must.Do(t, r.Close())
	got := must.Get(s.Get(testID))(t)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v\nwant %+v", got, want)
	}
	if !got.Complete || got.Frames != testTotal || len(got.Evals) != 3 || len(got.Scalars["loss"]) != 6 ||
		got.Host.Seconds != 1 || got.Task != "vmas/balance" || got.Seed != 3 || string(got.Experiment) != testExperiment {
		t.Errorf("record is %+v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, testID, lockFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a finished run has a lock file: %v", err)
	}
	heads, err := s.Heads(Query{})
	if err != nil || len(heads) != 1 || len(heads[0].Evals) != 1 || len(heads[0].Scalars) != 0 ||
		heads[0].Score() != want.Score() || heads[0].Frames != testTotal || string(heads[0].Experiment) != testExperiment {
		t.Errorf("heads are %+v, %v", heads, err)
	}
	again := claimTest(t, s)
	if !again.Record().Complete {
		t.Error("a finished run can be claimed as if it were not")
	}
	if err := again.AppendScalars(700, map[string]float64{"loss": 1}); err == nil {
		t.Error("a finished run can be appended to")
	}
}

func TestInterruptedRunsEndByteIdentical(t *testing.T) {
	want := resultOf(t, complete(t))
	dir := t.TempDir()
	r := claimTest(t, openTest(t, dir))
	defer r.Close()
	snapshots := []string{copyDir(t, dir)}
	must.Do(t, train(r, func() { snapshots = append(snapshots, copyDir(t, dir)) }))
	if len(snapshots) != 14 {
		t.Fatalf("%d snapshots, want 1 before and 1 after each of 6 iterations, 3 evaluations, 4 checkpoints", len(snapshots))
	}
	for i, snapshot := range snapshots {
		if partial, err := openTest(t, snapshot).Get(testID); err != nil || partial.Complete || partial.Frames > testTotal {
			t.Errorf("snapshot %d reads as %+v, %v", i, partial, err)
		}
		if notes := finish(t, snapshot); len(notes) > 0 {
			t.Errorf("snapshot %d: notes %q", i, notes)
		}
		if got := resultOf(t, snapshot); got != want {
			t.Errorf("stopped after write %d: got %v\nwant %v", i, got, want)
		}
	}
}

func TestResumeStartsAtTheCheckpoint(t *testing.T) {
	s := openTest(t, partial(t))
	if before, err := s.Get(testID); err != nil || before.Frames != 400 {
		t.Fatalf("stopped at %+v, %v", before, err)
	}
	r := claimTest(t, s)
	defer r.Close()
	if got := r.Record(); got.Frames != 300 || len(got.Scalars["loss"]) != 3 || len(got.Evals) != 1 {
		t.Errorf("resumes with %+v, want the record at 300 frames", got)
	}
	c, ok := r.LoadCheckpoint()
	if !ok || c.Frames != 300 || !reflect.DeepEqual(c.Meta, map[string]string{"note": "300"}) || len(c.Tensors) != 2 {
		t.Errorf("resumes from %+v, %v", c, ok)
	}
	if _, ok := r.LoadCheckpoint(); ok {
		t.Error("the run still holds the checkpoint after it was taken")
	}
}

func TestIDsAreNoPathsAndStoresNoFiles(t *testing.T) {
	dir := complete(t)
	for _, id := range []string{"../x", ""} {
		_, err := openTest(t, dir).Claim(context.Background(), Record{ID: id}, false, nil)
		must.Refuse(t, err, "run ID")
	}
	if _, err := Open(filepath.Join(dir, testID, recordFile)); err == nil {
		t.Error("a file is opened as a store")
	}
}

func TestFindSelectsAndOrders(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	for i, h := range []Record{
		{Task: "b", Method: "x", Seed: 1, Budget: "smoke"}, {Task: "a", Method: "y", Seed: 2, Budget: "paper"},
		{Task: "a", Method: "x", Seed: 10, Budget: "smoke"}, {Task: "a", Method: "x", Seed: 9, Budget: "smoke"},
	} {
		h.ID, h.Experiment = fmt.Sprintf("run-%d", i), []byte(`{}`)
		r := must.Get(s.Claim(context.Background(), h, false, nil))(t)
		if i == 3 {
			must.Do(t, r.Finish(Host{}))
		}
		must.Do(t, r.Close())
	}
	must.Do(t, os.MkdirAll(filepath.Join(dir, "not-a-run"), 0o755))
	for want, q := range map[string]Query{
		"run-3 run-2 run-1 run-0": {},
		"run-3 run-2 run-1":       {Task: "a"},
		"run-1":                   {Budget: "paper"},
		"run-2 run-0":             {Seeds: []uint64{10, 1}},
		"run-3":                   {Complete: true},
		"":                        {Task: "c"},
	} {
		found, err := s.Find(q)
		var ids []string
		for _, r := range found {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != want || err != nil {
			t.Errorf("%+v: got %s, %v, want %s", q, got, err, want)
		}
	}
}

func TestCommittedRecordsLieBelowTheStore(t *testing.T) {
	trained := openTest(t, complete(t))
	want := must.Get(trained.Get(testID))(t)
	data := must.Get(Pack(want))(t)
	if again, err := Pack(want); err != nil || !bytes.Equal(again, data) {
		t.Errorf("packing twice differs, %v", err)
	}
	committed := fstest.MapFS{testID + packSuffix: {Data: data}, "README.md": {},
		"broken" + packSuffix: {Data: data[:50]}, "other" + packSuffix: {Data: data}}
	s := openTest(t, t.TempDir())
	var notes []string
	s.Note = func(note string) { notes = append(notes, note) }
	if s.Base(NewLayer(committed)); len(notes) != 0 {
		t.Errorf("notes %q: nothing is read before it is asked for", notes)
	}
	heads, err := s.Heads(Query{})
	if err != nil || len(heads) != 1 || heads[0].Frames != want.Frames || len(heads[0].Evals) != 1 || len(notes) != 2 ||
		!strings.Contains(notes[0], "broken") || !strings.Contains(notes[1], "belongs to run "+testID) {
		t.Errorf("notes %q, %v, want one about the broken record and one about the renamed record", notes, err)
	}
	claimTest(t, s).Close() // a partial run in the folder does not hide a complete one below, nor does a damaged one
	write(t, s.Dir(), recordFile, []byte("{"))
	for _, points := range want.Scalars {
		for i, p := range points {
			points[i].Value = digits(p.Value, packedDigits)
			if x := points[i].Value; !sameScalar(x, p.Value) || math.Abs(x-p.Value) > 1e-4*math.Abs(p.Value) {
				t.Errorf("%g is packed as %g", p.Value, points[i].Value)
			}
		}
	}
	got, err := s.Get(testID)
	if err != nil || !reflect.DeepEqual(got, want) || len(notes) != 3 || !strings.Contains(notes[2], recordFile) {
		t.Errorf("got %+v, %v, %q\nwant %+v", got, err, notes, want)
	}
	if found, err := s.Find(Query{Task: "vmas/balance"}); err != nil || len(found) != 1 || found[0] != got {
		t.Errorf("found %v, %v", found, err)
	}
	if _, err := Pack(&Record{ID: "x"}); err == nil {
		t.Error("a partial record is packed")
	}
	path := must.Get(WritePack(filepath.Join(t.TempDir(), "records"), want))(t)
	if written, err := os.ReadFile(path); err != nil || !bytes.Equal(written, data) {
		t.Errorf("written pack differs, %v", err)
	}
}

func TestFilesOfTheStoreHideCommittedOnes(t *testing.T) {
	s := openTest(t, t.TempDir())
	s.Base(NewLayer(fstest.MapFS{"kind/a.json": {Data: []byte("committed")}, "kind/b.json": {Data: []byte("committed")}}))
	must.Do(t, WriteFile(filepath.Join(s.Dir(), "kind", "a.json"), []byte("own")))
	for name, want := range map[string]string{"kind/a.json": "own", "kind/b.json": "committed"} {
		if got, err := s.File(name); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := s.File("kind/c.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that neither has: %v", err)
	}
}

func TestWeightsComeWithARecordAndAreChecked(t *testing.T) {
	dir := t.TempDir()
	r := &Record{ID: testID, Task: "vmas/balance", Method: "mappo", Budget: "short", Seed: 1, Complete: true, Frames: 600}
	c := Checkpoint{Frames: 600, Tensors: safetensors.Tensors{
		"weights/actor/out/bias": safetensors.New([]float32{1, 2}), "state/fresh": safetensors.New([]uint8{1}),
		"weights/actor/adam/out/bias/mean": safetensors.New([]float32{3, 4}),
		"weights/critic/out/bias":          safetensors.New([]float32{5}),
	}}
	with, err := PackWeights(dir, r, c)
	if err != nil || with.Weights == "" || r.Weights != "" {
		t.Fatalf("hash %q, of the record that was given %q, %v", with.Weights, r.Weights, err)
	}
	must.Get(WritePack(dir, with))(t)
	open := func() *Store {
		s := openTest(t, t.TempDir())
		s.Base(NewLayer(os.DirFS(dir)))
		return s
	}
	got, err := open().Weights(r.ID)
	if err != nil || !got.Bare || got.Frames != 600 || len(got.Tensors) != 1 ||
		got.Tensors["weights/actor/out/bias"].DType != "F32" {
		t.Fatalf("%+v, %v, want the one variable that acts", got, err)
	}
	if _, err := open().Checkpoint(r.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a checkpoint to go on from: %v", err)
	}
	file := filepath.Join(dir, "weights", r.ID+".safetensors")
	c.Tensors["weights/actor/out/bias"].Data[0]++
	other, err := EncodeWeights(r, c)
	if err != nil || os.WriteFile(file, other, 0o666) != nil {
		t.Fatal(err)
	}
	if _, err := open().Weights(r.ID); !errors.Is(err, ErrDamaged) {
		t.Errorf("weights of another hash: %v", err)
	}
	must.Do(t, os.Remove(file))
	if _, err := open().Weights(r.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the file: %v", err)
	}
}
