// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// Run is a claimed run: the only writer of its folder. Its methods must not be called at the same time. After an error
// of an Append method nothing more is accepted: what was written before stays readable, and the next Claim goes on from
// the last checkpoint.
type Run struct {
	dir            string
	note           func(string)
	lease          lease
	lock           *lock
	record         *Record
	resume         *Checkpoint
	evals, scalars *os.File
	at             map[string]mark // ends of the files that are open
	failed         error           // of the first write that failed
}

// Record returns the run so far. It grows with every call of an Append method: read it between calls, do not change it.
func (r *Run) Record() *Record { return r.record }

// Complete says that the run was finished before the claim, or by Finish: there is nothing left to train.
func (r *Run) Complete() bool { return r.record.Complete }

func (r *Run) path(name string) string { return filepath.Join(r.dir, name) }

// LoadCheckpoint returns the checkpoint to go on from; ok is false if the run starts from nothing. The record and the
// files hold exactly what led to it. It may be at the end of the budget, when only Finish was missed. The run lets go of
// the tensors, so a second call finds none.
func (r *Run) LoadCheckpoint() (c Checkpoint, ok bool) {
	if r.resume == nil {
		return Checkpoint{}, false
	}
	c, r.resume = *r.resume, nil
	return c, true
}

// AppendEval adds an evaluation, which must come after the last one and have finite numbers.
func (r *Run) AppendEval(e Eval) error {
	if n := len(r.record.Evals); n > 0 && e.Frames <= r.record.Evals[n-1].Frames {
		return fmt.Errorf("an evaluation at %d frames cannot follow one at %d", e.Frames, r.record.Evals[n-1].Frames)
	}
	for _, x := range slices.Concat(append(slices.Collect(maps.Values(e.Groups)), e.Scores, e.Early, e.Sparse, e.Success)...) {
		if err := finite("an episode's score", e.Frames, x); err != nil {
			return err
		}
	}
	if err := r.append(evalsFile, r.evals, e); err != nil {
		return err
	}
	r.record.addEval(e)
	return nil
}

// AppendScalars adds the scalars of an iteration that ended at frames. They must be finite: NaN in a loss is a reason to
// stop, not a result.
func (r *Run) AppendScalars(frames int, values map[string]float64) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := finite(name, frames, values[name]); err != nil {
			return err
		}
	}
	line := scalarLine{frames, values}
	if err := r.append(scalarsFile, r.scalars, line); err != nil {
		return err
	}
	r.record.addScalars(line)
	return nil
}

func finite(name string, frames int, x float64) error {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("%s is %g at %d frames, want a finite number", name, x, frames)
	}
	return nil
}

// writable returns an error if the run must not be written any more.
func (r *Run) writable() error {
	switch {
	case r.record.Complete:
		return fmt.Errorf("run %s is complete", r.record.ID)
	case r.lock == nil:
		return fmt.Errorf("run %s is closed", r.record.ID)
	case r.failed != nil:
		return r.failed
	}
	return r.lock.held()
}

// append writes one line at the end of a file; a line that fails is cut off again.
func (r *Run) append(name string, f *os.File, v any) error {
	if err := r.writable(); err != nil {
		return err
	}
	at := r.at[name]
	line, chain, err := seal(at.chain, v)
	if err != nil {
		return err
	}
	r.lease.step()
	if _, err := f.WriteAt(line, int64(at.bytes)); err != nil {
		_ = f.Truncate(int64(at.bytes)) // if this fails too the torn line stays, and readers drop it
		r.failed = diskError(r.path(name), err)
		return r.failed
	}
	r.at[name] = mark{at.bytes + len(line), chain}
	return nil
}

// SaveCheckpoint stores c and, before it, everything that was appended so far, durably. Until it returns the checkpoints
// before stay in force. A run that is interrupted goes on as after its last SaveCheckpoint: appends that came later are
// cut off, to be done again.
func (r *Run) SaveCheckpoint(c Checkpoint) error {
	if err := r.writable(); err != nil {
		return err
	}
	if c.Frames < r.record.Frames {
		return fmt.Errorf("a checkpoint at %d frames cannot follow what was appended at %d", c.Frames, r.record.Frames)
	}
	if err := r.sync(); err != nil {
		return err
	}
	r.lease.step()
	if err := c.write(r.temp(checkpointFile), r.record.ID, r.at); err != nil {
		return err
	}
	if err := r.rename(r.path(checkpointFile), previousFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(r.temp(checkpointFile))
		return err
	}
	if err := r.publish(checkpointFile); err != nil {
		return err
	}
	r.record.Frames = c.Frames
	return nil
}

// sync makes the appended lines durable.
func (r *Run) sync() error {
	for _, f := range []*os.File{r.evals, r.scalars} {
		if err := f.Sync(); err != nil {
			r.failed = diskError(f.Name(), err) // the system may have dropped what it could not write
			return r.failed
		}
	}
	return nil
}

// Finish makes the run complete at the frames of its last evaluation, scalars or checkpoint, and stores where it was
// trained. Its last checkpoint is kept.
func (r *Run) Finish(host Host) error {
	if err := r.writable(); err != nil {
		return err
	}
	if err := r.sync(); err != nil {
		return err
	}
	if err := r.replaceSealed(hostFile, host); err != nil {
		return err
	}
	files, err := readResultFiles(r.dir)
	if err != nil {
		return err
	}
	end := done{Frames: r.record.Frames, SHA256: map[string]string{}}
	for name, data := range files {
		l := readLines(data)
		if l.bad || l.torn || name != experimentFile && l.marks[len(l.bodies)] != r.at[name] {
			return fmt.Errorf("%s is damaged after line %d; start again to repair it: %w", r.path(name), len(l.bodies), ErrDamaged)
		}
		end.SHA256[name] = digest(data)
	}
	if err := r.replaceSealed(doneFile, end); err != nil {
		return err
	}
	r.record.Complete, r.record.Host = true, host
	r.lease.step()
	if err := os.Remove(r.path(previousFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Close gives the run back; it can be claimed again. A second call does nothing.
func (r *Run) Close() error {
	if r.lock == nil {
		return nil
	}
	var errs []error
	for _, f := range []*os.File{r.evals, r.scalars} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	errs = append(errs, r.lock.release(r.record != nil && r.record.Complete))
	r.lock, r.evals, r.scalars, r.resume = nil, nil, nil, nil
	return errors.Join(errs...)
}
