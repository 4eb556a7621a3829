// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
)

// masks flip one bit, the bit between upper and lower case, and one that makes a byte invalid UTF-8.
var masks = []byte{0x01, 0x20, 0x80}

// partial makes a store whose toy run has everything but its end: a checkpoint, and scalars and an evaluation after it.
func partial(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	r := claimTest(t, openTest(t, dir))
	writes, stop := 0, errors.New("stop")
	func() {
		defer func() {
			if got := recover(); got != any(stop) {
				t.Errorf("the toy run ended with %v", got)
			}
		}()
		_ = train(r, func() {
			if writes++; writes == 9 { // 100, 200 + evaluation + checkpoint, 300 + checkpoint, 400 + evaluation, 500
				panic(stop)
			}
		})
	}()
	must.Do(t, r.Close())
	return dir
}

func write(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(dir, testID, name), data, 0o644))
}

func read(t testing.TB, dir, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join(dir, testID, name)))(t)
}

// eachDamage calls f with every version of data that has one byte flipped or is cut short.
func eachDamage(data []byte, f func(bad []byte)) {
	for i := range data {
		for _, mask := range masks {
			bad := bytes.Clone(data)
			bad[i] ^= mask
			f(bad)
		}
		f(data[:i:i])
	}
}

func TestNoDamageToAFinishedRunIsAccepted(t *testing.T) {
	dir := complete(t)
	want := must.Get(openTest(t, dir).Get(testID))(t)
	s := openTest(t, dir)
	noted := 0
	s.Note = func(string) { noted++ }
	good := read(t, dir, recordFile)
	eachDamage(good, func(bad []byte) {
		write(t, dir, recordFile, bad)
		noted = 0
		got, err := s.Get(testID)
		if got != nil || !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), recordFile) {
			t.Fatalf("it is %q: got %+v, %v", bad, got, err)
		}
		if found, err := s.Find(Query{}); err != nil || len(found) != 0 || noted != 1 {
			t.Fatalf("it is %q: found %v, %v, %d notes", bad, found, err, noted)
		}
	})
	write(t, dir, recordFile, good)
	if got, err := s.Get(testID); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("after all damage was undone: %+v, %v", got, err)
	}
}

func TestDamagedRunsAreRepairedByTrainingAgain(t *testing.T) {
	finished := complete(t)
	want := resultOf(t, finished)
	places := 12
	if testing.Short() {
		places = 2
	}
	for _, from := range []string{finished, partial(t)} {
		entries := must.Get(os.ReadDir(filepath.Join(from, testID)))(t)
		for _, e := range entries {
			data, place := read(t, from, e.Name()), 0
			eachDamage(data, func(bad []byte) {
				if place++; place%(4*len(data)/places+1) != 0 {
					return
				}
				dir := copyDir(t, from)
				write(t, dir, e.Name(), bad)
				notes := strings.Join(finish(t, dir), "\n")
				if got := resultOf(t, dir); got != want {
					t.Fatalf("%s was %q: got %v\nwant %v\nnotes %s", e.Name(), bad, got, want, notes)
				}
				if _, err := openTest(t, dir).Get(testID); err != nil {
					t.Fatalf("%s was %q: %v", e.Name(), bad, err)
				}
				// A finished run does not even read its checkpoint.
				silent := notes == "" && e.Name() == recordFile
				aside, err := filepath.Glob(filepath.Join(dir, testID, "*.damaged-1"))
				if err != nil || silent || strings.Contains(notes, "set aside") != (len(aside) > 0) {
					t.Fatalf("%s was %q: notes %q, set aside %q, %v", e.Name(), bad, notes, aside, err)
				}
			})
		}
	}
}

func TestACheckpointOfAnotherRunOrWithoutAChecksumIsNotUsed(t *testing.T) {
	dir := partial(t)
	c, _, err := readCheckpoint(filepath.Join(dir, testID, checkpointFile), testID)
	must.Do(t, err)
	var file bytes.Buffer
	must.Do(t, c.write(&file, &Record{ID: "other", Task: "t", Method: "m"}))
	write(t, dir, checkpointFile, file.Bytes())
	if notes := strings.Join(finish(t, copyDir(t, dir)), "\n"); !strings.Contains(notes, `belongs to run "other"`) {
		t.Errorf("notes %s", notes)
	}
	write(t, dir, checkpointFile, bytes.Replace(file.Bytes(), []byte(`"sha256"`), []byte(`"sha257"`), 1))
	if notes := strings.Join(finish(t, dir), "\n"); !strings.Contains(notes, "the checksum is missing") {
		t.Errorf("notes %s", notes)
	}
}

func TestDamagedPacksAreRefused(t *testing.T) {
	want := must.Get(openTest(t, complete(t)).Get(testID))(t)
	data := must.Get(Pack(want))(t)
	want = must.Get(Unpack(data))(t) // its scalars are rounded
	eachDamage(data, func(bad []byte) {
		// The header of gzip holds a date, and its last block a few bits of padding. These have no effect here: an
		// accepted record must be the right one.
		got, err := Unpack(bad)
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%x is accepted as %+v", bad, got)
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("%x: %v", bad, err)
		}
	})
}
