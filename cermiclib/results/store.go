// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrDamaged is wrapped by the error about a record whose bytes are not the written ones.
var ErrDamaged = errors.New("the record is damaged")

// Store is a folder of runs, one folder a run, and optionally a read-only layer of committed records below it. Many
// processes, also on several machines that share the folder, may use it at once.
type Store struct {
	// Note receives one line about each damaged or private file that Get and Find skip; slog.Warn by default.
	Note func(string)
	dir  string
	base *Layer // maybe empty
}

// Layer is a read-only folder of packed records (see Pack) and other files. Each record is decoded on demand, once for
// all stores above it.
type Layer struct {
	files   fs.FS
	records map[string]packed // by ID
}

// NewLayer is the layer of the packed records at the top of files.
func NewLayer(files fs.FS) *Layer {
	l := &Layer{files, map[string]packed{}}
	names, _ := fs.Glob(files, "*"+packSuffix) // the pattern is a valid one
	for _, name := range names {
		l.records[strings.TrimSuffix(name, packSuffix)] = newPacked(files, name)
	}
	return l
}

// Open returns the store in folder dir. The first claim makes the folder; until then the store is empty.
func Open(dir string) (*Store, error) {
	if dir == "" {
		return nil, errors.New("the results store needs a folder")
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("the results store %s is a file, want a folder", dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return &Store{Note: func(s string) { slog.Warn(s) }, dir: dir, base: &Layer{}}, nil
}

// Dir returns the folder of the store.
func (s *Store) Dir() string { return s.dir }

// Base puts a layer below the store's folder. Call it before the store is shared between goroutines.
func (s *Store) Base(l *Layer) { s.base = l }

// File reads a small file that belongs to no single run, by its slash-separated path, from the store's folder or else
// from the layer. The error wraps fs.ErrNotExist if neither has it.
func (s *Store) File(name string) ([]byte, error) {
	data, err := fs.ReadFile(os.DirFS(s.dir), name)
	if errors.Is(err, fs.ErrNotExist) && s.base.files != nil {
		return fs.ReadFile(s.base.files, name)
	}
	return data, err
}

// Get returns the run called id, complete if possible. The error wraps fs.ErrNotExist if there is none, and ErrDamaged
// if the only one is damaged, which the next Claim repairs. The record is shared: do not change it.
func (s *Store) Get(id string) (*Record, error) { return s.get(id, true) }

// Head is Get without scalars, which take most of the time to read. Of the evaluations it has only the frames and
// scores of the last.
func (s *Store) Head(id string) (*Record, error) { return s.get(id, false) }

func (s *Store) get(id string, whole bool) (*Record, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	r, err := readRun(filepath.Join(s.dir, id), whole)
	if packed, ok := s.base.records[id]; ok && (err != nil || !r.Complete) {
		read := packed.head
		if whole {
			read = packed.all
		}
		committed, failed := read()
		if failed == nil && errors.Is(err, ErrDamaged) && whole {
			s.Note(err.Error())
		}
		if failed == nil || errors.Is(err, fs.ErrNotExist) {
			return committed, failed
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no run %s in %s: %w", id, s.dir, fs.ErrNotExist)
	}
	return r, err
}

// readRun reads the record in a run's folder, which needs no lock.
func readRun(dir string, whole bool) (*Record, error) {
	path := filepath.Join(dir, recordFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	body, ok := unseal(data)
	if !ok {
		return nil, fmt.Errorf("%s is not what was written; train the run again to repair it: %w", path, ErrDamaged)
	}
	r, err := decode(bytes.NewReader(body), whole)
	if err == nil && r.ID != filepath.Base(dir) {
		err = fmt.Errorf("it belongs to run %s", r.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, err, ErrDamaged)
	}
	return r, nil
}

// Query selects records; an empty field selects all.
type Query struct {
	Task, Budget string
	Seeds        []uint64
	Complete     bool // only complete runs
}

func (q Query) matches(r *Record) bool {
	return (q.Task == "" || q.Task == r.Task) && (q.Budget == "" || q.Budget == r.Budget) &&
		(len(q.Seeds) == 0 || slices.Contains(q.Seeds, r.Seed)) && (r.Complete || !q.Complete)
}

// Find returns the runs that q selects, ordered by task, method, budget, seed and ID. It skips damaged ones and
// those that another user keeps private, and notes a line about each. The records are shared: do not change them.
func (s *Store) Find(q Query) ([]*Record, error) { return s.find(q, true) }

// Heads is Find of heads; see Head.
func (s *Store) Heads(q Query) ([]*Record, error) { return s.find(q, false) }

func (s *Store) find(q Query, whole bool) ([]*Record, error) {
	ids, err := s.IDs()
	if err != nil {
		return nil, err
	}
	var found []*Record
	for _, id := range ids {
		r, err := s.Head(id) // which decides most cases
		if err == nil && whole && q.matches(r) {
			r, err = s.Get(id)
		}
		switch {
		case errors.Is(err, ErrDamaged), errors.Is(err, fs.ErrPermission):
			s.Note(err.Error())
		case errors.Is(err, fs.ErrNotExist): // a folder that is no run, or is just being made
		case err != nil:
			return nil, err
		case q.matches(r):
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *Record) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Budget, b.Budget),
			cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.ID, b.ID))
	})
	return found, nil
}

// Folders of a store that are no runs: weights of pre-training, and the files of campaigns on a cluster.
const (
	PretrainedFolder = "pretrained"
	CampaignsFolder  = "campaigns"
)

// IDs lists the IDs of all runs, each once, in order. Some may be of runs that are just being made.
func (s *Store) IDs() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && checkID(e.Name()) == nil && e.Name() != PretrainedFolder && e.Name() != CampaignsFolder {
			ids = append(ids, e.Name())
		}
	}
	for id := range s.base.records {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// checkID keeps an ID from being a path.
func checkID(id string) error {
	if id == "" || strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyz-_") != "" {
		return fmt.Errorf("run ID %q: want lower-case letters, digits, - and _", id)
	}
	return nil
}
