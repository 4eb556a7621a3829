// SPDX-License-Identifier: Apache-2.0

package campaign

import (
	"fmt"
	"slices"
	"time"

	"cermic/cermiclib/results"
	"cermic/viz"
)

// Tally counts the runs of a campaign by what they tell. It serves one goroutine at a time, as watchers do.
type Tally struct {
	runs     int // altogether
	training []results.Event
	finished map[string]bool          // IDs
	old      map[string]bool          // that were found complete, by ID
	from     map[string]int           // frames at which runs were when this program first saw them, by ID
	failed   map[string]bool          // by experiment
	takes    map[string]time.Duration // of the whole of each run, as estimated, by ID; nil or without one that nobody has measured
	since    time.Time
}

// NewTally counts so many runs, which take as long as estimated relative to each other; what takes does not have takes the mean.
func NewTally(runs int, takes map[string]time.Duration) *Tally {
	return &Tally{runs: runs, finished: map[string]bool{}, old: map[string]bool{}, from: map[string]int{}, failed: map[string]bool{}, takes: takes, since: time.Now()}
}

// Watch takes one event, and says whether a run has ended with it.
func (t *Tally) Watch(e results.Event) (ended bool) {
	switch {
	case e.State != "" || e.Note != "": // nothing is trained before it, or after
		return false
	case e.Failed != "":
		t.drop(e.Record)
		t.failed[name(e.Record)+e.Record.Task] = true
		return true
	case e.FromStore:
		t.old[e.Record.ID] = true
		t.finished[e.Record.ID] = true
		return false
	case e.Frames >= e.Total && e.Eval != nil: // the evaluation that follows the last iteration
		t.drop(e.Record)
		t.finished[e.Record.ID] = true
		return true
	}
	if _, seen := t.from[e.Record.ID]; !seen {
		t.from[e.Record.ID] = e.Frames
	}
	t.drop(e.Record)
	t.training = append(t.training, e)
	return false
}

// drop forgets that r is training.
func (t *Tally) drop(r *results.Record) {
	t.training = slices.DeleteFunc(t.training, func(e results.Event) bool { return e.Record.ID == r.ID })
}

// String is the state of the whole campaign: "3 done, 1 training, 0 failed, 8 to go; about 2h 10m left".
func (t *Tally) String() string {
	left := t.runs - len(t.finished) - len(t.failed)
	text := fmt.Sprintf("%d done, %d training, %d failed, %d to go", len(t.finished), len(t.training), len(t.failed), left-len(t.training))
	if d := t.left(); left > 0 && d > 0 {
		text += fmt.Sprintf("; about %s left", viz.Clock(d.Seconds()))
	}
	return text
}

// Share is how much of the campaign is behind it, 0 to 1: by runs, those in training by their frames.
func (t *Tally) Share() float64 {
	behind := float64(len(t.finished) + len(t.failed))
	for _, e := range t.training {
		behind += min(1, float64(e.Frames)/float64(max(1, e.Total)))
	}
	return behind / float64(max(1, t.runs))
}

// left is how long the rest takes at the pace so far, if runs take as long as estimated relative to each other; 0 before there is a pace.
func (t *Tally) left() time.Duration {
	var whole, done, stored time.Duration
	for _, d := range t.takes {
		whole += d
	}
	mean := time.Minute // where nothing is known all runs take as long
	if n := len(t.takes); n > 0 {
		mean = whole / time.Duration(n)
	}
	of := func(id string) time.Duration {
		if d, ok := t.takes[id]; ok {
			return d
		}
		return mean
	}
	whole += mean * time.Duration(t.runs-len(t.takes))
	for id := range t.finished {
		if t.old[id] {
			stored += of(id)
		} else {
			done += of(id)
		}
	}
	for _, e := range t.training {
		done += time.Duration(float64(of(e.Record.ID)) * float64(e.Frames-t.from[e.Record.ID]) / float64(max(1, e.Total)))
	}
	if done <= 0 {
		return 0
	}
	return time.Duration(float64(whole-stored-done) / float64(done) * float64(time.Since(t.since)))
}
