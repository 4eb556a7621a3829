// SPDX-License-Identifier: Apache-2.0

package results

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// The files of a run's folder, beside the lock. A run ends with the same record byte for byte, except for the host,
// after any number of interruptions.
const (
	recordFile     = "record.json"
	checkpointFile = "checkpoint.safetensors"
)

// Run is a claimed run: the only writer of its folder. Its methods must not be called at the same time. When one fails,
// earlier writes stay readable, and the next Claim resumes from the last checkpoint.
type Run struct {
	dir    string
	note   func(string)
	lock   *flock.Flock // nil if the run is closed
	record *Record
	resume *Checkpoint
}

// Claim takes the run of header for training. It renames damaged files to *.damaged-N, with a line to note, and resumes
// the record of the checkpoint. Without an intact checkpoint the run starts from nothing, as header: a record without
// results, whose ID is the hash of its Experiment. If another process trains the run, Claim waits or, without wait,
// returns an error that names it and wraps ErrBusy. The run may be complete. Close it in any case.
func (s *Store) Claim(ctx context.Context, header Record, wait bool, note func(string)) (*Run, error) {
	if err := checkID(header.ID); err != nil {
		return nil, err
	}
	if note == nil {
		note = s.Note
	}
	header.Scalars = map[string]Points{}
	r := &Run{dir: filepath.Join(s.dir, header.ID), note: note, record: &header}
	err := os.MkdirAll(r.dir, 0o777)
	if err != nil {
		return nil, err
	}
	if r.lock, err = acquire(ctx, r.dir, wait, note); err != nil {
		return nil, err
	}
	if err := r.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("run %s: %w", header.ID, err), r.Close())
	}
	return r, nil
}

// recover prepares the folder, whose lock is held, for training.
func (r *Run) recover() error {
	if err := removeTemps(r.dir); err != nil {
		return err
	}
	host := r.record.Host
	found, err := readRun(r.dir, true)
	switch {
	case errors.Is(err, ErrDamaged):
		if err := r.setAside(recordFile, err.Error()); err != nil {
			return err
		}
	case err == nil && found.Complete:
		r.record = found
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	c, record, err := readCheckpoint(r.path(checkpointFile), r.record.ID)
	switch {
	case err == nil:
		r.resume, r.record = &c, record
	case !errors.Is(err, fs.ErrNotExist):
		if err := r.setAside(checkpointFile, fmt.Sprintf("%s cannot be used: %v", r.path(checkpointFile), err)); err != nil {
			return err
		}
	}
	r.record.Host = host
	return r.writeRecord(r.record)
}

// setAside renames a damaged file to the first free name.damaged-N and notes why.
func (r *Run) setAside(name, why string) error {
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.damaged-%d", name, n)
		if _, err := os.Lstat(r.path(aside)); err == nil {
			continue
		}
		r.note(fmt.Sprintf("%s; set aside as %s", why, aside))
		return os.Rename(r.path(name), r.path(aside))
	}
}

// Record returns the run so far, Complete if there is nothing left to train. Append methods extend it: read it between
// calls, do not change it.
func (r *Run) Record() *Record { return r.record }

func (r *Run) path(name string) string { return filepath.Join(r.dir, name) }

// LoadCheckpoint returns the checkpoint to resume from, perhaps at the end of the budget; ok is false if the run starts
// from nothing. Record holds the record that led to it. A second call finds none, so that the tensors can be freed.
func (r *Run) LoadCheckpoint() (c Checkpoint, ok bool) {
	if r.resume == nil {
		return Checkpoint{}, false
	}
	c, r.resume = *r.resume, nil
	return c, true
}

// AppendEval adds an evaluation after the last one. Its numbers must be finite: JSON has no others.
func (r *Run) AppendEval(e Eval) error {
	if err := r.writable(); err != nil {
		return err
	}
	r.record.AddEval(e)
	return r.writeRecord(r.record)
}

// AppendScalars adds the scalars of an iteration that ended at frames. They must be finite: JSON has no other numbers.
// The next evaluation or checkpoint writes them.
func (r *Run) AppendScalars(frames int, values map[string]float64) error {
	if err := r.writable(); err != nil {
		return err
	}
	for name, value := range values {
		r.record.Scalars[name] = append(r.record.Scalars[name], Point{frames, value})
	}
	r.record.Frames = max(r.record.Frames, frames)
	return nil
}

// writable returns an error if the run must not be written any more.
func (r *Run) writable() error {
	if r.lock == nil || r.record.Complete {
		return fmt.Errorf("run %s is complete or closed", r.record.ID)
	}
	if !held(r.lock) {
		return fmt.Errorf("%s was deleted while the run was trained; start it again: %w", r.dir, ErrBusy)
	}
	return nil
}

func (r *Run) writeRecord(record *Record) error {
	data, err := seal(record)
	if err != nil {
		return err
	}
	return WriteFile(r.path(recordFile), data)
}

// SaveCheckpoint replaces the checkpoint by c and the record that led to it, atomically and durably. An interrupted run
// resumes from it and repeats later iterations.
func (r *Run) SaveCheckpoint(c Checkpoint) error {
	if err := r.writable(); err != nil {
		return err
	}
	at := *r.record
	at.Frames = c.Frames
	if err := replace(r.path(checkpointFile), func(w io.Writer) error { return c.write(w, &at) }); err != nil {
		return err
	}
	r.record.Frames = c.Frames
	return r.writeRecord(r.record)
}

// Finish makes the run complete at the frames of its last evaluation, scalars or checkpoint, and stores where it was
// trained. Its last checkpoint is kept.
func (r *Run) Finish(host Host) error {
	if err := r.writable(); err != nil {
		return err
	}
	end := *r.record
	end.Complete, end.Host = true, host
	if err := r.writeRecord(&end); err != nil {
		return err
	}
	*r.record = end
	return nil
}

// Close releases the run, which can then be claimed again. A second call does nothing.
func (r *Run) Close() error {
	if r.lock == nil {
		return nil
	}
	if r.record.Complete && held(r.lock) {
		_ = os.Remove(r.lock.Path()) // tidies up; the next claim needs no lock
	}
	err := r.lock.Unlock()
	r.lock, r.resume = nil, nil
	if alone {
		return nil
	}
	return err
}
