// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// indexFile, in the folder of the store, holds the briefs of its complete runs, so that listing thousands does not read all of them. It is a
// shortcut and nothing else: an entry counts only while its run's record has the size and the time of modification that it was made
// from, a file that is damaged is made anew, and a store that cannot be written does without.
const indexFile = "index"

// indexVersion begins the file; another layout needs another one.
const indexVersion = "cermic index 2\n"

// settled is how long a file must not have changed before it may be known by its time: file systems may count in steps of up to two seconds.
const settled = 3 * time.Second

// stamp is the size and the time of modification of a run's record.
type stamp [2]int64

// stampOf reads the stamp of a run's folder; ok is false if it has just changed, or cannot be read.
func stampOf(dir string) (s stamp, ok bool) {
	info, err := os.Lstat(filepath.Join(dir, recordFile))
	if err != nil || !info.Mode().IsRegular() {
		return s, false
	}
	return stamp{info.Size(), info.ModTime().UnixNano()}, time.Since(info.ModTime()) > settled
}

// indexed is an entry: a brief and what it was made from.
type indexed struct {
	stamp stamp
	brief *Record
}

// index is the content of the file, and what a reader has found to be otherwise.
type index struct {
	path    string
	entries map[string]indexed
	changed bool
}

// openIndex reads the index of a store's folder; it is empty where there is none that is whole.
func openIndex(dir string) *index {
	x := &index{path: filepath.Join(dir, indexFile), entries: map[string]indexed{}}
	data, err := ReadFile(x.path, maxFile)
	if err == nil {
		if x.entries, err = parseIndex(data); err != nil {
			x.entries, x.changed = map[string]indexed{}, true
		}
	}
	return x
}

// brief returns the brief of a complete run of the folder beside the index, from it if nothing has changed since, else from read.
func (x *index) brief(id string, read func() (*Record, error)) (*Record, error) {
	now, still := stampOf(filepath.Join(filepath.Dir(x.path), id))
	if e, ok := x.entries[id]; ok && still && e.stamp == now {
		return e.brief, nil
	}
	r, err := read()
	_, had := x.entries[id]
	delete(x.entries, id)
	x.changed = x.changed || had
	if err != nil || !r.Complete {
		return r, err
	}
	if after, unchanged := stampOf(filepath.Join(filepath.Dir(x.path), id)); still && unchanged && after == now {
		x.entries[id], x.changed = indexed{now, r}, true
	}
	return r, nil
}

// forget drops the entries of runs that are gone.
func (x *index) forget(ids []string) {
	for id := range x.entries {
		if _, there := slices.BinarySearch(ids, id); !there {
			delete(x.entries, id)
			x.changed = true
		}
	}
}

// save writes the index if it has changed. That it could not is no error. Of several processes that write at once the last one's counts: what
// it lacks is read again.
func (x *index) save() {
	if !x.changed {
		return
	}
	x.changed = false
	dir := filepath.Dir(x.path)
	old, _ := fs.Glob(os.DirFS(dir), indexFile+".*"+tempSuffix)
	for _, name := range old { // of a process that was killed
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > time.Hour {
			os.Remove(path)
		}
	}
	own := fmt.Sprintf("%s.%016x%s", x.path, rand.Uint64(), tempSuffix)
	if os.WriteFile(own, x.bytes(), 0o666) != nil || os.Rename(own, x.path) != nil {
		os.Remove(own)
	}
}

// bytes is the content of the file: its version, the SHA-256 of the rest, and the entries in the order of their IDs.
func (x *index) bytes() []byte {
	var body []byte
	for _, id := range slices.Sorted(maps.Keys(x.entries)) {
		body = x.entries[id].append(body)
	}
	sum := sha256.Sum256(body)
	return slices.Concat([]byte(indexVersion), sum[:], body)
}

// append adds the entry to body: its stamp, then each field of the brief behind its length.
func (e indexed) append(body []byte) []byte {
	for _, s := range e.stamp {
		body = binary.LittleEndian.AppendUint64(body, uint64(s))
	}
	r := e.brief
	host, _ := json.Marshal(r.Host) // strings, numbers and a flag: it does not fail
	for _, field := range [][]byte{[]byte(r.ID), []byte(r.Task), []byte(r.Method), []byte(r.Budget), r.Experiment, host} {
		body = append(binary.AppendUvarint(body, uint64(len(field))), field...)
	}
	body = binary.AppendUvarint(body, r.Seed)
	body = binary.AppendUvarint(body, uint64(r.Frames))
	body = binary.AppendUvarint(body, uint64(len(r.Evals)))
	for _, eval := range r.Evals {
		body = binary.AppendUvarint(body, uint64(eval.Frames))
		body = binary.AppendUvarint(body, uint64(len(eval.Scores)))
		for _, score := range eval.Scores {
			body = binary.LittleEndian.AppendUint64(body, math.Float64bits(score))
		}
	}
	return body
}

// errIndex is the error for a file that is no whole index.
var errIndex = errors.New("the index is damaged")

// parseIndex reads what bytes wrote.
func parseIndex(data []byte) (map[string]indexed, error) {
	body, ok := bytes.CutPrefix(data, []byte(indexVersion))
	if !ok || len(body) < sha256.Size {
		return nil, errIndex
	}
	sum, body := body[:sha256.Size], body[sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, errIndex
	}
	in, entries := &indexReader{rest: body}, map[string]indexed{}
	for len(in.rest) > 0 && !in.short {
		e := in.entry()
		entries[e.brief.ID] = e
	}
	if in.short {
		return nil, errIndex
	}
	return entries, nil
}

// indexReader reads numbers and fields; short says that there were fewer than there should be.
type indexReader struct {
	rest  []byte
	short bool
}

func (in *indexReader) take(n uint64) []byte {
	if n > uint64(len(in.rest)) {
		in.short, in.rest = true, nil
		return nil
	}
	out := in.rest[:n:n]
	in.rest = in.rest[n:]
	return out
}

func (in *indexReader) fixed() uint64 {
	if b := in.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (in *indexReader) number() uint64 {
	v, n := binary.Uvarint(in.rest)
	if n <= 0 {
		in.short, in.rest = true, nil
		return 0
	}
	in.rest = in.rest[n:]
	return v
}

func (in *indexReader) field() []byte { return in.take(in.number()) }

// entry reads one entry.
func (in *indexReader) entry() (e indexed) {
	for i := range e.stamp {
		e.stamp[i] = int64(in.fixed())
	}
	r := &Record{Complete: true, Scalars: map[string]Points{}}
	r.ID, r.Task, r.Method, r.Budget = string(in.field()), string(in.field()), string(in.field()), string(in.field())
	r.Experiment = in.field()
	in.short = json.Unmarshal(in.field(), &r.Host) != nil || in.short
	r.Seed, r.Frames = in.number(), int(in.number())
	for range min(in.number(), 1) { // of a brief
		eval := Eval{Frames: int(in.number())}
		scores := in.take(8 * min(in.number(), 1<<24))
		for ; len(scores) >= 8; scores = scores[8:] {
			eval.Scores = append(eval.Scores, math.Float64frombits(binary.LittleEndian.Uint64(scores)))
		}
		r.Evals = append(r.Evals, eval)
	}
	e.brief = r
	return e
}
