// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// masks flip one bit, the bit between upper and lower case, and one that makes a byte invalid UTF-8.
var masks = []byte{0x01, 0x20, 0x80}

// partial makes a store whose toy run has everything but its end: two checkpoints and lines after the newest.
func partial(t testing.TB) string {
	t.Helper()
	stopped := t.TempDir()
	r := claimTest(t, openTest(t, stopped))
	writes := 0
	stop := errors.New("stop")
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
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{checkpointFile, previousFile} {
		if _, err := os.Stat(filepath.Join(stopped, testID, name)); err != nil {
			t.Fatal(err)
		}
	}
	return stopped
}

func write(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, testID, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, testID, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
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
	want, err := openTest(t, dir).Get(testID)
	if err != nil {
		t.Fatal(err)
	}
	s := openTest(t, dir)
	noted := 0
	s.Note = func(string) { noted++ }
	for _, name := range append([]string{doneFile, hostFile}, resultFiles...) {
		good := read(t, dir, name)
		eachDamage(good, func(bad []byte) {
			write(t, dir, name, bad)
			noted = 0
			got, err := s.Get(testID)
			if name == hostFile {
				if err != nil || noted != 1 || got.Host != (Host{}) || !reflect.DeepEqual(got.Evals, want.Evals) {
					t.Fatalf("%s is %q: got %+v, %v, %d notes", name, bad, got, err, noted)
				}
				return
			}
			if got != nil || !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), name) {
				t.Fatalf("%s is %q: got %+v, %v", name, bad, got, err)
			}
			if found, err := s.Find(Query{}); err != nil || len(found) != 0 || noted != 1 {
				t.Fatalf("%s is %q: found %v, %v, %d notes", name, bad, found, err, noted)
			}
		})
		write(t, dir, name, good)
	}
	if got, err := s.Get(testID); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("after all damage was undone: %+v, %v", got, err)
	}
}

// spread calls f with damaged versions of data at about n places, spread over it.
func spread(data []byte, n int, f func(bad []byte)) {
	for k := range n {
		i := k * len(data) / n
		bad := bytes.Clone(data)
		bad[i] ^= masks[k%len(masks)]
		f(bad)
		f(data[:i:i])
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
		entries, err := os.ReadDir(filepath.Join(from, testID))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), lockName) {
				continue // one that cannot be read may be somebody's: it takes a minute of silence to know
			}
			spread(read(t, from, e.Name()), places, func(bad []byte) {
				dir := copyDir(t, from)
				write(t, dir, e.Name(), bad)
				notes := strings.Join(finish(t, dir), "\n")
				if got := resultOf(t, dir); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s was %q: got %v\nwant %v\nnotes %s", e.Name(), bad, got, want, notes)
				}
				if _, err := openTest(t, dir).Get(testID); err != nil {
					t.Fatalf("%s was %q: %v", e.Name(), bad, err)
				}
				// A partial run that only lost lines which were to be cut off anyway, or a spare checkpoint, needs no word.
				silent := notes == "" && from == finished && e.Name() != checkpointFile
				aside, err := filepath.Glob(filepath.Join(dir, testID, "*.damaged-1"))
				if err != nil || silent || strings.Contains(notes, "set aside") != (len(aside) > 0) {
					t.Fatalf("%s was %q: notes %q, set aside %q, %v", e.Name(), bad, notes, aside, err)
				}
			})
		}
	}
}

func TestDamagedCheckpointFallsBackToTheOneBefore(t *testing.T) {
	dir := partial(t)
	want := resultOf(t, complete(t))
	bad := read(t, dir, checkpointFile)
	bad[len(bad)-1] ^= 1
	write(t, dir, checkpointFile, bad)
	s := openTest(t, dir)
	var notes []string
	s.Note = func(note string) { notes = append(notes, note) }
	r := claimTest(t, s)
	if r.Record().Frames != 200 || len(r.Record().Evals) != 1 {
		t.Errorf("goes on with %+v, want what there was at 200 frames", r.Record())
	}
	if text := strings.Join(notes, "\n"); len(notes) != 2 || !strings.Contains(text, "checksum does not match; set aside as "+
		checkpointFile+".damaged-1") || !strings.Contains(text, "checkpoint before last, at 200 frames") {
		t.Errorf("notes %q", notes)
	}
	if err := errors.Join(train(r, func() {}), r.Close()); err != nil {
		t.Fatal(err)
	}
	if got := resultOf(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if !bytes.Equal(read(t, dir, checkpointFile+".damaged-1"), bad) {
		t.Error("the damaged checkpoint was not kept as it was")
	}
}

func TestACrashBetweenTheRenamesOfACheckpointIsHarmless(t *testing.T) {
	dir := partial(t)
	want := resultOf(t, complete(t))
	path := filepath.Join(dir, testID, checkpointFile)
	write(t, dir, checkpointFile+tempSuffix, read(t, dir, checkpointFile)[:100])
	if err := os.Rename(path, filepath.Join(dir, testID, previousFile)); err != nil {
		t.Fatal(err)
	}
	if notes := finish(t, dir); len(notes) != 1 || !strings.Contains(notes[0], "checkpoint before last, at 300 frames") {
		t.Errorf("notes %q", notes)
	}
	if got := resultOf(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if _, err := os.Stat(path + tempSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unfinished file is left behind: %v", err)
	}
}

func TestDamageDuringTrainingIsFoundAtTheEnd(t *testing.T) {
	for name, spoil := range map[string]func(good []byte) []byte{
		"a flipped byte": func(good []byte) []byte { good[30] ^= 1; return good },
		"a missing line": func(good []byte) []byte { return good[:bytes.IndexByte(good, '\n')+1] },
	} {
		dir := t.TempDir()
		r := claimTest(t, openTest(t, dir))
		for frames := range 3 {
			if err := r.AppendScalars(frames, map[string]float64{"loss": 1}); err != nil {
				t.Fatal(err)
			}
		}
		write(t, dir, scalarsFile, spoil(read(t, dir, scalarsFile)))
		if err := r.Finish(Host{}); !errors.Is(err, ErrDamaged) || r.Complete() {
			t.Errorf("%s: got %v", name, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestACheckpointOfAnotherRunIsNotUsed(t *testing.T) {
	dir := partial(t)
	c, _, err := readCheckpoint(filepath.Join(dir, testID, checkpointFile), testID)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.write(filepath.Join(dir, testID, checkpointFile), "other", nil); err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(finish(t, dir), "\n"); !strings.Contains(notes, `belongs to run "other"`) {
		t.Errorf("notes %s", notes)
	}
}

func TestDamagedLinesOfAPartialRunAreLeftOutWithANote(t *testing.T) {
	dir := partial(t)
	whole, err := openTest(t, dir).Get(testID)
	if err != nil {
		t.Fatal(err)
	}
	good := read(t, dir, scalarsFile)
	lines := readLines(good)
	s := openTest(t, dir)
	var notes []string
	s.Note = func(note string) { notes = append(notes, note) }
	eachDamage(good, func(bad []byte) {
		write(t, dir, scalarsFile, bad)
		notes = nil
		got, err := s.Get(testID)
		if err != nil {
			t.Fatal(err)
		}
		// How many lines stand before the first byte that differs.
		same := 0
		for same < len(bad) && bad[same] == good[same] {
			same++
		}
		kept := 0
		for _, m := range lines.marks[1:] {
			if m.bytes <= same {
				kept++
			}
		}
		if !reflect.DeepEqual(got.Scalars["loss"], whole.Scalars["loss"][:kept:kept]) && kept+len(got.Scalars["loss"]) > 0 {
			t.Fatalf("%q: read %v, want the first %d", bad, got.Scalars["loss"], kept)
		}
		if torn := bytes.Count(bad, []byte{'\n'}) == kept; !torn && len(notes) != 1 {
			t.Fatalf("%q: notes %q, want one about the damaged line", bad, notes)
		}
	})
}

func TestMissingAndMovedLinesAreFound(t *testing.T) {
	good := resultOf(t, complete(t))[scalarsFile]
	line := strings.SplitAfter(strings.TrimSuffix(good, "\n"), "\n")
	line[5] += "\n"
	for name, text := range map[string]string{
		"the second is missing":  strings.Join(append(line[:1:1], line[2:]...), ""),
		"the second comes twice": line[0] + line[1] + strings.Join(line[1:], ""),
		"two are swapped":        line[0] + line[2] + line[1] + strings.Join(line[3:], ""),
	} {
		if l := readLines([]byte(text)); !l.bad || len(l.bodies) > 2 {
			t.Errorf("%s: %d lines are accepted, damaged: %v", name, len(l.bodies), l.bad)
		}
	}
}

func TestDamagedPacksAreRefused(t *testing.T) {
	want, err := openTest(t, complete(t)).Get(testID)
	if err != nil {
		t.Fatal(err)
	}
	data, err := Pack(want)
	if err != nil {
		t.Fatal(err)
	}
	if want, err = Unpack(data); err != nil { // its scalars are rounded
		t.Fatal(err)
	}
	eachDamage(data, func(bad []byte) {
		// The header of gzip holds a date, and its last block a few bits of padding, which mean nothing here: a record that
		// is accepted must be the right one.
		got, err := Unpack(bad)
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%x is accepted as %+v", bad, got)
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("%x: %v", bad, err)
		}
	})
}
