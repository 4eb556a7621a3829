// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cermic/cermiclib/results/lease"
)

// Claim takes the run called id for training and brings its folder to a state to go on from: what is damaged is set aside
// under the name *.damaged-N, with a line to note, and the record is the one that led to the newest whole checkpoint.
// Without one the run starts from nothing.
//
// experiment is the canonical JSON whose hash id is; of header, Task, Method, Budget, Seed and Host are used, and only
// the first claim's are kept (but for Host). If another process trains the run, Claim waits until it stops or, without
// wait, returns an error that names it and wraps ErrBusy. The returned run may be Complete: then there is nothing to do.
// Close it in any case.
func (s *Store) Claim(ctx context.Context, id string, experiment []byte, header Record, wait bool, note func(string)) (*Run, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	if note == nil {
		note = s.Note
	}
	var text bytes.Buffer
	if err := json.Compact(&text, experiment); err != nil {
		return nil, fmt.Errorf("the experiment of run %s is not JSON: %w", id, err)
	}
	header.ID, header.Experiment = id, text.Bytes()
	r := &Run{dir: filepath.Join(s.dir, id), note: note, lease: s.lease, rest: s.rest}
	if found, err := readRun(r.dir); err == nil && found.Complete {
		if err := sameExperiment(found, header.Experiment); err != nil {
			return nil, err
		}
		r.record = found // needs no lock, and may be in a folder that cannot be written
		return r, nil
	}
	if err := os.MkdirAll(r.dir, 0o777); err != nil {
		return nil, diskError(r.dir, err)
	}
	if err := r.lockUp(ctx, wait); err != nil {
		return nil, err
	}
	if err := r.recover(header); err != nil {
		return nil, errors.Join(fmt.Errorf("run %s: %w", id, err), r.Close())
	}
	return r, nil
}

// lockUp takes the run's lock, waiting for it if asked to.
func (r *Run) lockUp(ctx context.Context, wait bool) error {
	w := lease.Watcher{Options: r.lease}
	for noted := false; ; {
		l, holder, err := w.Acquire(r.dir)
		if err != nil {
			return diskError(r.dir, err)
		}
		if l != nil {
			r.lock = l
			return nil
		}
		if !wait {
			return fmt.Errorf("run %s is being trained by %s: %w", filepath.Base(r.dir), holder, ErrBusy)
		}
		if !noted {
			r.note(fmt.Sprintf("waiting for run %s, which %s is training", filepath.Base(r.dir), holder))
			noted = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(r.lease.Poll):
		}
	}
}

// recover brings the folder, whose lock is held, to a state to go on from.
func (r *Run) recover(want Record) error {
	if err := r.removeTemps(); err != nil {
		return err
	}
	r.record = &Record{ID: want.ID, Task: want.Task, Method: want.Method, Budget: want.Budget, Seed: want.Seed, Experiment: want.Experiment,
		Scalars: map[string]Points{}}
	found, err := readRun(r.dir)
	switch {
	case errors.Is(err, ErrDamaged):
		err = r.setAside(recordFile, err.Error())
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err == nil && found.Complete:
		r.record = found
		return sameExperiment(found, want.Experiment)
	case err == nil:
		r.record = found.head()
		r.record.Frames = 0
	}
	if err == nil {
		err = r.pickCheckpoint()
	}
	if err == nil {
		err = sameExperiment(r.record, want.Experiment)
	}
	if err != nil {
		return err
	}
	r.record.Host = want.Host
	return r.writeRecord(r.record)
}

// removeTemps deletes the unfinished files of an interrupted write, and of an owner before this one that only seemed gone: what
// it has not given its real name by now will never get it.
func (r *Run) removeTemps() error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), tempSuffix) {
			continue
		}
		r.lease.Step()
		if err := os.Remove(r.path(e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// sameExperiment guards against an ID that is no hash of the experiment.
func sameExperiment(found *Record, experiment []byte) error {
	if !bytes.Equal(found.Experiment, experiment) {
		return fmt.Errorf("run %s in the store is another experiment than the one given; the ID must be its hash", found.ID)
	}
	return nil
}

// pickCheckpoint chooses the newest checkpoint that is whole, takes the record that led to it and sets the others aside.
func (r *Run) pickCheckpoint() error {
	for _, name := range []string{checkpointFile, previousFile} {
		c, text, err := readCheckpoint(r.path(name), r.record.ID)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var record *Record
		if err == nil {
			record, err = decode([]byte(text))
		}
		if err == nil {
			r.resume, r.record = &c, record
			if name == previousFile {
				r.note(fmt.Sprintf("run %s goes on from its checkpoint before last, at %d frames", r.record.ID, c.Frames))
				return r.rename(r.path(previousFile), checkpointFile)
			}
			return nil
		}
		if err := r.setAside(name, fmt.Sprintf("%s cannot be used: %v", r.path(name), err)); err != nil {
			return err
		}
	}
	return nil
}
