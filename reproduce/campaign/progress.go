// SPDX-License-Identifier: Apache-2.0

package campaign

import (
	"fmt"
	"io"
	"os"
	"path"
	"time"

	"cermic/cermiclib/results"
	"cermic/viz"
)

// quiet is how long a piped log may say nothing about a run that goes on.
const quiet = 30 * time.Second

// Progress shows what runs tell: one line that is rewritten on a terminal, one line for each evaluation elsewhere.
type Progress struct {
	*Tally
	out  io.Writer
	live bool
	said map[string]bool // notes, each once
	last time.Time       // of the last plain line
	open bool            // a live line stands on the terminal
}

// NewProgress shows so many runs on out.
func NewProgress(out io.Writer, runs int) *Progress {
	return &Progress{Tally: NewTally(runs, nil), out: out, live: isTerminal(out), said: map[string]bool{}, last: time.Now()}
}

// isTerminal reports whether out is a terminal, where a line can be rewritten.
func isTerminal(out io.Writer) bool {
	f, ok := out.(interface{ Stat() (os.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Watch shows one event.
func (p *Progress) Watch(e results.Event) {
	p.Tally.Watch(e)
	switch {
	case e.State != "": // nothing is trained before it, or after
		return
	case e.Failed != "":
		if p.runs > 1 { // of a single one, the verb's own error says it
			p.line("failed  " + name(e.Record) + ": " + e.Failed)
		}
		return
	case e.Note != "":
		if !p.said[e.Note] {
			p.said[e.Note] = true
			p.line(e.Note)
		}
		return
	case e.FromStore:
		p.line(name(e.Record) + "  in the store")
		return
	}
	if name, text := name(e.Record), p.describe(e); p.live {
		p.rewrite(name, text)
	} else if e.Eval != nil || time.Since(p.last) > quiet {
		p.line(name + text)
	}
}

// describe is the progress of one run: "  216k/600k  reward 43.03  15.2k frames/s  25s left".
func (p *Progress) describe(e results.Event) string {
	text := fmt.Sprintf("  %s/%s", viz.Short(float64(e.Frames)), viz.Short(float64(e.Total)))
	if len(e.Record.Evals) > 0 {
		text += fmt.Sprintf("  %s %.4g", e.Metric, e.Record.Score())
	}
	text += fmt.Sprintf("  %s frames/s", viz.Short(e.FPS))
	if left := time.Duration(e.ETA * float64(time.Second)).Round(time.Second); left > 0 {
		text += fmt.Sprintf("  %s left", left)
	}
	if p.runs > 1 {
		text += fmt.Sprintf("  (%d of %d runs done)", len(p.finished), p.runs)
	}
	return text
}

// name is seed, task and method of a run: "2 balance mappo-cermic".
func name(r *results.Record) string {
	return fmt.Sprintf("%d %s %s", r.Seed, path.Base(r.Task), r.Method)
}

// line writes text on a line of its own.
func (p *Progress) line(text string) {
	p.Done()
	fmt.Fprintln(p.out, text)
	p.last = time.Now()
}

// rewrite replaces the live line. The name is cut to what fits on any terminal, so that the line never wraps.
func (p *Progress) rewrite(name, text string) {
	const width = 79
	if r, room := []rune(name), width-len([]rune(text)); len(r) > room {
		name = string(r[:max(room-1, 0)]) + "…"
	}
	fmt.Fprint(p.out, "\r\x1b[K", name, text)
	p.open = true
}

// Done ends the live line, if there is one.
func (p *Progress) Done() {
	if p.open {
		fmt.Fprintln(p.out)
		p.open = false
	}
}
