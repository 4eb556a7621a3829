// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// indexFile is the index in a store's folder. It holds nothing that the runs do not, and may be deleted at any time.
const indexFile = "index.gob"

// indexGrain is how many entries must be new for the index to be written: a few are read sooner than it is.
const indexGrain = 16

// index is what is known of runs without reading them. Entries that are not asked for while it is used are forgotten when it is written.
type index struct {
	sync.Mutex
	old, kept map[string]indexed // by the file that an entry is about
	fresh     int                // entries that are not among the old ones
}

// indexed is a summary and the mark of the files that it was made of.
type indexed struct {
	Mark    string
	Summary Summary
}

// readIndex reads the index; one that is not there or cannot be read is empty.
func (s *Store) readIndex() *index {
	x := &index{kept: map[string]indexed{}}
	if data, err := os.ReadFile(filepath.Join(s.dir, indexFile)); err == nil {
		if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&x.old); err != nil {
			x.old = nil
		}
	}
	return x
}

// writeIndex writes it if it has changed by enough. A store whose folder cannot be written, or does not exist yet, has none.
func (s *Store) writeIndex(x *index) {
	if x.fresh < indexGrain && len(x.old) <= len(x.kept)+indexGrain {
		return
	}
	var b bytes.Buffer
	if _, err := os.Stat(s.dir); err == nil && gob.NewEncoder(&b).Encode(x.kept) == nil {
		_ = WriteFile(filepath.Join(s.dir, indexFile), b.Bytes()) // what it would save is time alone
	}
}

// get returns the summary of a file with that mark, which read makes if the index has none.
func (x *index) get(file, mark string, read func() (*Summary, error)) (*Summary, error) {
	x.Lock()
	known, ok := x.old[file]
	x.Unlock()
	if !ok || known.Mark != mark || known.Summary.Record == nil {
		one, err := read()
		if err != nil {
			return nil, err
		}
		known, ok = indexed{mark, *one}, false
	}
	x.Lock()
	defer x.Unlock()
	if x.kept[file] = known; !ok {
		x.fresh++
	}
	return &known.Summary, nil
}

// packSummary is that of a committed record, whose mark is the end of its file: the checksum and the length of what is packed.
func (s *Store) packSummary(p *pack, x *index) (*Summary, error) {
	mark, err := tail(p.fsys, p.name)
	if err != nil {
		return p.glance()
	}
	return x.get(p.name, mark, p.glance)
}

// tail is a file's length and its last 8 bytes.
func tail(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	at, ok := f.(io.ReaderAt)
	if !ok || info.Size() < 8 {
		return "", errors.New("no end to read")
	}
	var end [8]byte
	if _, err := at.ReadAt(end[:], info.Size()-8); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %x", info.Size(), end), nil
}

// folderSummary is that of a run's folder. Only complete runs are in the index, whose mark is what their last file says of the others,
// with the others' sizes and times.
func (s *Store) folderSummary(id string, x *index) (one *Summary, notes []string, err error) {
	dir := filepath.Join(s.dir, id)
	read := func() (*Summary, error) {
		r, said, err := readRun(dir)
		notes = said
		if err != nil {
			return nil, err
		}
		return summarise(r), nil
	}
	mark, err := os.ReadFile(filepath.Join(dir, doneFile))
	if err != nil {
		one, err = read()
		return one, notes, err
	}
	for _, name := range append([]string{hostFile}, resultFiles...) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			mark = fmt.Appendf(mark, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		}
	}
	one, err = x.get(id, string(mark), read)
	return one, notes, err
}
