// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
)

// Controls is a row of sliders and menus above a cell's output. Make it, add what can be set, then Train. JupyterLab's
// extension in reproduce/jupyter/labextensions sends their positions to the kernel while the cell runs.
type Controls struct {
	block
	items []*Control
	page  func() map[string]string // the positions on the page by name; nil where no page has answered
	anew  bool                     // whether the last move was of a control that begins anew
}

// Control is one setting.
type Control struct {
	name, value string
	tag         func(value string) string // HTML
	anew        bool
	button      bool // value counts how often it was pressed
}

// Anew makes each move of the control begin another run, also where a fork could change the setting.
func (k *Control) Anew() *Control {
	k.anew = true
	return k
}

// NewControls returns an empty row. It keeps its place: what is shown later stands below it.
func NewControls() *Controls {
	c := &Controls{block: newBlock()}
	c.page = func() map[string]string {
		var note struct {
			ID        string            `json:"id"`
			Positions map[string]string `json:"positions"`
		}
		if !readNote(controlsNote, &note) || note.ID != c.id {
			return nil
		}
		return note.Positions
	}
	c.put(asHTML("", ""))
	return c
}

// Slider adds a number between low and high.
func (c *Controls) Slider(name string, low, high, step, value float64) *Control {
	return c.add(name, fmt.Sprint(value), func(value string) string {
		return fmt.Sprintf(`%s <input type="range" data-lm-suppress-shortcuts disabled data-name="%[1]s" `+
			`min="%g" max="%g" step="%g" value="%s"> <output>%[5]s</output>`, html.EscapeString(name), low, high, step, value)
	})
}

// Menu adds a choice of one of the options; value is the default.
func (c *Controls) Menu(name, value string, options ...string) *Control {
	return c.add(name, value, func(value string) string {
		var b strings.Builder
		fmt.Fprintf(&b, `%s <select data-lm-suppress-shortcuts disabled data-name="%[1]s">`, html.EscapeString(name))
		for _, o := range options {
			chosen := ""
			if o == value {
				chosen = " selected"
			}
			fmt.Fprintf(&b, `<option%s>%s</option>`, chosen, html.EscapeString(o))
		}
		return b.String() + "</select>"
	})
}

// Button adds a button that begins anew with the settings of the others.
func (c *Controls) Button(text string) {
	k := c.add(text, "0", func(value string) string {
		return fmt.Sprintf(`<button data-lm-suppress-shortcuts disabled data-name="%s" value="%s">%[1]s</button>`,
			html.EscapeString(text), value)
	})
	k.anew, k.button = true, true
}

func (c *Controls) add(name, value string, tag func(string) string) *Control {
	k := &Control{name: name, value: value, tag: tag}
	c.items = append(c.items, k)
	return k
}

// Text is the setting as it was when the round began.
func (k *Control) Text() string { return k.value }

// settle is how long a control must rest before a round begins: a slider passes many values on its way.
const settle = 300 * time.Millisecond

// rounds calls do with the current settings, and again whenever a control was moved. A move also cancels the context of
// the round before, so that a run in it saves itself. It ends when ctx is cancelled, or after one round where
// connected, called at its end, reports that no page answers.
func (c *Controls) rounds(ctx context.Context, connected func() bool, do func(context.Context)) {
	for {
		round, cancel := context.WithCancel(ctx)
		watched := make(chan bool)
		go func() {
			defer close(watched)
			for ; round.Err() == nil; time.Sleep(poll) {
				if c.moved() {
					cancel()
				}
			}
		}()
		do(round)
		cancel()
		<-watched
		if !connected() {
			return
		}
		for !c.moved() {
			if ctx.Err() != nil {
				return
			}
			time.Sleep(poll)
		}
		for resting := c.page(); ; resting = c.page() {
			if time.Sleep(settle); maps.Equal(resting, c.page()) {
				break
			}
		}
		c.set(c.page())
	}
}

func (c *Controls) moved() bool {
	now := c.page()
	return slices.ContainsFunc(c.items, func(k *Control) bool { v, ok := now[k.name]; return ok && v != k.value })
}

// set takes positions from the page, or from the training that a page before has left.
func (c *Controls) set(positions map[string]string) {
	c.anew = false
	for _, k := range c.items {
		value := cmp.Or(positions[k.name], k.value)
		c.anew = c.anew || k.anew && value != k.value
		k.value = value
	}
}

func (c *Controls) positions() map[string]string {
	out := map[string]string{}
	for _, k := range c.items {
		out[k.name] = k.value
	}
	return out
}

func (c *Controls) show() {
	if !gonbui.IsNotebook || Headless() {
		return
	}
	tags := make([]string, len(c.items))
	for i, k := range c.items {
		tags[i] = "<label>" + k.tag(k.value) + "</label>"
	}
	c.put(asHTML(fmt.Sprintf(controlsHTML, c.id, strings.Join(tags, "\n")), ""))
}

// controlsHTML is the row as a page keeps it: grey until the extension finds that its cell runs.
const controlsHTML = `<div data-cermic-controls="%s" class="cermic-controls">%s
<small class="cermic-hint">not connected: run this cell to attach to its training, or to begin</small></div>`

// answer is how long a page may take to send its first positions. Without the extension, as in VS Code, it never does.
const answer = 10 * time.Second

// connected waits until a page has answered and reports whether one has.
func (c *Controls) connected(ctx context.Context) bool {
	if !gonbui.IsNotebook || Headless() {
		return false
	}
	for end := time.Now().Add(answer); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(poll) {
		if c.page() != nil {
			return true
		}
	}
	return false
}

// end replaces the controls by the settings in words: the saved notebook says what the last output was made with.
func (c *Controls) end() {
	var parts []string
	for _, k := range c.items {
		if !k.button {
			parts = append(parts, k.name+" = "+k.value)
		}
	}
	line := strings.Join(parts, ", ")
	c.put(asHTML("<small>"+html.EscapeString(line)+"</small>", line))
}
