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
	from     map[string]float64       // share of a run that was behind it when this program first saw it, by ID
	failed   map[string]string        // IDs by experiment
	takes    map[string]time.Duration // of the whole of each run, as estimated, by ID; nil or without one that nobody has measured
	since    time.Time
}

// NewTally counts so many runs, which take as long as estimated relative to each other; what takes does not have takes the mean.
func NewTally(runs int, takes map[string]time.Duration) *Tally {
	return &Tally{runs: runs, finished: map[string]bool{}, old: map[string]bool{}, from: map[string]float64{}, failed: map[string]string{}, takes: takes, since: time.Now()}
}

// Watch takes one event, and says whether a run has ended with it.
func (t *Tally) Watch(e results.Event) (ended bool) {
	switch {
	case e.State != "" || e.Note != "": // nothing is trained before it, or after
		return false
	case e.Failed != "":
		t.drop(e.Record)
		t.failed[name(e.Record)+e.Record.Task] = e.Record.ID
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
		t.from[e.Record.ID] = share(e)
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
		behind += share(e)
	}
	return behind / float64(max(1, t.runs))
}

// share is how much of a run is behind it.
func share(e results.Event) float64 { return min(1, float64(e.Frames)/float64(max(1, e.Total))) }

// left is how long the rest takes at the pace so far, if runs take as long as estimated relative to each other; 0 before there is a pace.
func (t *Tally) left() time.Duration {
	var whole, done, spared time.Duration // spared: what this program has not to train, or has failed to
	for _, d := range t.takes {
		whole += d
	}
	mean := time.Minute // where nothing is known all runs take as long
	if n := len(t.takes); n > 0 {
		mean = whole / time.Duration(n)
	}
	of := func(id string, share float64) time.Duration {
		d, ok := t.takes[id]
		if !ok {
			d = mean
		}
		return time.Duration(float64(d) * share)
	}
	whole += mean * time.Duration(t.runs-len(t.takes))
	for id := range t.finished {
		if t.old[id] {
			spared += of(id, 1)
		} else {
			spared, done = spared+of(id, t.from[id]), done+of(id, 1-t.from[id])
		}
	}
	for _, id := range t.failed {
		spared += of(id, 1)
	}
	for _, e := range t.training {
		from := t.from[e.Record.ID]
		spared, done = spared+of(e.Record.ID, from), done+of(e.Record.ID, share(e)-from)
	}
	if done <= 0 {
		return 0
	}
	return max(0, time.Duration(float64(whole-spared-done)/float64(done)*float64(time.Since(t.since))))
}
