// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
)

// Train is experiment.Run for a cell that survives its page: once the page is closed or loaded again, within five seconds, the training is
// left to a process of its own and the cell ends, so that the kernel is free. The same cell, run again, follows what is trained there. The stop button
// saves and ends either; a kernel that ends saves and leaves nothing behind but what was left before.
func Train(ctx context.Context, e experiment.Config, st *results.Store, watch ...func(results.Event)) (*results.Record, error) {
	s := thisCell(ctx, st, func(ctx context.Context) *page {
		if !gonbui.IsNotebook || Headless() {
			return nil
		}
		anchor := newBlock()
		anchor.put(content{protocol.MIMETextHTML: fmt.Sprintf(`<span id="%s"></span>`, anchor.id), protocol.MIMETextPlain: ""})
		return openPage(ctx, anchor.id)
	})
	round, cancel := s.round(ctx)
	defer cancel()
	r, err := s.train(round, e, watch...)
	s.leaveIf(e, nil, r)
	return r, err
}

// Train trains what the controls ask for, and something else whenever one was moved: where a run is in the middle of its training and
// the settings can change within it, a branch of it; see plan.Turn. It ends with the stop button. The page is watched as by the function Train.
func (c *Controls) Train(ctx context.Context, st *results.Store, ask func() experiment.Config, watch ...func(results.Event)) {
	l := leftHere(st)
	mine := isLeft()
	if mine != nil {
		l = mine
	}
	goesOn := mine != nil || l.read() == nil && l.process() != nil
	if goesOn {
		c.take(l.Settings)
	}
	now := ask()
	if goesOn {
		now = Must(l.experiment())
	}
	s := thisCell(ctx, st, c.connect)
	var last *results.Record
	stored := false
	tell := func(e results.Event) {
		if e.FromStore {
			stored = true
			if v, err := experiment.Visits(now, st); err == nil { // the last event that there is
				e.Visits = v
			}
		}
		for _, w := range watch {
			w(e)
		}
	}
	first := true
	c.rounds(s.ctx, s.watched, func(round context.Context) bool {
		if !first {
			s.left.stop()
			now = Must(plan.Turn(st, now, ask()))
		}
		first, stored = false, false
		c.line.put(c.settings(""))
		r, err := s.train(round, now, tell)
		if last = r; s.ctx.Err() == nil {
			Check(err)
		}
		if stored && len(c.items) > 0 && s.watched() {
			c.line.put(c.settings("from the store: move a control to begin a run"))
		}
		return true
	})
	s.watched() // or what shows that no page answers would replace what is said at the end
	if why := s.why(); why != nil {
		c.end(why.Error())
	} else {
		c.end("")
		if last != nil && !last.Complete {
			interrupted(last)
		}
	}
	if s.ended != nil {
		s.ended()
	}
	s.leaveIf(now, c.positions(), last)
}

// session is what the trainings of a cell share.
type session struct {
	ctx   context.Context // cancelled by the stop button, and with a reason by what becomes of the page
	store *results.Store
	left  *left
	tried chan struct{} // closed once it is known whether a page answers
	page  *page         // that does; nil if none
	ended func()        // takes away the sign of life of a process that was left a training; nil in a cell
}

var cellSession struct {
	sync.Once
	*session
}

// thisCell is the session of this program; open looks for its page.
func thisCell(ctx context.Context, st *results.Store, open func(context.Context) *page) *session {
	cellSession.Do(func() {
		s := &session{store: st, left: leftHere(st), tried: make(chan struct{})}
		cellSession.session = s
		if mine := isLeft(); mine != nil {
			s.ctx, s.left = ctx, mine
			s.ended = mine.keepAlive()
			close(s.tried)
			return
		}
		ctx, cancel := context.WithCancelCause(ctx)
		context.AfterFunc(ctx, func() { cancel(nil) })
		s.ctx = ctx
		go makeRoom(ctx, cancel)
		go func() { // training need not wait for a page
			s.page = open(ctx)
			close(s.tried)
			if s.page != nil {
				s.page.watch(ctx, cancel)
			}
		}()
	})
	return cellSession.session
}

// watched waits until it is known whether a page answers, and reports whether one does.
func (s *session) watched() bool {
	<-s.tried
	return s.page != nil
}

// round is a context that ends with the cell's and with ctx.
func (s *session) round(ctx context.Context) (context.Context, context.CancelFunc) {
	round, cancel := context.WithCancelCause(s.ctx)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return round, func() { stop(); cancel(nil) }
}

// why is what has become of the page, nil if it is there.
func (s *session) why() error {
	if cause := context.Cause(s.ctx); errors.Is(cause, errGone) || errors.Is(cause, errAsked) {
		return cause
	}
	return nil
}

// train trains here, or follows the process that does.
func (s *session) train(ctx context.Context, e experiment.Config, watch ...func(results.Event)) (*results.Record, error) {
	if isLeft() == nil && s.left.process() != nil {
		if r, err := s.follow(ctx, e, watch); r != nil || err != nil {
			return r, err
		}
	}
	if s.ended != nil {
		if err := s.left.note(e); err != nil {
			return nil, err
		}
	}
	r, err := experiment.Run(ctx, e, s.store, watch...)
	if s.ended != nil && ctx.Err() != nil {
		s.ended() // now that it is saved
		os.Exit(0)
	}
	return r, err
}

// leaveIf ends the cell if its page is gone, with what it trains left to a process.
func (s *session) leaveIf(e experiment.Config, settings map[string]string, r *results.Record) {
	why := s.why()
	if why == nil {
		return
	}
	if path := notePath(leftNote); path != "" {
		_ = os.WriteFile(path, nil, 0o666) // the relay ends what this page had asked for behind this cell
	}
	if r == nil || !r.Complete {
		goesOn(e, r)
		if s.left.process() == nil {
			if err := s.left.start(e, settings); err != nil {
				fmt.Fprintln(os.Stderr, "The training is saved, but could not be left to a process:", err)
			}
		}
		fmt.Printf("This cell has ended, as %v; its training goes on without it. Run the cell again to see it.\n", why)
	}
	gonbui.Sync()
	os.Exit(0)
}

// patience is how long a process may be about to train what its cell asks for next. One that trains something else by then was left by the
// cell as it was before somebody edited it.
const patience = 3 * time.Second

// follow tells of a run that another process of this cell trains as if it were trained here. It returns neither a record nor an error if the
// process ended before the run; a stop, or a control that was moved, ends the process, and so does a cell that asks for another run.
func (s *session) follow(ctx context.Context, e experiment.Config, watch []func(results.Event)) (*results.Record, error) {
	id, err := e.ID()
	if err != nil {
		return nil, err
	}
	tell := func(v results.Event) {
		for _, w := range watch {
			w(v)
		}
	}
	f := follower{exp: e, id: id, store: s.store, metric: plan.Metric(plan.Single(e.Task)), tell: tell}
	agreed := time.Now()
	for {
		running := s.left.process() != nil // before the last look, or its end would be missed
		r := f.look()
		if r != nil && r.Complete {
			return r, nil
		}
		if !running {
			return nil, nil
		}
		if s.left.trains(id) {
			agreed = time.Now()
		} else if time.Since(agreed) > patience {
			s.left.stop()
			return nil, nil
		}
		select {
		case <-time.After(frame):
		case <-ctx.Done():
			if s.why() == nil {
				s.left.stop()
				if r = f.look(); r != nil {
					tell(results.Event{Record: r, Frames: r.Frames, Total: e.Budget.Frames, State: "stopped"})
				}
			}
			return r, ctx.Err()
		}
	}
}

// follower looks at a run that grows in the store.
type follower struct {
	exp    experiment.Config
	id     string
	store  *results.Store
	metric string
	tell   func(results.Event)

	looked        bool
	frames, evals int
	since         time.Time // of the first look at which it trained
	from          int       // frames then
	mapped        time.Time
}

// look tells what is new.
func (f *follower) look() *results.Record {
	r, err := f.store.Get(f.id)
	if err != nil {
		r = &results.Record{ID: f.id, Task: f.exp.Task.Kind(), Method: f.exp.Label(), Budget: f.exp.Budget.Name, Seed: f.exp.Seed}
	}
	e := results.Event{Record: r, Frames: r.Frames, Total: f.exp.Budget.Frames, Metric: f.metric}
	switch {
	case !f.looked:
		f.looked, f.frames, f.evals, f.from, f.since = true, r.Frames, len(r.Evals), r.Frames, time.Now()
		switch {
		case r.Complete:
		case !f.store.Training(f.id):
			e.State = "compiling"
		default:
			e.State = "attached"
		}
		e.Visits = f.visits()
		e.Scalars = latest(r)
		f.tell(e)
	case r.Frames != f.frames || len(r.Evals) != f.evals:
		if len(r.Evals) > f.evals {
			e.Eval = &r.Evals[len(r.Evals)-1]
		}
		e.Scalars = latest(r)
		if r.Frames > f.from {
			e.FPS = float64(r.Frames-f.from) / time.Since(f.since).Seconds()
			e.ETA = float64(max(0, e.Total-e.Frames)) / e.FPS
		}
		if time.Since(f.mapped) > 10*time.Second { // as often as there is a new checkpoint
			e.Visits = f.visits()
		}
		f.frames, f.evals = r.Frames, len(r.Evals)
		f.tell(e)
	}
	if err != nil {
		return nil
	}
	return r
}

// visits are those of the last checkpoint, nil if there are none.
func (f *follower) visits() *results.Visits {
	f.mapped = time.Now()
	v, err := experiment.Visits(f.exp, f.store)
	if err != nil {
		return nil
	}
	return v
}

// latest are the last values of a run's scalars.
func latest(r *results.Record) map[string]float64 {
	out := map[string]float64{}
	for name, points := range r.Scalars {
		if len(points) > 0 {
			out[name] = points[len(points)-1].Value
		}
	}
	return out
}

// goesOn notes that a training goes on without its cell, for the cells behind.
func goesOn(e experiment.Config, r *results.Record) {
	if r == nil {
		id, err := e.ID()
		if err != nil {
			return
		}
		r = &results.Record{ID: id, Task: e.Task.Kind(), Method: e.Label()}
	}
	interrupted(r)
	var s stop
	path := notePath(interruptedNote)
	if path == "" || !readNote(interruptedNote, &s) {
		return
	}
	s.GoesOn = true
	if text, err := json.Marshal(s); err == nil {
		_ = os.WriteFile(path, text, 0o666)
	}
}
