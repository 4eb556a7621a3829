// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"context"
	"fmt"
	"html"
	"iter"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/comms"
	"github.com/janpfeifer/gonb/gonbui/dom"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// Controls is a row of sliders and menus above a cell's output. Make it, add what can be set, then range over Rounds.
type Controls struct {
	block
	id      string // of the element on the page
	items   []*Control
	changed chan struct{} // holds one token if something moved since the last round
}

// Control is one setting.
type Control struct {
	name, address, tag string
	mu                 sync.Mutex
	value, next        string
}

// NewControls returns an empty row. It keeps its place: what is shown later stands below it.
func NewControls() *Controls {
	c := &Controls{block: newBlock(), id: "controls-" + gonbui.UniqueId(), changed: make(chan struct{}, 1)}
	c.put(content{protocol.MIMETextHTML: "", protocol.MIMETextPlain: ""})
	return c
}

// Slider adds a number between low and high.
func (c *Controls) Slider(name string, low, high, step, value float64) *Control {
	return c.add(name, fmt.Sprint(value), func(k *Control) string {
		return fmt.Sprintf(`<input type="range" data-address="%s" min="%g" max="%g" step="%g" value="%g"> <output>%g</output>`,
			k.address, low, high, step, value, value)
	})
}

// Menu adds a choice of one of the options; value is the default.
func (c *Controls) Menu(name, value string, options ...string) *Control {
	return c.add(name, value, func(k *Control) string {
		var b strings.Builder
		fmt.Fprintf(&b, `<select data-address="%s">`, k.address)
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

func (c *Controls) add(name, value string, tag func(*Control) string) *Control {
	k := &Control{name: name, value: value, next: value, address: "/cermic/" + gonbui.UniqueId()}
	k.tag = fmt.Sprintf("<label>%s %s</label>", html.EscapeString(name), tag(k))
	c.items = append(c.items, k)
	return k
}

// Text is the setting as it was when the round began.
func (k *Control) Text() string { return k.value }

// Number is the setting as a number; NaN for a menu whose options are none.
func (k *Control) Number() float64 {
	v, err := strconv.ParseFloat(k.value, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// settle is how long a control must rest before a round begins: a slider passes many values on its way.
const settle = 300 * time.Millisecond

// Rounds yields a context with the current settings, and again whenever a control was moved; moving one also cancels the
// context of the round before, so that a run in it saves itself and makes room. It ends when ctx is cancelled: the stop
// button. Where no browser answers there is exactly one round, with the defaults.
func (c *Controls) Rounds(ctx context.Context) iter.Seq[context.Context] {
	return func(yield func(context.Context) bool) {
		c.rounds(ctx, c.connect(ctx), yield)
		c.put(c.settings()) // the saved notebook says what the last output was made with
	}
}

func (c *Controls) rounds(ctx context.Context, connected bool, yield func(context.Context) bool) {
	for {
		c.apply()
		round, cancel := context.WithCancel(ctx)
		if connected {
			go c.cancelOnChange(round, cancel)
		}
		again := yield(round)
		cancel()
		if !connected || !again || !c.wait(ctx) {
			return
		}
	}
}

// cancelOnChange ends a round when a control moves, and leaves the token for wait.
func (c *Controls) cancelOnChange(round context.Context, cancel context.CancelFunc) {
	select {
	case <-c.changed:
		cancel()
		c.touch()
	case <-round.Done():
	}
}

// touch notes that something moved.
func (c *Controls) touch() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// wait returns true once a control was moved and then rested, false once ctx is cancelled.
func (c *Controls) wait(ctx context.Context) bool {
	select {
	case <-c.changed:
	case <-ctx.Done():
		return false
	}
	for {
		select {
		case <-c.changed:
		case <-time.After(settle):
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// apply makes the newest positions the settings of the next round.
func (c *Controls) apply() {
	for _, k := range c.items {
		k.mu.Lock()
		k.value = k.next
		k.mu.Unlock()
	}
}

// set notes a new position of k.
func (c *Controls) set(k *Control, value string) {
	k.mu.Lock()
	moved := k.next != value
	k.next = value
	k.mu.Unlock()
	if moved {
		c.touch()
	}
}

// settings is the row as text.
func (c *Controls) settings() content {
	var parts []string
	for _, k := range c.items {
		parts = append(parts, k.name+" = "+k.value)
	}
	line := strings.Join(parts, ", ")
	return content{protocol.MIMETextHTML: "<small>" + html.EscapeString(line) + "</small>", protocol.MIMETextPlain: line}
}

// connect shows the row and reports whether a browser answers.
func (c *Controls) connect(ctx context.Context) bool {
	if !gonbui.IsNotebook || Headless() || !browser(ctx) {
		return false
	}
	tags := make([]string, len(c.items))
	for i, k := range c.items {
		tags[i] = k.tag
		positions := comms.Listen[string](k.address).LatestOnly()
		go func() {
			for value := range positions.C {
				c.set(k, value)
			}
		}()
	}
	page := fmt.Sprintf(`<div id="%s" style="display:flex;flex-wrap:wrap;gap:2em;align-items:center">%s</div>`, c.id, strings.Join(tags, "\n"))
	c.put(content{protocol.MIMETextHTML: page, protocol.MIMETextPlain: c.settings()[protocol.MIMETextPlain]})
	dom.TransientJavascript(fmt.Sprintf(script, c.id))
	return true
}

// script sends every change of a control to its address, as text, and writes a slider's number beside it.
const script = `(() => {
	for (const k of document.getElementById(%q).querySelectorAll("[data-address]")) {
		k.addEventListener("input", () => {
			if (k.nextElementSibling) { k.nextElementSibling.value = k.value; }
			globalThis.gonb_comm.send(k.dataset.address, String(k.value));
		});
	}
})();`

// browser asks the page for a sign of life. Where scripts do not run or the page cannot reach the kernel (VS Code, some
// proxies, no browser at all) none comes.
func browser(ctx context.Context) bool {
	address := "/ping/" + gonbui.UniqueId()
	answer := comms.Listen[string](address).LatestOnly()
	comms.Start()
	dom.TransientJavascript(fmt.Sprintf(`globalThis.gonb_comm?.send(%q, "here");`, address))
	select {
	case <-answer.C:
		return true
	case <-ctx.Done():
		return false
	case <-time.After(5 * time.Second):
		return false
	}
}
