// SPDX-License-Identifier: Apache-2.0

package campaign

import (
	"fmt"
	"io"
	"time"

	"cermic/cermiclib/results"
	"cermic/viz"
)

// Board shows a campaign: on a terminal one line for each run that is training and one that counts, rewritten; elsewhere one
// line when a run ends, and a count now and then.
type Board struct {
	*Progress
	lines int // that stand on the terminal
}

// NewBoard shows so many runs on out; takes is how long each is estimated to take, as for NewTally.
func NewBoard(out io.Writer, runs int, takes map[string]time.Duration) *Board {
	p := NewProgress(out, runs)
	p.Tally = NewTally(runs, takes)
	return &Board{Progress: p}
}

// Failed counts the runs that have failed.
func (b *Board) Failed() int { return len(b.failed) }

// Watch takes one event.
func (b *Board) Watch(e results.Event) {
	ended := b.Tally.Watch(e)
	switch {
	case e.State != "" || e.FromStore:
	case e.Failed != "":
		b.say("failed  " + name(e.Record) + ": " + e.Failed)
	case e.Note != "":
		if !b.said[e.Note] {
			b.said[e.Note] = true
			b.say(e.Note)
		}
	case ended:
		b.say("done    " + name(e.Record) + b.describe(e))
	default:
		b.now()
	}
}

// count is the state of the whole campaign, on a terminal behind a bar.
func (b *Board) count() string {
	if !b.live {
		return b.String()
	}
	return viz.ProgressBar(b.Share(), 24) + " " + b.String()
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
