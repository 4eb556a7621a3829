// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// saveEvery is the time between two checkpoints on disk, which a kill can cost. A stop costs the running iteration
// alone.
var saveEvery = 10 * time.Second

// patience is how long a stop waits for a graph call or a compilation.
var patience = time.Second

// Run returns the stored record of e if it is complete; otherwise it trains or resumes e. It waits for another process
// that trains e, with a note. When ctx is cancelled it saves and returns the partial record, nil before the first
// iteration, with ctx's error; the same call later resumes. watch gets an event after every iteration. Events come one
// at a time, none after Run has returned.
//
// An experiment that cannot be built leaves nothing in the store. If a loss, reward or score becomes NaN or infinite,
// the run ends with an error. It is saved at the start of that iteration, and the same call repeats the iteration.
func Run(ctx context.Context, e Config, st *results.Store, watch ...func(results.Event)) (*results.Record, error) {
	return start(ctx, e, st, true, watch...)
}

// start is Run if wait is true. Otherwise it does not wait for a run that another process trains, and returns an error
// that wraps results.ErrBusy.
func start(
	ctx context.Context, e Config, st *results.Store, wait bool, watch ...func(results.Event),
) (_ *results.Record, err error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	header, err := e.header()
	if err != nil {
		return nil, err
	}
	id := header.ID
	s := session{exp: e, header: header, store: st, watch: watch, began: time.Now(), sources: sourcesHash()}
	if found, err := st.Get(id); err == nil && found.Complete { // Claim names and repairs a damaged one
		current := *found // which others read
		current.Method = cmp.Or(e.Method, found.Method)
		s.emitStored(&current)
		return &current, nil
	}
	if who := st.Owner(id); who != "" && !wait { // checked early, to save the compilation
		return nil, fmt.Errorf("run %s is being trained by %s: %w", id, who, results.ErrBusy)
	}
	defer func() {
		if err != nil && ctx.Err() != nil && s.snapshot.Tensors == nil { // else it has been reported
			s.emitState("stopped")
		}
		s.end()
	}()
	s.emitState("compiling")
	if err := s.build(ctx); err != nil {
		return nil, err
	}
	asked := time.Now()
	if s.claim, err = st.Claim(ctx, header, wait, s.note); err != nil {
		return nil, err
	}
	s.began = s.began.Add(time.Since(asked)) // without the time spent waiting for another process
	if s.claim.Record().Complete {
		s.emitStored(s.claim.Record())
	} else {
		err = s.train(ctx)
	}
	return s.claim.Record(), cmp.Or(err, s.claim.Close())
}

// session is one process's share of a run.
type session struct {
	exp      Config
	header   results.Record // of exp, without results
	claim    *results.Run
	trainer  *trainer
	backend  nn.Backend
	store    *results.Store
	watch    []func(results.Event)
	watching sync.Mutex         // guards over and calls of watch
	over     bool               // nothing is watched any more
	left     <-chan error       // ends the stage that a stop has left behind; nil if there is none
	snapshot results.Checkpoint // at the start of the iteration
	saved    time.Time
	began    time.Time
	before   float64 // seconds trained by earlier sessions
	sources  string  // what results.Host.Sources will be
}

func (s *session) emit(e results.Event) {
	s.watching.Lock()
	defer s.watching.Unlock()
	if s.over {
		return
	}
	for _, w := range s.watch {
		w(e)
	}
}

func (s *session) note(line string) { s.emit(results.Event{Note: line}) }

// emitState reports the state of a run that is not claimed, with the stored results.
func (s *session) emitState(state string) {
	r, err := s.store.Get(s.header.ID)
	if err != nil {
		r = &s.header
	}
	s.emit(results.Event{Record: r, Frames: r.Frames, Total: s.exp.Budget.Frames, State: state})
}

func (s *session) emitStored(r *results.Record) {
	s.emit(results.Event{Record: r, Frames: r.Frames, Total: r.Frames, FromStore: true})
}

func (s *session) build(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.patiently(ctx, func() (err error) {
		if s.backend, err = nn.Open(); err != nil {
			return err
		}
		s.note(cmp.Or(s.backend.Note, "backend "+s.backend.Label))
		s.trainer, err = newTrainer(s.exp, s.backend, s.store.Dir())
		return err
	})
}

// patiently runs one stage of the work. A graph call or a compilation does not look at ctx. So after a stop and a
// moment, patiently returns and the stage ends by itself.
func (s *session) patiently(ctx context.Context, stage func() error) error {
	done := make(chan error, 1)
	go func() { done <- stage() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		s.left = done
		return ctx.Err()
	}
}

// end ends the watch and frees the graphs.
func (s *session) end() {
	s.watching.Lock()
	s.over = true
	s.watching.Unlock()
	s.release()
}

// release frees the graphs once no stage runs on them any more.
func (s *session) release() {
	if s.left != nil {
		left := s.left
		s.left = nil
		go func() {
			<-left
			s.release()
		}()
	} else if s.trainer != nil {
		s.trainer.close()
	}
}

// begin brings the trainer to the last checkpoint, or to where the run branches off.
func (s *session) begin(ctx context.Context) (err error) {
	if c, ok := s.claim.LoadCheckpoint(); ok {
		if s.before, err = s.trainer.restore(ctx, c); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			return errUnfit(s.claim.Record().ID, err)
		}
		if c.Meta[metaSources] != s.sources {
			s.sources = results.SeveralSources
		}
		s.note(fmt.Sprintf("going on at %d frames", s.trainer.frames))
	} else if len(s.exp.Forks) > 0 {
		return s.patiently(ctx, func() error { return s.branchOff(ctx) }) // train then saves at once: the parent may move on
	}
	s.saved = time.Now()
	return nil
}

func (s *session) train(ctx context.Context) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	for first := true; ; first = false {
		if err := s.capture(); err != nil {
			return err
		}
		over := s.trainer.frames >= s.exp.Budget.Frames
		if over || time.Since(s.saved) > saveEvery {
			if err := s.save(); err != nil {
				return err
			}
		}
		if over {
			return s.claim.Finish(s.host())
		}
		// A new one each time, since a stage that was left behind may still write into it.
		done := iteration{start: time.Now()}
		if err := s.patiently(ctx, func() (err error) {
			done.scalars, err = s.trainer.collect(ctx)
			return err
		}); err != nil {
			return s.stopped(ctx, err)
		}
		if first { // the update takes longer, and a page waits to see what a control has changed
			at := s.trainer.frames
			s.emit(s.event(at, 0, results.Event{State: "updating", Visits: s.trainer.visited.snapshot(at)}))
		}
		if err := s.patiently(ctx, func() error { return s.iterate(ctx, &done) }); err != nil {
			return s.stopped(ctx, err)
		}
		if err := s.write(&done); err != nil {
			return err
		}
	}
}

func (s *session) seconds() float64 { return s.before + time.Since(s.began).Seconds() }

// host describes where the run was trained, for how long, and whether a commit has the sources that trained it.
func (s *session) host() results.Host {
	h := results.CollectHost(s.backend.Label)
	h.Seconds, h.Sources = s.seconds(), s.sources
	unknown := s.sources == "" || s.sources == results.SeveralSources
	if committed, err := SourcesOf(h.Commit); err == nil || unknown {
		h.Dirty = unknown || committed != s.sources
	}
	return h
}

const metaSources = "sources"

// capture takes the snapshot to resume from, which a program with other sources may read.
func (s *session) capture() (err error) {
	if s.snapshot, err = s.trainer.checkpoint(s.seconds()); err == nil {
		s.snapshot.Meta[metaSources] = s.sources
	}
	return err
}

func (s *session) save() error {
	err := s.claim.SaveCheckpoint(s.snapshot)
	s.saved = time.Now()
	return err
}

type iteration struct {
	start   time.Time
	scalars rl.Scalars
	eval    *results.Eval // nil if none was due
	film    film          // of its first episode
	fps     float64       // frames per second without evaluations; the time left follows from it
}

// iterate updates on the collected rollout batch, and evaluates if that is due.
func (s *session) iterate(ctx context.Context, out *iteration) (err error) {
	before := s.trainer.frames
	if out.scalars, err = s.trainer.learn(ctx, out.scalars); err != nil {
		return err
	}
	out.fps = float64(s.trainer.frames-before) / time.Since(out.start).Seconds()
	if s.due(before, s.trainer.frames) {
		var watch []watcher // of a run that somebody follows
		if len(s.watch) > 0 {
			watch = append(watch, out.film.watch)
		}
		out.eval, err = s.trainer.evaluate(ctx, watch...)
	}
	return err
}

// write appends a finished iteration to the files. So these always match the snapshot at its start or the one at its
// end.
func (s *session) write(done *iteration) error {
	at := s.trainer.frames
	if err := s.claim.AppendScalars(at, done.scalars); err != nil {
		return err
	}
	s.emit(s.event(at, done.fps, results.Event{Scalars: done.scalars, Visits: s.trainer.visited.snapshot(at)}))
	if done.eval == nil {
		return nil
	}
	if err := s.claim.AppendEval(*done.eval); err != nil {
		return err
	}
	s.emit(s.event(at, done.fps, results.Event{Eval: done.eval, Scenes: done.film.scenes}))
	return nil
}

// due reports whether an evaluation belongs between before and frames: after the first rollout batch, at every multiple
// of the cadence, and at the end.
func (s *session) due(before, frames int) bool {
	every := s.exp.Budget.EvalEvery
	return before == 0 || frames/every > before/every || frames >= s.exp.Budget.Frames
}

func (s *session) event(frames int, fps float64, e results.Event) results.Event {
	e.Record, e.Frames, e.Total, e.FPS = s.claim.Record(), frames, s.exp.Budget.Frames, fps
	e.Metric = s.trainer.spec.Metric
	if fps > 0 {
		e.ETA = float64(max(0, e.Total-e.Frames)) / fps
	}
	return e
}

// stopped saves the state at the start of the interrupted iteration, and returns an error that explains how to resume.
func (s *session) stopped(ctx context.Context, err error) error {
	id, at := s.claim.Record().ID, s.snapshot.Frames
	if saving := s.save(); saving != nil {
		return fmt.Errorf("run %s stopped: %v; its state at %d frames could not be saved: %w", id, err, at, saving)
	}
	if ctx.Err() != nil {
		s.emit(s.event(at, 0, results.Event{State: "stopped"}))
		return ctx.Err()
	}
	return fmt.Errorf("run %s stopped: %w; its last checkpoint is at %d frames, where the same command tries again",
		id, err, at)
}

// header is a record without results. Parts that the experiment lacks leave it incomplete.
func (e Config) header() (results.Record, error) {
	r := results.Record{Method: e.Label(), Budget: e.Budget.Name, Seed: e.Seed}
	if e.Task != nil {
		r.Task = e.Task.Kind()
	}
	id, err := e.ID()
	text, failed := conf.Marshal(e)
	r.ID, r.Experiment = id, text
	return r, cmp.Or(err, failed)
}
