// SPDX-License-Identifier: Apache-2.0

package campaign

import (
	"fmt"
	"io"
	"path"
	"time"

	"cermic/cermiclib/results"
	"cermic/viz"
)

// quiet is the longest time without a line about runs in training.
const quiet = 30 * time.Second

// Progress logs runs while they train: a line for each evaluation, and of several runs also their count.
type Progress struct {
	*Tally
	out  io.Writer
	said map[string]bool // notes, each once
	last time.Time       // of the last line
}

// NewProgress logs so many runs to out.
func NewProgress(out io.Writer, runs int) *Progress {
	return &Progress{Tally: NewTally(runs), out: out, said: map[string]bool{}, last: time.Now()}
}

// Watch logs one event.
func (p *Progress) Watch(e results.Event) {
	p.Tally.Watch(e)
	switch {
	case e.State != "": // comes before and after training
	case e.Note != "":
		if !p.said[e.Note] {
			p.said[e.Note] = true
			p.line(e.Note)
		}
	case e.Failed != "":
		if p.runs > 1 { // the error of a single run is reported elsewhere
			p.line("failed  " + name(e.Record) + ": " + e.Failed)
		}
	case e.FromStore:
		p.line(name(e.Record) + "  in the store  run " + e.Record.ID)
	case e.Eval != nil || time.Since(p.last) > quiet:
		p.line(name(e.Record) + p.describe(e))
	}
}

func (p *Progress) line(text string) {
	fmt.Fprintln(p.out, text)
	p.last = time.Now()
}

// describe is the progress of one run: "  216k/600k  reward 43.03  15.2k frames/s  25s left". The last line of a run
// has its ID.
func (p *Progress) describe(e results.Event) string {
	text := fmt.Sprintf("  %s/%s", viz.Short(float64(e.Frames)), viz.Short(float64(e.Total)))
	if len(e.Record.Evals) > 0 {
		text += fmt.Sprintf("  %s %.4g", e.Metric, e.Record.Score())
	}
	text += fmt.Sprintf("  %s frames/s", viz.Short(e.FPS))
	if left := time.Duration(e.ETA * float64(time.Second)).Round(time.Second); left > 0 {
		text += fmt.Sprintf("  %s left", left)
	}
	if ended(e) {
		text += "  run " + e.Record.ID
	}
	if p.runs > 1 {
		text += "  (" + p.String() + ")"
	}
	return text
}

// ended reports whether e is the evaluation that follows the last iteration.
func ended(e results.Event) bool { return e.Frames >= e.Total && e.Eval != nil }

// name is seed, task and method of a run: "2 balance mappo-cermic".
func name(r *results.Record) string {
	return fmt.Sprintf("%d %s %s", r.Seed, path.Base(r.Task), r.Method)
}

type state int

const (
	training state = iota
	done
	failed
)

// progress is the progress of a run, as shares of its frames.
type progress struct {
	state
	from, now float64 // from: when this program first saw it
}

// Tally counts runs by their events. It serves one goroutine at a time, as watchers do.
type Tally struct {
	runs  int // in total
	seen  map[string]progress
	since time.Time
}

// NewTally counts so many runs.
func NewTally(runs int) *Tally {
	return &Tally{runs: runs, seen: map[string]progress{}, since: time.Now()}
}

// Watch counts one event.
func (t *Tally) Watch(e results.Event) {
	if e.State != "" || e.Note != "" {
		return
	}
	id := e.Record.ID + e.Record.Task + name(e.Record) // a failed experiment may have no ID
	at, known := t.seen[id]
	at.now = min(1, float64(e.Frames)/float64(max(1, e.Total)))
	switch {
	case e.Failed != "":
		at.state = failed
	case e.FromStore:
		at = progress{done, 1, 1}
	case ended(e):
		at.state = done
	case !known:
		at.from = at.now
	}
	t.seen[id] = at
}

func (t *Tally) count(s state) (n int) {
	for _, at := range t.seen {
		if at.state == s {
			n++
		}
	}
	return n
}

// Failed is the number of runs that have failed.
func (t *Tally) Failed() int { return t.count(failed) }

// Share is the finished part of all runs, 0 to 1.
func (t *Tally) Share() (over float64) {
	for _, at := range t.seen {
		if at.state == failed {
			at.now = 1
		}
		over += at.now / float64(t.runs)
	}
	return over
}

// String is the state of all runs: "3 done, 1 training, 0 failed, 8 to go; about 2 h 10 min left". The time assumes
// the pace so far, once a fifth of a run is done: compiling comes before.
func (t *Tally) String() string {
	text := fmt.Sprintf("%d done, %d training, %d failed, %d to go",
		t.count(done), t.count(training), t.count(failed), t.runs-len(t.seen))
	gained := 0.0
	for _, at := range t.seen {
		if at.state != failed {
			gained += at.now - at.from
		}
	}
	if rest := float64(t.runs) * (1 - t.Share()); gained >= 0.2 && rest > 0 {
		text += fmt.Sprintf("; about %s left", viz.Clock(rest/gained*time.Since(t.since).Seconds()))
	}
	return text
}
