// SPDX-License-Identifier: Apache-2.0

package results

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
)

// metered counts the bytes that are read of files.
type metered struct {
	fs.FS
	bytes *atomic.Int64
}

func (m metered) Open(name string) (fs.File, error) {
	f, err := m.FS.Open(name)
	if _, folder := f.(fs.ReadDirFile); folder && name == "." || err != nil {
		return f, err
	}
	return meteredFile{f, m.bytes}, nil
}

type meteredFile struct {
	fs.File
	bytes *atomic.Int64
}

func (f meteredFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.bytes.Add(int64(n))
	return n, err
}

func (f meteredFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.(io.ReaderAt).ReadAt(p, at)
	f.bytes.Add(int64(n))
	return n, err
}

// manyPacks are n records of seeds from 1, with so many points of a scalar that hardly compress.
func manyPacks(t testing.TB, n, points int) fstest.MapFS {
	files := fstest.MapFS{}
	for i := range n {
		r := &Record{
			ID: fmt.Sprintf("%016x", i+1), Task: "vmas/balance", Method: "mappo", Budget: "short", Seed: uint64(i + 1), Complete: true, Frames: 600,
			Experiment: json.RawMessage(`{"seed":1}`), Host: Host{CPU: "x", Seconds: 1}, Scalars: map[string][]Point{},
			Evals: []Eval{{Frames: 300, Scores: []float64{-9}}, {Frames: 600, Scores: []float64{float64(i), float64(i) + 1}}},
		}
		for k := range points {
			r.Scalars["kl"] = append(r.Scalars["kl"], Point{k, math.Sin(float64(k * (i + 1)))})
		}
		data, err := Pack(r)
		if err != nil {
			t.Fatal(err)
		}
		files[r.ID+packSuffix] = &fstest.MapFile{Data: data}
	}
	return files
}

// layered is a store in dir above files, and the count of bytes read of them.
func layered(t testing.TB, dir string, files fs.FS) (*Store, *atomic.Int64) {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Note = func(note string) { t.Error("noted:", note) }
	read := new(atomic.Int64)
	if err := s.Base(metered{files, read}); err != nil {
		t.Fatal(err)
	}
	return s, read
}

// Opening reads names; a summary the beginning of a file, or with an index its last 8 bytes; Get and Find what they return.
func TestOnlyWhatIsAskedForIsRead(t *testing.T) {
	const n, points = 20, 20_000
	const ahead = 20_000 // bytes that are read of a record for its beginning: what an inflater takes before it gives 32 KiB
	files, dir := manyPacks(t, n, points), t.TempDir()
	size := int64(len(files[fmt.Sprintf("%016x", 1)+packSuffix].Data))
	s, read := layered(t, dir, files)
	if size < 4*ahead {
		t.Fatalf("records have %d bytes, too few to tell", size)
	}
	if got := read.Load(); got != 0 {
		t.Errorf("opening reads %d bytes of the records", got)
	}
	if r, err := s.Get(fmt.Sprintf("%016x", 7)); err != nil || r.Seed != 7 || len(r.Scalars["kl"]) != points || read.Load() > 2*size {
		t.Errorf("Get: %v, and %d bytes, want those of one record of %d", err, read.Load(), size)
	}
	read.Store(0)
	if found, err := s.Find(Query{IDs: []string{fmt.Sprintf("%016x", 9), "missing", "Not An ID"}}); err != nil || len(found) != 1 || found[0].Seed != 9 {
		t.Errorf("found %v, %v, want one by its ID", found, err)
	}
	if found, err := s.Find(Query{Seeds: []uint64{3, 5}}); err != nil || len(found) != 2 || read.Load() > 3*size+n*ahead {
		t.Errorf("found %d, %v, and read %d bytes, want two records of %d and the beginnings of %d", len(found), err, read.Load(), size, n)
	}
	for round, limit := range []int64{n * ahead, n * 8} { // the beginnings, then the ends only
		s, read := layered(t, dir, files)
		found, err := s.Summaries(Query{Complete: true})
		if err != nil || len(found) != n || read.Load() > limit {
			t.Errorf("round %d: %d summaries, %v, and read %d bytes, want at most %d", round, len(found), err, read.Load(), limit)
		}
		for i, one := range found {
			if one.Seed != uint64(i+1) || one.Score != float64(i)+0.5 || one.Host.CPU != "x" || string(one.Experiment) != `{"seed":1}` || !one.Complete {
				t.Fatalf("round %d: summary %d is %+v with score %g", round, i, one.Record, one.Score)
			}
		}
	}
}

// The index is believed of unchanged files only, and of none when it is damaged.
func TestAStaleIndexIsNotBelieved(t *testing.T) {
	const n = 20
	files, dir := manyPacks(t, n, 10), t.TempDir()
	score := func() float64 {
		s, _ := layered(t, dir, files)
		found, err := s.Summaries(Query{Seeds: []uint64{4}})
		if err != nil || len(found) != 1 {
			t.Fatalf("%d summaries, %v", len(found), err)
		}
		return found[0].Score
	}
	if got := score(); got != 3.5 {
		t.Fatalf("the score is %g, want 3.5", got)
	}
	path := filepath.Join(dir, indexFile)
	if _, err := os.Stat(path); err != nil {
		t.Fatal("there is no index:", err)
	}
	name := fmt.Sprintf("%016x", 4) + packSuffix
	r, err := Unpack(files[name].Data)
	if err != nil {
		t.Fatal(err)
	}
	r.Evals[1].Scores = []float64{70, 80}
	changed, err := Pack(r)
	if err != nil {
		t.Fatal(err)
	}
	files[name] = &fstest.MapFile{Data: changed}
	if got := score(); got != 75 {
		t.Errorf("after the record has changed the score is %g, want 75", got)
	}
	for _, junk := range [][]byte{nil, []byte("junk"), {0xff, 0xff, 0xff}} {
		if err := os.WriteFile(path, junk, 0o666); err != nil {
			t.Fatal(err)
		}
		if got := score(); got != 75 {
			t.Errorf("with an index of %q the score is %g, want 75", junk, got)
		}
	}
	delete(files, name)
	s, _ := layered(t, dir, files)
	if found, err := s.Summaries(Query{}); err != nil || len(found) != n-1 {
		t.Errorf("%d summaries, %v, want the one that is gone to be left out", len(found), err)
	}
}

// A run of the folder is summarised as Get reads it: partial, complete, with its files changed behind the index, and damaged.
func TestSummariesOfTheFolderFollowItsFiles(t *testing.T) {
	dir := complete(t)
	s := openTest(t, dir)
	want, err := s.Get(testID)
	if err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		found, err := openTest(t, dir).Summaries(Query{})
		if err != nil || len(found) != 1 || found[0].Score != want.Score() || !found[0].Complete || found[0].Frames != want.Frames || found[0].Task != want.Task {
			t.Fatalf("%s: %+v, %v", when, found, err)
		}
	}
	check("without an index")
	x := s.readIndex()
	if _, _, err := s.folderSummary(testID, x); err != nil {
		t.Fatal(err)
	}
	x.fresh = indexGrain // as if there were many
	s.writeIndex(x)
	if len(s.readIndex().old) != 1 {
		t.Fatal("the index was not written")
	}
	check("with an index")
	evals := filepath.Join(dir, testID, evalsFile)
	data, err := os.ReadFile(evals)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(evals, data[:len(data)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	damaged := openTest(t, dir)
	var notes []string
	damaged.Note = func(note string) { notes = append(notes, note) }
	if found, err := damaged.Summaries(Query{}); err != nil || len(found) != 0 || len(notes) != 1 || !strings.Contains(notes[0], "not what was written") {
		t.Errorf("a damaged run: %v, %v, notes %q", found, err, notes)
	}
}

// Every committed record has the summary of what it holds.
func TestCommittedRecordsAreSummarisedAsTheyAre(t *testing.T) {
	if testing.Short() {
		t.Skip("it unpacks all records")
	}
	dir := t.TempDir()
	for round := range 2 { // without and with an index
		s, _ := layered(t, dir, os.DirFS("../../reproduce/records"))
		short, err := s.Summaries(Query{})
		if err != nil {
			t.Fatal(err)
		}
		long, err := s.Find(Query{})
		if err != nil || len(long) != len(short) || len(long) == 0 {
			t.Fatalf("round %d: %d records and %d summaries, %v", round, len(long), len(short), err)
		}
		for i, r := range long {
			if want := summarise(r); !reflect.DeepEqual(short[i].Record, want.Record) || short[i].Score != want.Score {
				t.Fatalf("round %d: run %s is summarised as %+v with score %g", round, r.ID, short[i].Record, short[i].Score)
			}
		}
	}
}

// BenchmarkSummaries opens a folder of packed records and looks at all of them: without an index, and with one.
func BenchmarkSummaries(b *testing.B) {
	for _, n := range []int{300, 10_000} {
		files := b.TempDir()
		one := manyPacks(b, 1, 10)
		for i := range n {
			r, err := Unpack(one[fmt.Sprintf("%016x", 1)+packSuffix].Data)
			if err != nil {
				b.Fatal(err)
			}
			r.ID = fmt.Sprintf("%016x", i+1)
			r.Scalars = nil // quick to write; nobody reads them here
			r.Experiment = json.RawMessage(`{"task":"` + strings.Repeat("x", 1500) + `"}`)
			data, err := Pack(r)
			if err == nil {
				err = os.WriteFile(filepath.Join(files, r.ID+packSuffix), data, 0o666)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		for _, indexed := range []bool{false, true} {
			b.Run(fmt.Sprintf("records=%d/indexed=%v", n, indexed), func(b *testing.B) {
				dir := b.TempDir()
				for b.Loop() {
					if !indexed {
						os.Remove(filepath.Join(dir, indexFile))
					}
					s, _ := layered(b, dir, os.DirFS(files))
					if found, err := s.Summaries(Query{}); err != nil || len(found) != n {
						b.Fatal(len(found), err)
					}
				}
			})
		}
	}
}
