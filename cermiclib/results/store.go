// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cermic/cermiclib/results/lease"
)

// ErrDamaged is wrapped by the error for a finished run whose files no longer are what was written.
var ErrDamaged = errors.New("the record is damaged")

// Store is a folder of runs, one folder a run, and optionally a read-only layer of committed records below it. Many
// processes, also on several machines that share the folder, may use it at once.
type Store struct {
	// Note receives one line about each damaged file that Get and Find step over; slog.Warn by default.
	Note   func(string)
	dir    string
	base   map[string]*committed
	layers []fs.FS // that Base was given
	lease  lease.Options
	rest   time.Duration // that must have passed before scalars make a record be written anew, in times of its last writing
}

// Open returns the store in folder dir. The folder is made when the first run is claimed; until then the store is empty.
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
	return &Store{Note: func(s string) { slog.Warn(s) }, dir: dir, base: map[string]*committed{}, lease: lease.Default(), rest: 20}, nil
}

// Dir returns the folder of the store.
func (s *Store) Dir() string { return s.dir }

// Base adds the packed records (see Pack) at the top of fsys, below those of the store's folder. They are read when they are asked for.
// Call it before the store is shared between goroutines.
func (s *Store) Base(fsys fs.FS) error {
	s.layers = append(s.layers, fsys)
	names, err := fs.Glob(fsys, "*"+packSuffix)
	for _, name := range names {
		s.base[strings.TrimSuffix(name, packSuffix)] = &committed{fsys: fsys, name: name}
	}
	return err
}

// committed is a packed record, unpacked once.
type committed struct {
	fsys            fs.FS
	name            string
	whole, top, mid sync.Once
	record          *Record // nil: it is damaged
	head            *Record // the same without evaluations and scalars
	brief           *Record // the same with the last evaluation's scores
}

// committed returns the packed record of a run, nil if there is none, or a damaged one, of which it notes so once.
func (s *Store) committed(id string) *Record {
	if s.committedHead(id) == nil {
		return nil
	}
	c := s.base[id]
	c.whole.Do(func() { c.record = s.unpack(c, Unpack) })
	return c.record
}

// committedHead is committed without evaluations and scalars.
func (s *Store) committedHead(id string) *Record {
	c := s.base[id]
	if c == nil {
		return nil
	}
	c.top.Do(func() { c.head = s.unpack(c, unpackHead) })
	return c.head
}

// committedBrief is committedHead with the scores of the last evaluation.
func (s *Store) committedBrief(id string) *Record {
	c := s.base[id]
	if c == nil {
		return nil
	}
	c.mid.Do(func() { c.brief = s.unpack(c, unpackBrief) })
	return c.brief
}

func (s *Store) unpack(c *committed, unpack func([]byte) (*Record, error)) *Record {
	data, err := fs.ReadFile(c.fsys, c.name)
	var r *Record
	if err == nil {
		r, err = unpack(data)
	}
	if err == nil && r.ID+packSuffix != c.name {
		err = fmt.Errorf("it belongs to run %s: %w", r.ID, ErrDamaged)
	}
	if err != nil {
		s.Note(fmt.Sprintf("%s: %v", c.name, err))
		return nil
	}
	return r
}

// File reads a small file that belongs to no single run, by its slash-separated path: from the store's folder, else from what Base
// added. The error wraps fs.ErrNotExist if neither has it.
func (s *Store) File(name string) ([]byte, error) {
	data, err := fs.ReadFile(os.DirFS(s.dir), name)
	for _, layer := range s.layers {
		if errors.Is(err, fs.ErrNotExist) {
			data, err = fs.ReadFile(layer, name)
		}
	}
	return data, err
}

// Get returns the run called id: a complete one if there is one, else the partial one. The error wraps fs.ErrNotExist if
// there is none, and ErrDamaged if there is only a damaged one, which the next Claim repairs. The record is shared: do
// not change it.
func (s *Store) Get(id string) (*Record, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	r, err := readRun(filepath.Join(s.dir, id))
	if err == nil && r.Complete {
		return r, nil
	}
	if base := s.committed(id); base != nil {
		if errors.Is(err, ErrDamaged) {
			s.Note(err.Error())
		}
		return base, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no run %s in %s: %w", id, s.dir, fs.ErrNotExist)
	}
	return r, err
}

// Head returns the run called id as Get does, but without evaluations and scalars, which take a hundred times as long to read: who it
// is and, of a complete one, its frames and its host.
func (s *Store) Head(id string) (*Record, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	r, err := readHead(filepath.Join(s.dir, id))
	if err == nil && r.Complete {
		return r, nil
	}
	if base := s.committedHead(id); base != nil {
		return base, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no run %s in %s: %w", id, s.dir, fs.ErrNotExist)
	}
	return r, err
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

// Find returns the runs that q selects, ordered by task, method, budget, seed and ID. Damaged ones are left out with a
// note. The records are shared: do not change them.
func (s *Store) Find(q Query) ([]*Record, error) {
	return s.find(q, func(x *index, id string) (*Record, error) {
		// The head alone decides most cases; one that cannot be read is for Get to report.
		if h, err := s.headIn(x, id); err == nil && !q.matches(h) {
			return h, nil
		}
		return s.Get(id)
	})
}

// Heads is Find, but without evaluations and scalars; see Head.
func (s *Store) Heads(q Query) ([]*Record, error) { return s.find(q, s.headIn) }

// Briefs is Find, but without scalars, and of the evaluations with the frames and the scores of the last alone: what a list of runs shows. Thousands
// of complete runs are listed in a moment, from an index in the store's folder.
func (s *Store) Briefs(q Query) ([]*Record, error) {
	return s.find(q, func(x *index, id string) (*Record, error) {
		r, err := s.own(x, id)
		if err == nil && r.Complete {
			return r, nil
		}
		if base := s.committedBrief(id); base != nil {
			return base, nil
		}
		if r, err = s.Get(id); err != nil {
			return nil, err
		}
		return r.brief(), nil
	})
}

// own is the brief of a complete run of the store's folder, or the head of another one.
func (s *Store) own(x *index, id string) (*Record, error) {
	return x.brief(id, func() (*Record, error) { return readBrief(filepath.Join(s.dir, id)) })
}

// headIn is Head with an index.
func (s *Store) headIn(x *index, id string) (*Record, error) {
	r, err := s.own(x, id)
	if err != nil {
		return s.Head(id)
	}
	if !r.Complete {
		if base := s.committedHead(id); base != nil {
			return base, nil
		}
	}
	return r.head(), nil
}

func (s *Store) find(q Query, get func(x *index, id string) (*Record, error)) ([]*Record, error) {
	ids, err := s.IDs()
	if err != nil {
		return nil, err
	}
	x := openIndex(s.dir)
	x.forget(ids)
	defer x.save()
	var found []*Record
	for _, id := range ids {
		r, err := get(x, id)
		if errors.Is(err, ErrDamaged) {
			s.Note(err.Error())
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // a folder that a claim is just making, or one that is no run
		}
		if err != nil {
			return nil, err
		}
		if q.matches(r) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *Record) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Budget, b.Budget),
			cmp.Compare(a.Seed, b.Seed), cmp.Compare(a.ID, b.ID))
	})
	return found, nil
}

// Folders of a store that are none of a run: weights of pre-training, and what campaigns on a cluster keep.
const (
	PretrainedFolder = "pretrained"
	CampaignsFolder  = "campaigns"
)

// IDs lists the IDs of all runs, each once, in order; a folder that a claim is just making may be among them.
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
	for id := range s.base {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// checkID keeps an ID from being a path.
func checkID(id string) error {
	for _, c := range id {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '_') {
			return fmt.Errorf("run ID %q: want lower-case letters, digits, - and _", id)
		}
	}
	if id == "" {
		return errors.New("the run ID is empty")
	}
	return nil
}

// ErrBusy is wrapped by the error of a claim on a run that another process is training.
var ErrBusy = lease.ErrBusy

// Owner says who has claimed run id and not given it back, "" if nobody has, and how long ago the last sign of life was. It is for showing
// and for choosing what to do first: only Claim knows.
func (s *Store) Owner(id string) (who string, silent time.Duration) {
	return s.lease.Holder(filepath.Join(s.dir, id))
}

// alive is how old the last sign of life of a training process may be; it gives one every ten seconds.
const alive = 30 * time.Second

// Training says whether a process is training run id now, as far as showing it needs to know.
func (s *Store) Training(id string) bool {
	who, silent := s.Owner(id)
	return who != "" && silent < alive
}
