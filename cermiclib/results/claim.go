// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Claim takes the run called id for training and brings its folder to a state to go on from: what a crash or a full disk
// tore is cut off, what is damaged is set aside under the name *.damaged-N, each with a line to note, and the files are
// cut back to the newest checkpoint that fits them. Without one the run starts from nothing.
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
	r := &Run{dir: filepath.Join(s.dir, id), note: note, lease: s.lease}
	if found, notes, err := readRun(r.dir); err == nil && found.Complete && len(notes) == 0 {
		if err := sameExperiment(found, header.Experiment); err != nil {
			return nil, err
		}
		r.record = found // needs no lock, and may be in a folder that cannot be written
		return r, nil
	}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
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
	w := watch{lease: r.lease}
	for told := false; ; {
		l, holder, err := w.acquire(r.dir)
		if err != nil {
			return err
		}
		if l != nil {
			r.lock = l
			return nil
		}
		if !wait {
			return fmt.Errorf("run %s is being trained by %s: %w", filepath.Base(r.dir), holder, ErrBusy)
		}
		if !told {
			r.note(fmt.Sprintf("waiting for run %s, which %s is training", filepath.Base(r.dir), holder))
			told = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(r.lease.poll):
		}
	}
}

// recover brings the folder, whose lock is held, to a state to go on from.
func (r *Run) recover(want Record) error {
	if err := r.removeTemps(); err != nil {
		return err
	}
	if err := r.recoverHeader(want); err != nil {
		return err
	}
	complete, err := r.checkDone()
	if err != nil || complete {
		return err
	}
	if err := r.replaceSealed(hostFile, want.Host); err != nil {
		return err
	}
	r.record.Host = want.Host
	return r.rewind()
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
		r.lease.step()
		if err := os.Remove(r.path(e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// recoverHeader reads experiment.json, or writes it if it is missing or damaged.
func (r *Run) recoverHeader(want Record) error {
	found, err := readHeader(r.dir)
	if errors.Is(err, ErrDamaged) {
		if err := r.setAside(experimentFile, err.Error()); err != nil {
			return err
		}
		err = fs.ErrNotExist
	}
	if errors.Is(err, fs.ErrNotExist) {
		h := header{want.ID, want.Task, want.Method, want.Budget, want.Seed, want.Experiment}
		if err := r.replaceSealed(experimentFile, h); err != nil {
			return err
		}
		found, err = readHeader(r.dir)
	}
	if err != nil {
		return err
	}
	r.record = found
	return sameExperiment(found, want.Experiment)
}

// sameExperiment guards against an ID that is no hash of the experiment.
func sameExperiment(found *Record, experiment []byte) error {
	if !bytes.Equal(found.Experiment, experiment) {
		return fmt.Errorf("run %s in the store is another experiment than the one given; the ID must be its hash", found.ID)
	}
	return nil
}

// checkDone says whether the run is complete and undamaged, and then takes its record. A complete run that is damaged
// becomes a partial one.
func (r *Run) checkDone() (complete bool, err error) {
	record, notes, err := readRun(r.dir)
	if errors.Is(err, ErrDamaged) {
		return false, r.setAside(doneFile, err.Error())
	}
	if err != nil || !record.Complete {
		return false, err
	}
	r.record = record
	for _, n := range notes { // with the result intact, they are about host.json
		if err := r.setAside(hostFile, n); err != nil {
			return false, err
		}
	}
	return true, nil
}

// rewind cuts the files back to the newest checkpoint that fits them and reads what remains.
func (r *Run) rewind() error {
	found := map[string]lines{}
	for _, name := range resultFiles[1:] {
		data, err := ReadFile(r.path(name), maxFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		found[name] = readLines(data)
		if found[name].torn {
			r.note(fmt.Sprintf("the last line of %s was cut off and is done again", r.path(name)))
		}
		if found[name].bad {
			// The good lines stay in place; the copy keeps all of it for whoever wants to look.
			if err := r.keepCopy(name, data, len(found[name].bodies)); err != nil {
				return err
			}
		}
	}
	if err := r.pickCheckpoint(found); err != nil {
		return err
	}
	for _, name := range resultFiles[1:] {
		if err := r.reopen(name, found[name]); err != nil {
			return err
		}
	}
	return nil
}

// pickCheckpoint chooses the newest checkpoint that is whole and belongs to lines that are, sets the others aside, and
// notes the places in the files to go on from.
func (r *Run) pickCheckpoint(found map[string]lines) error {
	r.at = atStart()
	for _, name := range []string{checkpointFile, previousFile} {
		c, at, err := readCheckpoint(r.path(name), r.record.ID)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = r.locate(at, found)
		}
		if err == nil {
			r.resume, r.record.Frames = &c, c.Frames
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
	r.at = atStart()
	return nil
}

// atStart are the places before the first line of every file.
func atStart() map[string]mark {
	at := map[string]mark{}
	for _, name := range resultFiles[1:] {
		at[name] = mark{}
	}
	return at
}

// locate finds the places that a checkpoint belongs to among the good lines.
func (r *Run) locate(at map[string]string, found map[string]lines) error {
	for _, name := range resultFiles[1:] {
		fits := false
		for _, m := range found[name].marks {
			if m.String() == at[name] {
				r.at[name], fits = m, true
			}
		}
		if !fits {
			return fmt.Errorf("%s lacks lines that led to it", name)
		}
	}
	return nil
}

// reopen takes what a file of lines holds up to its place into the record and puts a new file with just that in its place, open
// for appending.
func (r *Run) reopen(name string, l lines) error {
	for i, m := range l.marks {
		if m == r.at[name] {
			if err := r.record.add(name, l.bodies[:i]); err != nil {
				return fmt.Errorf("%s: %w", r.path(name), err)
			}
		}
	}
	f, err := r.anew(name, l.data[:r.at[name].bytes])
	if name == evalsFile {
		r.evals = f
	} else {
		r.scalars = f
	}
	return err
}

// setAside renames a file that cannot be used and says why.
func (r *Run) setAside(name, why string) error {
	aside, err := r.aside(r.path(name), name)
	if errors.Is(err, fs.ErrNotExist) {
		r.note(why)
		return nil
	}
	if err != nil {
		return err
	}
	r.note(fmt.Sprintf("%s; set aside as %s", why, aside))
	return nil
}

// keepCopy sets a copy of a damaged file of lines aside.
func (r *Run) keepCopy(name string, data []byte, good int) error {
	err := r.write(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	aside, err := r.aside(r.temp(name), name)
	if err != nil {
		return err
	}
	r.note(fmt.Sprintf("%s is damaged after line %d; set aside as %s", r.path(name), good, aside))
	return nil
}
