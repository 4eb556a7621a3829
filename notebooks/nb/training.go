// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"context"
	"os"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
)

// Train is experiment.Run for a cell. Once no page shows the notebook, a detached process continues the training until
// the cell runs again. The stop button and the end of the kernel save the run and end it.
func Train(
	ctx context.Context, e experiment.Config, st *results.Store, watch ...func(results.Event),
) (*results.Record, error) {
	l := detached()
	if l == nil {
		l = leftHere(st)
		l.stop()
		l.forget()
	} else if err := l.note(e); err != nil {
		return nil, err
	}
	r, err := experiment.Run(ctx, e, st, watch...)
	l.leave(ctx, e, nil)
	return r, err
}

// Compile compiles an experiment's graphs in the background while a page is open, so that a control that chooses it
// answers sooner. It trains one rollout batch in a folder that it removes.
func Compile(ctx context.Context, e experiment.Config) {
	if Headless() {
		return
	}
	go func() {
		folder, err := os.MkdirTemp("", "cermic-compile")
		if err != nil {
			return // the graphs are compiled when they are needed
		}
		defer os.RemoveAll(folder)
		if st, err := results.Open(folder); err == nil {
			e.Budget.Frames = 1
			_, _ = experiment.Run(ctx, e, st) // a failure comes again, and is shown, when the run is asked for
		}
	}()
}

// Train trains the experiment that ask makes of the controls, and asks again when one is moved; the next run forks the
// present one where plan.Turn can. The stop button ends it. Without a page it continues as the function Train does.
func (c *Controls) Train(
	ctx context.Context, st *results.Store, ask func() experiment.Config, watch ...func(results.Event),
) {
	l, now := detached(), experiment.Config{}
	mine := l != nil
	if !mine {
		l = leftHere(st)
		l.stop()
	}
	if l.read() == nil { // it goes on where the page before has left it
		c.set(l.Settings)
		now = Must(l.experiment())
		if !mine {
			l.forget()
		}
	} else {
		now = ask()
	}
	c.show()
	first := true
	notice := func(e results.Event) {
		if e.FromStore {
			if v, err := experiment.Visits(now, st); err == nil {
				e.Visits = v
			}
		}
		for _, w := range watch {
			w(e)
		}
	}
	c.rounds(ctx, func() bool { return c.connected(ctx) }, func(round context.Context) {
		switch {
		case first:
		case c.anew:
			now = ask()
		default:
			now = Must(plan.Turn(st, now, ask()))
		}
		first = false
		if _, err := experiment.Run(round, now, st, notice); ctx.Err() == nil {
			Check(err)
		}
	})
	c.end()
	l.leave(ctx, now, c.positions())
	if mine {
		l.forget()
	}
}
