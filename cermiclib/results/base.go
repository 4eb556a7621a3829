// SPDX-License-Identifier: Apache-2.0

package results

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// pack is a committed record, which is unpacked when somebody asks for it.
type pack struct {
	fsys     fs.FS
	name, id string

	header func() (*Record, error)  // who it is, from the beginning of the file; its end may be damaged
	glance func() (*Summary, error) // likewise, with its last score
	record func() (*Record, error)  // all of it, checked
	note   sync.Once
}

// newPack is the pack in the file <ID>.json.gz at the top of fsys.
func newPack(fsys fs.FS, name string) *pack {
	p := &pack{fsys: fsys, name: name, id: strings.TrimSuffix(name, packSuffix)}
	p.header = sync.OnceValues(func() (*Record, error) {
		s, err := p.peek(false)
		if err != nil {
			return nil, err
		}
		return s.Record, nil
	})
	p.glance = sync.OnceValues(func() (*Summary, error) { return p.peek(true) })
	p.record = sync.OnceValues(p.read)
	return p
}

// read unpacks the file.
func (p *pack) read() (*Record, error) {
	data, err := fs.ReadFile(p.fsys, p.name)
	if err != nil {
		return nil, err
	}
	r, err := Unpack(data)
	if err == nil && r.ID != p.id {
		return nil, fmt.Errorf("it holds run %s: %w", r.ID, ErrDamaged)
	}
	return r, err
}

// inflaters are readers of gzip, whose tables take longer to make than the beginning of a record to read.
var inflaters = sync.Pool{New: func() any { return new(gzip.Reader) }}

// peek reads the beginning of the file: the header, and with scored the scores of the evaluations, which come before the scalars.
func (p *pack) peek(scored bool) (*Summary, error) {
	f, err := p.fsys.Open(p.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z := inflaters.Get().(*gzip.Reader)
	defer inflaters.Put(z)
	if err := z.Reset(f); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", p.name, err, ErrDamaged)
	}
	s, err := readSummary(z, scored)
	if err == nil && s.ID != p.id {
		err = fmt.Errorf("it holds run %s", s.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", p.name, err, ErrDamaged)
	}
	return s, nil
}

// readSummary reads a packed record's JSON as far as it has to.
func readSummary(in io.Reader, scored bool) (*Summary, error) {
	d, s := json.NewDecoder(in), newSummary(&Record{})
	parts := map[string]any{
		"id": &s.ID, "task": &s.Task, "method": &s.Method, "budget": &s.Budget, "seed": &s.Seed, "complete": &s.Complete, "frames": &s.Frames,
		"experiment": &s.Experiment, "host": &s.Host,
	}
	if scored {
		parts["evals"] = &evalScores{s}
	}
	if _, err := d.Token(); err != nil { // the opening brace
		return nil, err
	}
	for len(parts) > 0 && d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		into, ok := parts[name]
		if !ok {
			into = new(json.RawMessage)
		}
		if err := d.Decode(into); err != nil {
			return nil, err
		}
		delete(parts, name)
	}
	return s, nil
}

// evalScores reads evaluations for the score of the last one.
type evalScores struct{ *Summary }

// UnmarshalJSON leaves out what a score does not need.
func (s *evalScores) UnmarshalJSON(data []byte) error {
	var evals []struct {
		Scores json.RawMessage `json:"scores"`
	}
	if err := json.Unmarshal(data, &evals); err != nil || len(evals) == 0 {
		return err
	}
	var scores []float64
	if err := json.Unmarshal(evals[len(evals)-1].Scores, &scores); err != nil {
		return err
	}
	s.Score = meanOf(scores)
	return nil
}

// committed is the record called id of the layers below the folder; nil if there is none, or a damaged one, which is noted once.
func (s *Store) committed(id string) *Record {
	p := s.base[id]
	if p == nil {
		return nil
	}
	r, err := p.record()
	if err != nil {
		p.note.Do(func() { s.Note(fmt.Sprintf("%s: %v", p.name, err)) })
		return nil
	}
	return r
}

// unpack unpacks the committed ones among ids, as many at a time as there are processors.
func (s *Store) unpack(ids []string) {
	parallel(len(ids), func(i int) {
		if p := s.base[ids[i]]; p != nil {
			_, _ = p.record() // it keeps the error for who asks next
		}
	})
}

// parallel does each of 0 to n−1, as many at a time as there are processors.
func parallel(n int, do func(i int)) {
	var wait sync.WaitGroup
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wait.Wait()
}
