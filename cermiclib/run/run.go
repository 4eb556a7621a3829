// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cermic/cermiclib/conf"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
)

// saveEvery is the time between two checkpoints on disk. A kill costs at most this and the iteration it hits; a stop costs
// nothing, because the state at the start of every iteration is kept in memory.
const saveEvery = 10 * time.Second

// Run returns the stored record of e if one is complete, else it trains e, or goes on training it, and returns the new one.
// If another process trains it, Run waits and says so. When ctx is cancelled it saves and returns the partial record with
// ctx's error; the same call later goes on. watch is called from this goroutine after every iteration.
func Run(ctx context.Context, e Experiment, st *results.Store, watch ...func(results.Event)) (*results.Record, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	id, err := e.ID()
	if err != nil {
		return nil, err
	}
	text, err := conf.Marshal(e)
	if err != nil {
		return nil, err
	}
	s := session{exp: e, watch: watch, began: time.Now()}
	if found, err := st.Get(id); err == nil && found.Complete {
		s.tell(results.Event{Record: found, Frames: found.Frames, Total: found.Frames, FromStore: true})
		return found, nil
	}
	header := results.Record{Task: e.Task.Kind(), Method: e.Label(), Budget: e.Budget.Name, Seed: e.Seed}
	note := func(line string) { s.tell(results.Event{Note: line}) }
	if s.claim, err = st.Claim(ctx, id, text, header, true, note); err != nil {
		return nil, err
	}
	defer s.claim.Close()
	if s.claim.Complete() {
		s.tell(results.Event{Record: s.claim.Record(), Frames: s.claim.Record().Frames, Total: s.claim.Record().Frames, FromStore: true})
		return s.claim.Record(), nil
	}
	err = s.train(ctx)
	return s.claim.Record(), errors.Join(err, s.claim.Close())
}

// session is one process's share of a run.
type session struct {
	exp      Experiment
	claim    *results.Run
	trainer  *trainer
	backend  nn.Backend
	watch    []func(results.Event)
	snapshot results.Checkpoint // at the start of the iteration
	saved    time.Time
	began    time.Time
	before   float64 // seconds trained by earlier sessions
	last     float64 // frames a second of the last iteration
}

func (s *session) tell(e results.Event) {
	for _, w := range s.watch {
		w(e)
	}
}

// train runs iterations until the budget is spent.
func (s *session) train(ctx context.Context) (err error) {
	if s.backend, err = nn.Open(); err != nil {
		return err
	}
	note := "backend " + s.backend.Label
	if s.backend.Note != "" {
		note = s.backend.Note
	}
	s.tell(results.Event{Note: note})
	if s.trainer, err = newTrainer(s.exp, s.backend); err != nil {
		return err
	}
	if c, ok := s.claim.LoadCheckpoint(); ok {
		if err = s.trainer.remember(ctx, c); err == nil {
			s.before, err = s.trainer.restore(c)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("the checkpoint of run %s does not fit this program (%w); remove that run's folder to train it anew", s.claim.Record().ID, err)
		}
		s.tell(results.Event{Note: fmt.Sprintf("going on at %d frames", s.trainer.frames)})
	}
	s.saved = time.Now()
	for s.trainer.frames < s.exp.Budget.Frames {
		if s.snapshot, err = s.trainer.checkpoint(s.seconds()); err != nil {
			return err
		}
		if time.Since(s.saved) > saveEvery {
			if err := s.save(); err != nil {
				return err
			}
		}
		if err := s.iterate(ctx); err != nil {
			return s.stopped(ctx, err)
		}
	}
	if s.snapshot, err = s.trainer.checkpoint(s.seconds()); err != nil {
		return err
	}
	if err := s.save(); err != nil {
		return err
	}
	return s.claim.Finish(s.host())
}

func (s *session) seconds() float64 { return s.before + time.Since(s.began).Seconds() }

// host says where the run was trained and for how long.
func (s *session) host() results.Host {
	h := results.CollectHost(s.backend.Label)
	h.Seconds = s.seconds()
	return h
}

func (s *session) save() error {
	s.saved = time.Now()
	return s.claim.SaveCheckpoint(s.snapshot)
}

// iterate trains one iteration, evaluates on cadence, and writes both down only when both are finished: the snapshot at
// the iteration's start is then always in step with the files.
func (s *session) iterate(ctx context.Context) error {
	start, before := time.Now(), s.trainer.frames
	scalars, err := s.trainer.iterate(ctx)
	if err != nil {
		return err
	}
	frames := s.trainer.frames
	s.last = float64(frames-before) / time.Since(start).Seconds()
	var eval *results.Eval
	if s.due(before, frames) {
		if eval, err = s.trainer.evaluate(ctx, nil); err != nil {
			return err
		}
	}
	if err := s.claim.AppendScalars(frames, scalars); err != nil {
		return err
	}
	s.tell(s.event(results.Event{Scalars: scalars}))
	if eval == nil {
		return nil
	}
	if err := s.claim.AppendEval(*eval); err != nil {
		return err
	}
	s.tell(s.event(results.Event{Eval: eval}))
	return nil
}

// due says whether an evaluation belongs between before and frames: after the first collection, at every multiple of the
// cadence, and at the end.
func (s *session) due(before, frames int) bool {
	every := s.exp.Budget.EvalEvery
	return before == 0 || frames/every > before/every || frames >= s.exp.Budget.Frames
}

func (s *session) event(e results.Event) results.Event {
	e.Record, e.Frames, e.Total, e.FPS = s.claim.Record(), s.trainer.frames, s.exp.Budget.Frames, s.last
	if s.last > 0 {
		e.ETA = float64(max(0, e.Total-e.Frames)) / s.last
	}
	return e
}

// stopped saves where the interrupted iteration began, and turns its error into one that says how to go on.
func (s *session) stopped(ctx context.Context, err error) error {
	id, at := s.claim.Record().ID, s.snapshot.Frames
	if ctx.Err() != nil {
		if err := s.save(); err != nil {
			return err
		}
		return ctx.Err()
	}
	if serr := s.save(); serr != nil {
		return errors.Join(err, serr)
	}
	return fmt.Errorf("run %s stopped: %w; its last checkpoint is at %d frames", id, err, at)
}
