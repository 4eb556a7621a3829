// SPDX-License-Identifier: Apache-2.0

package campaign

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"cermic/cermiclib/results"
	"cermic/viz"
)

// state is where a run is.
type state int

const (
	training state = iota
	ended
	failed
)

// progress is how far a run is, as shares of its frames.
type progress struct {
	state
	from float64 // when this program first saw it
	now  float64
}

// Tally counts the runs of a campaign by their events. It serves one goroutine at a time, as watchers do.
type Tally struct {
	runs     int // in total
	progress map[string]progress
	training []results.Event // the last one of each run that trains
	since    time.Time
}

// NewTally counts so many runs.
func NewTally(runs int) *Tally {
	return &Tally{runs: runs, progress: map[string]progress{}, since: time.Now()}
}

// Watch takes one event, and reports whether a run has ended with it.
func (t *Tally) Watch(e results.Event) bool {
	if e.State != "" || e.Note != "" { // comes before and after training
		return false
	}
	id := cmp.Or(e.Record.ID, name(e.Record)+e.Record.Task) // an experiment that cannot be hashed has failed
	at, seen := t.progress[id]
	at.now = share(e)
	switch {
	case e.Failed != "":
		at.state = failed
	case e.FromStore:
		at = progress{ended, 1, 1}
	case e.Frames >= e.Total && e.Eval != nil: // the evaluation that follows the last iteration
		at.state = ended
	default:
		at.state = training
		if !seen {
			at.from = at.now
		}
	}
	t.progress[id] = at
	t.training = slices.DeleteFunc(t.training, func(other results.Event) bool { return other.Record.ID == e.Record.ID })
	if at.state == training {
		t.training = append(t.training, e)
	}
	return at.state != training
}

// share is the part of a run's frames that it has trained.
func share(e results.Event) float64 { return min(1, float64(e.Frames)/float64(max(1, e.Total))) }

// count is the number of runs in a state.
func (t *Tally) count(s state) (n int) {
	for _, at := range t.progress {
		if at.state == s {
			n++
		}
	}
	return n
}

// Failed is the number of runs that have failed.
func (t *Tally) Failed() int { return t.count(failed) }

// String is the state of the whole campaign: "3 done, 1 training, 0 failed, 8 to go; about 2h 10m left".
func (t *Tally) String() string {
	done, failed, going := t.count(ended), t.count(failed), len(t.training)
	open := t.runs - done - failed
	text := fmt.Sprintf("%d done, %d training, %d failed, %d to go", done, going, failed, open-going)
	if d := t.left(); open > 0 && d > 0 {
		text += fmt.Sprintf("; about %s left", viz.Clock(d.Seconds()))
	}
	return text
}

// Share is the part of the campaign, 0 to 1, that is over: by runs, those in training by their frames.
func (t *Tally) Share() float64 {
	over := 0.0
	for _, at := range t.progress {
		if at.state != training {
			at.now = 1
		}
		over += at.now
	}
	return over / float64(max(1, t.runs))
}

// left is the time to the end at the pace so far, if all runs take as long; 0 before there is a pace.
func (t *Tally) left() time.Duration {
	gained, rest := 0.0, float64(t.runs)
	for _, at := range t.progress {
		if at.state == failed {
			rest--
			continue
		}
		gained, rest = gained+at.now-at.from, rest-at.now
	}
	if gained <= 0 {
		return 0
	}
	return max(0, time.Duration(rest/gained*float64(time.Since(t.since))))
}
