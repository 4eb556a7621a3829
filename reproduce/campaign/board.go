// SPDX-License-Identifier: Apache-2.0

package campaign

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"cermic/cermiclib/results"
	"cermic/viz"
)

// Board shows a campaign: on a terminal one line for each run that is training and one that counts, rewritten; elsewhere one
// line when a run ends, and a count now and then.
type Board struct {
	*Progress
	training []results.Event
	old      map[string]bool          // that were found complete, by ID
	from     map[string]int           // frames at which runs were when this program first saw them, by ID
	failed   map[string]bool          // by experiment
	takes    map[string]time.Duration // of the whole of each run, as estimated, by ID; nil or without one that nobody has measured
	since    time.Time
	lines    int // that stand on the terminal
}

// NewBoard shows so many runs on out.
func NewBoard(out io.Writer, runs int, takes map[string]time.Duration) *Board {
	return &Board{Progress: NewProgress(out, runs), failed: map[string]bool{}, old: map[string]bool{}, from: map[string]int{}, takes: takes, since: time.Now()}
}

// Failed counts the runs that have failed.
func (b *Board) Failed() int { return len(b.failed) }

// Watch takes one event.
func (b *Board) Watch(e results.Event) {
	switch {
	case e.State != "": // nothing is trained before it, or after
	case e.Failed != "":
		b.drop(e.Record)
		b.failed[name(e.Record)+e.Record.Task] = true
		b.say("failed  " + name(e.Record) + ": " + e.Failed)
	case e.Note != "":
		if !b.said[e.Note] {
			b.said[e.Note] = true
			b.say(e.Note)
		}
	case e.FromStore:
		b.old[e.Record.ID] = true
		b.finished[e.Record.ID] = true
	case e.Frames >= e.Total && e.Eval != nil: // the evaluation that follows the last iteration
		b.drop(e.Record)
		b.finished[e.Record.ID] = true
		b.say("done    " + name(e.Record) + b.describe(e))
	default:
		if _, seen := b.from[e.Record.ID]; !seen {
			b.from[e.Record.ID] = e.Frames
		}
		b.drop(e.Record)
		b.training = append(b.training, e)
		b.now()
	}
}

// drop forgets that r is training.
func (b *Board) drop(r *results.Record) {
	b.training = slices.DeleteFunc(b.training, func(e results.Event) bool { return e.Record.ID == r.ID })
}

// count is the state of the whole campaign.
func (b *Board) count() string {
	left := b.runs - len(b.finished) - len(b.failed)
	text := fmt.Sprintf("%d done, %d training, %d failed, %d to go", len(b.finished), len(b.training), len(b.failed), left-len(b.training))
	if t := b.left(); left > 0 && t > 0 {
		text += fmt.Sprintf("; about %s left", viz.Clock(t.Seconds()))
	}
	if b.live {
		text = bar(float64(len(b.finished)+len(b.failed))+b.underWay(), float64(b.runs)) + " " + text
	}
	return text
}

// underWay is what the runs in training have behind them, in runs.
func (b *Board) underWay() (sum float64) {
	for _, e := range b.training {
		sum += min(1, float64(e.Frames)/float64(max(1, e.Total)))
	}
	return sum
}

// left is how long the rest takes at the pace so far, if runs take as long as estimated relative to each other; 0 before there is a pace.
func (b *Board) left() time.Duration {
	var whole, done, stored time.Duration
	for _, t := range b.takes {
		whole += t
	}
	mean := time.Minute // where nothing is known all runs take as long
	if n := len(b.takes); n > 0 {
		mean = whole / time.Duration(n)
	}
	of := func(id string) time.Duration {
		if t, ok := b.takes[id]; ok {
			return t
		}
		return mean
	}
	whole += mean * time.Duration(b.runs-len(b.takes))
	for id := range b.finished {
		if b.old[id] {
			stored += of(id)
		} else {
			done += of(id)
		}
	}
	for _, e := range b.training {
		done += time.Duration(float64(of(e.Record.ID)) * float64(e.Frames-b.from[e.Record.ID]) / float64(max(1, e.Total)))
	}
	if done <= 0 {
		return 0
	}
	return time.Duration(float64(whole-stored-done) / float64(done) * float64(time.Since(b.since)))
}

// bar draws how much of something is done.
func bar(done, of float64) string {
	const width = 24
	full := int(width * min(1, done/max(1, of)))
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", width-full) + "]"
}

// say writes a line that stays.
func (b *Board) say(text string) {
	b.clear()
	b.line(text)
	if !b.live {
		b.line(b.count())
		return
	}
	b.now()
}

// now redraws what is training, on a terminal.
func (b *Board) now() {
	if !b.live {
		if time.Since(b.last) > 10*quiet {
			b.line(b.count())
		}
		return
	}
	b.clear()
	for _, e := range b.training {
		fmt.Fprintf(b.out, "%.79s\n", name(e.Record)+b.describe(e))
	}
	fmt.Fprintln(b.out, b.count())
	b.lines = len(b.training) + 1
}

// clear takes the lines that are rewritten off the terminal.
func (b *Board) clear() {
	if b.lines > 0 {
		fmt.Fprintf(b.out, "\x1b[%dA\x1b[J", b.lines)
		b.lines = 0
	}
}

// End leaves the last count.
func (b *Board) End() {
	b.clear()
	b.line(b.count())
}
