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

// quiet is how long a log may be silent about a run that goes on; a campaign's log may be silent ten times as long.
const quiet = 30 * time.Second

// Progress shows runs while they train: on a terminal a line for each, rewritten in place, and for a campaign a count
// of its runs; elsewhere a log, with a line for each evaluation or, of a campaign, for each run that ends.
type Progress struct {
	*Tally
	out      io.Writer
	campaign bool
	live     bool            // out is a terminal
	said     map[string]bool // notes, each once
	last     time.Time       // of the last line of the log
	lines    int             // on the terminal that are rewritten
}

// NewProgress shows so many runs on out.
func NewProgress(out io.Writer, runs int) *Progress {
	return &Progress{Tally: NewTally(runs), out: out, live: isTerminal(out), said: map[string]bool{}, last: time.Now()}
}

// NewBoard shows a campaign of so many runs on out.
func NewBoard(out io.Writer, runs int) *Progress {
	p := NewProgress(out, runs)
	p.campaign = true
	return p
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
	ended := p.Tally.Watch(e)
	silent := time.Since(p.last)
	switch {
	case e.State != "": // comes before and after training
	case e.Failed != "":
		if p.campaign || p.runs > 1 { // the error of a single run is reported elsewhere
			p.line("failed  " + name(e.Record) + ": " + e.Failed)
		}
	case e.Note != "":
		if !p.said[e.Note] {
			p.said[e.Note] = true
			p.line(e.Note)
		}
	case e.FromStore:
		if !p.campaign {
			p.line(name(e.Record) + "  in the store")
		}
	case p.campaign && ended:
		p.line("done    " + name(e.Record) + p.describe(e))
	case p.live && !ended:
		p.redraw()
	case p.campaign:
		if silent > 10*quiet {
			p.line(p.String())
		}
	case ended || e.Eval != nil || silent > quiet:
		p.line(name(e.Record) + p.describe(e))
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
		text += fmt.Sprintf("  (%d of %d runs done)", p.count(ended), p.runs)
	}
	return text
}

// name is seed, task and method of a run: "2 balance mappo-cermic".
func name(r *results.Record) string {
	return fmt.Sprintf("%d %s %s", r.Seed, path.Base(r.Task), r.Method)
}

// line writes text on a line that stays; in the log of a campaign a count follows.
func (p *Progress) line(text string) {
	p.clear()
	fmt.Fprintln(p.out, text)
	if p.live {
		p.redraw()
	} else if count := p.String(); p.campaign && text != count {
		fmt.Fprintln(p.out, count)
	}
	p.last = time.Now()
}

// redraw rewrites the lines of the runs that train, and of a campaign the count. Names are cut to what fits on any
// terminal, so that no line wraps.
func (p *Progress) redraw() {
	p.clear()
	for _, e := range p.training {
		const width = 79
		name, text := []rune(name(e.Record)), p.describe(e)
		if room := width - len([]rune(text)); len(name) > room {
			name = append(name[:max(room-1, 0)], '…')
		}
		fmt.Fprintln(p.out, string(name)+text)
	}
	p.lines = len(p.training)
	if p.campaign {
		fmt.Fprintln(p.out, viz.ProgressBar(p.Share(), 24)+" "+p.String())
		p.lines++
	}
}

// clear removes the lines that are rewritten from the terminal.
func (p *Progress) clear() {
	if p.lines > 0 {
		fmt.Fprintf(p.out, "\x1b[%dA\x1b[J", p.lines)
		p.lines = 0
	}
}

// Done leaves the last count of a campaign.
func (p *Progress) Done() {
	if p.campaign {
		p.clear()
		fmt.Fprintln(p.out, p.String())
	}
}
