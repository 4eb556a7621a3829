// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"io/fs"
	"math"
	"slices"
)

// Summary is a run at a glance: who it is, where it was trained and how it ended. Evals and Scalars of its Record are empty.
type Summary struct {
	*Record
	Score float64 // of the last evaluation, NaN before the first
}

func newSummary(r *Record) *Summary { return &Summary{Record: r, Score: math.NaN()} }

// summarise leaves out what the run found but for the last score.
func summarise(r *Record) *Summary {
	short := *r
	short.Evals, short.Scalars = nil, nil
	return &Summary{Record: &short, Score: r.Score()}
}

// Summaries returns the runs that q selects, in the order of Find, without reading what they found: of committed records the beginning,
// of complete runs what the store's index holds of them. The index is a file of the store's folder that is made and mended on reading; it
// is believed of a run as long as the run's files are as they were, and nothing but Summaries believes it. A damaged end of a record is
// therefore for Get and Find to report. The summaries are shared: do not change them.
func (s *Store) Summaries(q Query) ([]*Summary, error) {
	ids, err := s.ids(q)
	if err != nil {
		return nil, err
	}
	type outcome struct {
		*Summary
		notes []string
		err   error
	}
	index, all := s.readIndex(), make([]outcome, len(ids))
	parallel(len(ids), func(i int) {
		o := &all[i]
		o.Summary, o.notes, o.err = s.summary(ids[i], index)
	})
	var found []*Summary
	for _, o := range all {
		for _, note := range o.notes {
			s.Note(note)
		}
		switch {
		case o.err == nil && q.matches(o.Record) && (o.Complete || !q.Complete):
			found = append(found, o.Summary)
		case errors.Is(o.err, ErrDamaged):
			s.Note(o.err.Error())
		case o.err != nil && !errors.Is(o.err, fs.ErrNotExist):
			return nil, o.err
		}
	}
	if len(q.IDs) == 0 {
		s.writeIndex(index)
	}
	slices.SortFunc(found, func(a, b *Summary) int { return inOrder(a.Record, b.Record) })
	return found, nil
}

// summary is one of them; see Get for which of a folder and a committed record counts.
func (s *Store) summary(id string, index *index) (one *Summary, notes []string, err error) {
	one, notes, err = s.folderSummary(id, index)
	base := s.base[id]
	if base == nil || err == nil && one.Complete {
		return one, notes, err
	}
	if errors.Is(err, ErrDamaged) {
		notes = append(notes, err.Error())
	}
	committed, fault := s.packSummary(base, index)
	switch {
	case fault == nil:
		return committed, notes, nil
	case err == nil: // a partial run above a damaged record
		return one, append(notes, fault.Error()), nil
	}
	return nil, notes, fault
}
