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
	"time"

	"cermic/cermiclib/results/lease"
)

// Run is a claimed run: the only writer of its folder. Its methods must not be called at the same time. When one fails, what
// was written before stays readable, and the next Claim goes on from the last checkpoint.
type Run struct {
	dir     string
	note    func(string)
	lease   lease.Options
	rest    time.Duration // as of the Store
	lock    *lease.Lock
	record  *Record
	resume  *Checkpoint
	written time.Time     // when the record was last written
	took    time.Duration // how long that took
}

// Record returns the run so far. It grows with every call of an Append method: read it between calls, do not change it.
func (r *Run) Record() *Record { return r.record }

// Complete says that the run was finished before the claim, or by Finish: there is nothing left to train.
func (r *Run) Complete() bool { return r.record.Complete }

func (r *Run) path(name string) string { return filepath.Join(r.dir, name) }

// LoadCheckpoint returns the checkpoint to go on from; ok is false if the run starts from nothing. The record
// holds exactly what led to it. It may be at the end of the budget, when only Finish was missed. The run lets go of
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
	if err := r.writable(); err != nil {
		return err
	}
	r.record.AddEval(e)
	return r.writeRecord(r.record)
}

// AppendScalars adds the scalars of an iteration that ended at frames. They must be finite: NaN in a loss is a reason to
// stop, not a result. Where iterations are shorter than it takes to write the record, others see several of them at once.
func (r *Run) AppendScalars(frames int, values map[string]float64) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := finite(name, frames, values[name]); err != nil {
			return err
		}
	}
	if err := r.writable(); err != nil {
		return err
	}
	r.record.addScalars(frames, values)
	if time.Since(r.written) < r.rest*r.took {
		return nil
	}
	return r.writeRecord(r.record)
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
	}
	return r.lock.Held()
}

// SaveCheckpoint stores c and the record that led to it, durably. Until it returns the checkpoints before stay in force. A run
// that is interrupted goes on as after its last SaveCheckpoint: what was appended later is dropped, to be done again.
func (r *Run) SaveCheckpoint(c Checkpoint) error {
	if err := r.writable(); err != nil {
		return err
	}
	if c.Frames < r.record.Frames {
		return fmt.Errorf("a checkpoint at %d frames cannot follow what was appended at %d", c.Frames, r.record.Frames)
	}
	at := *r.record
	at.Frames = c.Frames
	r.lease.Step()
	if err := c.write(r.temp(checkpointFile), &at); err != nil {
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
	r.lease.Step()
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
	err := r.lock.Release(r.record != nil && r.record.Complete)
	r.lock, r.resume = nil, nil
	return err
}
