// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"
)

// aged is a store with a complete run, whose files have not changed for an hour.
func aged(t testing.TB) (dir, id string) {
	t.Helper()
	dir = complete(t)
	ids, err := openTest(t, dir).IDs()
	if err != nil || len(ids) != 1 {
		t.Fatalf("the store has runs %v (%v)", ids, err)
	}
	age(t, filepath.Join(dir, ids[0]))
	return dir, ids[0]
}

// age sets the time of a run's files back.
func age(t testing.TB, run string) {
	t.Helper()
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(run, recordFile), then, then); err != nil {
		t.Fatal(err)
	}
}

// briefs lists a store, with notes about damage.
func briefs(t testing.TB, dir string) (found []*Record, notes []string) {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Note = func(line string) { notes = append(notes, line) }
	if found, err = s.Briefs(Query{}); err != nil {
		t.Fatal(err)
	}
	return found, notes
}

// Listing ten thousand complete runs that are in the index, from opening the store on.
func BenchmarkListTenThousandRuns(b *testing.B) {
	dir, id := aged(b)
	s, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	brief, err := s.Head(id)
	if err != nil {
		b.Fatal(err)
	}
	record, err := os.ReadFile(filepath.Join(dir, id, recordFile))
	if err != nil {
		b.Fatal(err)
	}
	x := openIndex(dir)
	then := time.Now().Add(-time.Hour)
	for i := range 10_000 {
		r := *brief
		r.ID = fmt.Sprintf("%016x", i)
		path := filepath.Join(dir, r.ID, recordFile)
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o777), os.WriteFile(path, record, 0o666), os.Chtimes(path, then, then)); err != nil {
			b.Fatal(err)
		}
		now, _ := stampOf(filepath.Dir(path))
		x.entries[r.ID] = indexed{now, &r}
	}
	x.changed = true
	x.save()
	for b.Loop() {
		if found, notes := briefs(b, dir); len(found) < 10_000 || len(notes) > 0 {
			b.Fatalf("%d runs, %v", len(found), notes)
		}
	}
}

func TestIndexTellsWhatTheFilesTell(t *testing.T) {
	dir, id := aged(t)
	first, _ := briefs(t, dir)
	if x := openIndex(dir); len(x.entries) != 1 {
		t.Fatalf("%d runs are in the index, want 1", len(x.entries))
	}
	second, _ := briefs(t, dir)
	if !reflect.DeepEqual(first, second) {
		t.Errorf("from the index %+v, from the files %+v", second[0], first[0])
	}
	s := openTest(t, dir)
	whole, err := s.Get(id)
	if err != nil || len(second) != 1 || second[0].Score() != whole.Score() || second[0].Frames != whole.Frames || second[0].Host != whole.Host {
		t.Errorf("the index has %+v, the run %+v (%v)", second, whole, err)
	}
	heads, err := s.Heads(Query{})
	if err != nil || len(heads) != 1 || heads[0].Evals != nil || !heads[0].Complete {
		t.Errorf("heads are %+v (%v)", heads, err)
	}
}

func TestIndexIsNotBelievedOfARunThatChanged(t *testing.T) {
	dir, id := aged(t)
	briefs(t, dir)
	path := filepath.Join(dir, id, recordFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1 // the same size
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if found, notes := briefs(t, dir); len(found) != 0 || len(notes) != 1 {
		t.Errorf("a damaged run is listed: %+v, notes %q", found, notes)
	}
	if err := os.RemoveAll(filepath.Join(dir, id)); err != nil {
		t.Fatal(err)
	}
	if found, _ := briefs(t, dir); len(found) != 0 || len(openIndex(dir).entries) != 0 {
		t.Errorf("a run that is gone is listed: %+v", found)
	}
}

func TestRunThatJustChangedIsNotIndexed(t *testing.T) {
	dir := complete(t)
	if found, _ := briefs(t, dir); len(found) != 1 || len(openIndex(dir).entries) != 0 {
		t.Errorf("found %d runs, %d in the index; a change within the file system's time step would not be seen", len(found), len(openIndex(dir).entries))
	}
}

func TestDamagedIndexIsMadeAnew(t *testing.T) {
	dir, _ := aged(t)
	want, _ := briefs(t, dir)
	path := filepath.Join(dir, indexFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte{}, whole...)
	flipped[len(flipped)-3] ^= 4
	for name, data := range map[string][]byte{"empty": {}, "cut": whole[:len(whole)-1], "flipped": flipped, "another version": []byte("cermic index 9\n")} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		got, _ := briefs(t, dir)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: listed is %+v, want %+v", name, got, want)
		}
		if again, _ := os.ReadFile(path); !reflect.DeepEqual(again, whole) {
			t.Errorf("%s: the index is not what it was", name)
		}
	}
}

func TestStoreThatCannotBeWrittenIsListed(t *testing.T) {
	dir, _ := aged(t)
	if err := os.Mkdir(filepath.Join(dir, indexFile), 0o755); err != nil { // who tests may be root, whom no permission stops
		t.Fatal(err)
	}
	for range 2 {
		if found, notes := briefs(t, dir); len(found) != 1 || len(notes) != 0 {
			t.Errorf("found %d runs, notes %q", len(found), notes)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, indexFile+".*")); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
}

func TestManyMayIndexAtOnce(t *testing.T) {
	dir, _ := aged(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				s, err := Open(dir)
				if err != nil {
					t.Error(err)
					return
				}
				if found, err := s.Briefs(Query{}); err != nil || len(found) != 1 || found[0].Score() != found[0].Score() {
					t.Errorf("found %d runs (%v)", len(found), err)
				}
				os.Remove(filepath.Join(dir, indexFile))
			}
		})
	}
	all.Wait()
	if left, _ := filepath.Glob(filepath.Join(dir, indexFile+".*")); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
}
