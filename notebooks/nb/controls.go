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
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// Controls is a row of sliders and menus above a cell's output. Make it, add what can be set, then range over Rounds.
type Controls struct {
	block
	id      string // of the element on the page
	line    block  // the settings in words, which a saved notebook keeps
	items   []*Control
	changed chan struct{} // holds one token if something moved since the last round
}

// Control is one setting.
type Control struct {
	name, address string
	tag           func() string // HTML
	mu            sync.Mutex
	value, next   string
}

// NewControls returns an empty row. It keeps its place: what is shown later stands below it.
func NewControls() *Controls {
	c := &Controls{block: newBlock(), id: "controls-" + gonbui.UniqueId(), line: newBlock(), changed: make(chan struct{}, 1)}
	c.put(content{protocol.MIMETextHTML: "", protocol.MIMETextPlain: ""})
	c.line.put(content{protocol.MIMETextHTML: "", protocol.MIMETextPlain: ""})
	return c
}

// Slider adds a number between low and high.
func (c *Controls) Slider(name string, low, high, step, value float64) *Control {
	return c.add(name, fmt.Sprint(value), func(k *Control) string {
		return fmt.Sprintf(`<input type="range" data-lm-suppress-shortcuts disabled data-address="%s" min="%g" max="%g" step="%g" value="%s"> <output>%s</output>`,
			k.address, low, high, step, k.next, k.next)
	})
}

// Menu adds a choice of one of the options; value is the default.
func (c *Controls) Menu(name, value string, options ...string) *Control {
	return c.add(name, value, func(k *Control) string {
		var b strings.Builder
		fmt.Fprintf(&b, `<select data-lm-suppress-shortcuts disabled data-address="%s">`, k.address)
		for _, o := range options {
			chosen := ""
			if o == k.next {
				chosen = " selected"
			}
			fmt.Fprintf(&b, `<option%s>%s</option>`, chosen, html.EscapeString(o))
		}
		return b.String() + "</select>"
	})
}

func (c *Controls) add(name, value string, tag func(*Control) string) *Control {
	k := &Control{name: name, value: value, next: value, address: "/cermic/" + gonbui.UniqueId()}
	k.tag = func() string { return fmt.Sprintf("<label>%s %s</label>", html.EscapeString(name), tag(k)) }
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
		connected := sync.OnceValue(func() bool { return c.connect(ctx) != nil })
		go connected()
		c.rounds(ctx, connected, yield)
		connected() // or what shows that no page answers would replace what is said at the end
		c.end("")
	}
}

// end replaces the controls by the settings in words: the saved notebook says what the last output was made with.
func (c *Controls) end(why string) {
	c.line.put(content{protocol.MIMETextHTML: "", protocol.MIMETextPlain: ""})
	c.put(c.settings(why))
}

// rounds waits for a page, by calling connected, where a round has ended: the first one begins at once.
func (c *Controls) rounds(ctx context.Context, connected func() bool, yield func(context.Context) bool) {
	for {
		c.apply()
		round, cancel := context.WithCancel(ctx)
		go c.cancelOnChange(round, cancel)
		again := yield(round)
		cancel()
		if !again || !connected() || !c.wait(ctx) {
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

// settings is the row as text, with what is to be said of it.
func (c *Controls) settings(remark string) content {
	var parts []string
	for _, k := range c.items {
		parts = append(parts, k.name+" = "+k.value)
	}
	line := strings.Join(parts, ", ")
	if remark != "" {
		line += " · " + remark
	}
	return content{protocol.MIMETextHTML: "<small>" + html.EscapeString(line) + "</small>", protocol.MIMETextPlain: line}
}

// positions are the newest settings, by name, and take sets them before the controls are shown.
func (c *Controls) positions() map[string]string {
	out := map[string]string{}
	for _, k := range c.items {
		out[k.name] = k.value
	}
	return out
}

func (c *Controls) take(positions map[string]string) {
	for _, k := range c.items {
		if v, ok := positions[k.name]; ok {
			k.value, k.next = v, v
		}
	}
}

// connect shows the row; it returns nil if no browser answers.
func (c *Controls) connect(ctx context.Context) *page {
	if !gonbui.IsNotebook || Headless() {
		return nil
	}
	tags := make([]string, len(c.items))
	for i, k := range c.items {
		tags[i] = k.tag()
		positions := comms.Listen[string](k.address).LatestOnly()
		go func() {
			for value := range positions.C {
				c.set(k, value)
			}
		}()
	}
	c.put(content{protocol.MIMETextHTML: fmt.Sprintf(rowPage, c.id, strings.Join(tags, "\n")), protocol.MIMETextPlain: ""})
	p := openPage(ctx, c.id)
	if p == nil {
		c.put(content{protocol.MIMETextHTML: "", protocol.MIMETextPlain: ""})
	}
	return p
}

// rowPage is the row as a page keeps it: grey until the script of a page that is connected brings it to life.
const rowPage = `<style>
.cermic-controls { display: flex; flex-wrap: wrap; gap: .3em 2em; align-items: center }
.cermic-controls:not(.cermic-live) label { opacity: .4 }
.cermic-controls:not(.cermic-live) output, .cermic-controls:not(.cermic-live) input::-webkit-slider-thumb { visibility: hidden }
.cermic-controls:not(.cermic-live) select { color: transparent }
.cermic-controls.cermic-live .cermic-hint { display: none }
</style><div id="%s" class="cermic-controls">%s
<small class="cermic-hint">not connected: run this cell to attach to its training, or to begin</small></div>`
