// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/reproduce/campaign"
	"cermic/viz"
)

// block is a place in a cell's output whose content can be replaced. A saved notebook keeps the last content.
type block struct {
	id   string
	next time.Time // before which throttled updates are left out
}

func newBlock() block { return block{id: "cermic-" + gonbui.UniqueId()} }

// frame is the shortest time between two updates, as drawing takes time from training.
const frame = time.Second

// due reports whether an update is worth drawing now, and starts the next frame if so.
func (b *block) due(now time.Time) bool {
	if now.Before(b.next) {
		return false
	}
	b.next = now.Add(frame)
	return true
}

func (b *block) put(data content) { send(b.id, data) }

// Screen is a place in the output that shows one value at a time.
type Screen struct{ block }

// NewScreen returns an empty screen. It appears with the first value.
func NewScreen() *Screen { return &Screen{newBlock()} }

// Show replaces the screen's content by a value that the function Show accepts; an error ends the cell.
func (s *Screen) Show(value any) {
	if gonbui.IsNotebook {
		s.put(Must(render(value)))
	}
}

// Live is a picture that is redrawn in place while a cell runs.
type Live struct {
	Screen
	draw func(results.Event) (any, error) // a nil value leaves the picture unchanged; an error is shown instead of it
}

// NewLive shows draw of an empty record at once, and of the growing record when Watch gets an event. Except for
// evaluations, it redraws at most once a second. draw returns a value that Show accepts.
func NewLive(draw func(*results.Record) (any, error)) *Live {
	l := &Live{*NewScreen(), func(e results.Event) (any, error) {
		if e.State == "updating" {
			return nil, nil // no scalars yet
		}
		return draw(e.Record)
	}}
	l.redraw(results.Event{Record: &results.Record{}})
	return l
}

// NewMap keeps a place for a map of a run's visits, of tasks that declare cells to visit.
func NewMap() *Live {
	return &Live{*NewScreen(), func(e results.Event) (any, error) {
		switch {
		case e.Visits != nil:
			return viz.Visits(e.Visits)
		case e.State == "compiling" || e.FromStore: // another run, which may have no cells
			return "", nil
		}
		return nil, nil
	}}
}

// NewFilm keeps a place for the first episode of a run's last evaluation, of tasks that can be drawn.
func NewFilm() *Live {
	l := &Live{*NewScreen(), func(e results.Event) (any, error) {
		switch {
		case e.Scenes != nil:
			return viz.Animate(e.Scenes, 10)
		case e.FromStore: // another run, whose weights may be elsewhere
			return "", nil
		}
		return nil, nil
	}}
	l.put(asHTML("", ""))
	return l
}

// Watch is a watcher of a run.
func (l *Live) Watch(e results.Event) {
	rare := ended(e) || e.Eval != nil || e.State == "compiling" || e.State == "updating"
	if e.Record != nil && (rare || e.Scalars != nil && l.due(time.Now())) {
		l.redraw(e)
	}
}

// redraw draws now. It does nothing outside a notebook.
func (l *Live) redraw(e results.Event) {
	if !gonbui.IsNotebook {
		return
	}
	value, err := l.draw(e)
	if err != nil {
		value = "This picture cannot be drawn: " + err.Error() // the run goes on
	}
	if value != nil {
		l.Show(value)
	}
}

// ended reports whether this is the last event of a run, which is always drawn.
func ended(e results.Event) bool { return e.FromStore || e.Total > 0 && e.Frames >= e.Total }

// Progress is a bar with frames, pace, last score and time left. One bar can follow several runs in turn. Given their
// experiments, it adds a bar of all runs.
type Progress struct {
	block
	all   *campaign.Tally // nil for a single run
	now   results.Event   // the last one with a record
	score float64
	note  string
}

// NewProgress shows an empty bar, and for several experiments one of all of them.
func NewProgress(experiments ...experiment.Config) *Progress {
	p := &Progress{block: newBlock(), score: math.NaN()}
	if len(experiments) > 1 {
		p.all = campaign.NewTally(len(experiments))
	}
	p.put(p.bar())
	return p
}

// Watch is a watcher of a run.
func (p *Progress) Watch(e results.Event) {
	if p.all != nil {
		p.all.Watch(e)
	}
	if e.Failed != "" {
		e = results.Event{Note: e.Failed}
	}
	if e.Record == nil { // a note, at any time
		p.note = e.Note
		p.put(p.bar())
		return
	}
	if p.now.Record == nil || p.now.Record.ID != e.Record.ID {
		p.score = math.NaN()
	}
	p.now = e
	if len(e.Record.Evals) > 0 {
		p.score = e.Record.Score()
	}
	if ended(e) {
		p.note = ""
	}
	if p.due(time.Now()) || ended(e) || e.State != "" {
		p.put(p.bar())
	}
}

// line says in words what the bar shows, beside the run's name.
func (p *Progress) line() string {
	e := p.now
	s := fmt.Sprintf(" · %s of %s frames", viz.Short(float64(e.Frames)), viz.Short(float64(e.Total)))
	if !math.IsNaN(p.score) {
		s += fmt.Sprintf(" · %s %s", cmp.Or(e.Metric, "score"), viz.Short(p.score)) // a stored record has no Metric
	}
	switch {
	case e.State == "compiling":
		s += " · compiling"
	case e.State == "updating":
		s += " · new frames collected, updating"
	case e.State == "stopped":
		s += fmt.Sprintf(" · stopped at %s, saved", viz.Short(float64(e.Frames)))
	case e.FromStore:
		s += " · from the store"
	case ended(e):
		s += " · done"
	case e.FPS > 0:
		s += fmt.Sprintf(" · %s frames/s · %s left", viz.Short(math.Round(e.FPS)), viz.Clock(e.ETA))
	}
	return s
}

const barHTML = `<progress value="%d" max="%d" style="width:16em;vertical-align:middle"></progress> ` +
	`<small title="%s">%s</small>`

// bar is the line of the present run under its full name. On a page that is its title, and the line has a short one.
func (p *Progress) bar() content {
	short, line := "starting", "starting"
	if r := p.now.Record; r != nil {
		run, says := fmt.Sprintf(" · %s · seed %d", r.Task, r.Seed), p.line()
		short, line = brief(r.Method)+run+says, r.Method+run+says
	}
	page := fmt.Sprintf(barHTML, p.now.Frames, max(p.now.Total, 1), html.EscapeString(line), html.EscapeString(short))
	if p.all != nil {
		const of = 1000
		all := p.all.String()
		page = fmt.Sprintf(barHTML, int(of*p.all.Share()), of, "", html.EscapeString(all)) + "<br>" + page
		line = all + "\n" + line
	}
	if p.note != "" {
		page += fmt.Sprintf(`<br><small style="opacity:.75">%s</small>`, html.EscapeString(p.note))
		line += "\n" + p.note
	}
	return asHTML(page, line)
}

// brief is a label without the part of each key before its last dot, the settings of the budget, and what stands in
// parentheses: "mappo-cermic alpha=0.5".
func brief(label string) string {
	label, _, _ = strings.Cut(label, " (")
	words := slices.DeleteFunc(strings.Fields(label), func(w string) bool { return strings.HasPrefix(w, "budget.") })
	for i, w := range words {
		key, _, _ := strings.Cut(w, "=")
		words[i] = w[strings.LastIndex(key, ".")+1:]
	}
	return strings.Join(words, " ")
}
