// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/comms"
	"github.com/janpfeifer/gonb/gonbui/dom"
)

// page is the page of a browser that shows the cell.
type page struct {
	id      string // of an element of it
	address string
	answers *comms.AddressChan[string]
}

const (
	beat   = 500 * time.Millisecond // GoNB holds a connection of which it has not heard for a second for broken
	silent = 4 * time.Second        // a page that has not answered for as long is gone; one that is only hidden answers
)

// Why a page is not the cell's any more.
var (
	errGone  = errors.New("its page is gone")
	errAsked = errors.New("another page shows it now")
)

// openPage asks the page with an element for a sign of life; nil if none comes. Where scripts do not run or the page cannot reach the
// kernel (VS Code, some proxies, no browser at all) none does.
func openPage(ctx context.Context, id string) *page {
	if !gonbui.IsNotebook || Headless() {
		return nil
	}
	p := &page{id: id, address: "/cermic/page/" + gonbui.UniqueId()}
	p.answers = comms.Listen[string](p.address).WithBuffer(16)
	for range 8 { // GoNB connects to another page only if it has not heard of the one before for a second; a busy one takes longer
		p.script()
		select {
		case <-p.answers.C:
			return p
		case <-ctx.Done():
			return nil
		case <-time.After(1300 * time.Millisecond):
		}
	}
	return nil
}

// script brings the page to answer. A page that does already answers once more.
func (p *page) script() {
	comms.Start()
	dom.TransientJavascript(fmt.Sprintf(pageScript, p.id, p.address))
}

// pageScript answers each sign of life of the kernel, which also reaches a page that is hidden, as long as the notebook is open. Controls are enabled
// while signs come; in a saved notebook they are not.
//
// GoNB makes a connection anew where it does not hear from a busy page for half a second: a second script then finds what the first has made, and subscribes there.
const pageScript = `(() => {
	const id = %[1]q, address = %[2]q, pages = globalThis.cermic_pages ??= {};
	const send = (to, value) => globalThis.gonb_comm?.send(to, String(value));
	const make = () => {
		const page = {heard: 0, comm: null, root: null, panel: null};
		const knobs = () => page.root?.querySelectorAll("[data-address]") ?? [];
		page.live = on => {
			page.root?.classList.toggle("cermic-live", on);
			for (const k of knobs()) { k.disabled = !on; }
		};
		page.find = () => { // a cell that is out of sight may not be on the page yet
			page.root = document.getElementById(id);
			for (const k of knobs()) {
				const moved = () => {
					if (k.nextElementSibling) { k.nextElementSibling.value = k.value; }
					send(k.dataset.address, k.value);
				};
				k.addEventListener("input", moved);
				k.addEventListener("change", moved); // all that some ways of choosing from a menu bring
			}
		};
		page.answer = value => {
			if (!page.root) { page.find(); }
			if (page.root?.isConnected) { page.panel = page.root.closest(".jp-NotebookPanel") ?? page.panel; }
			if (page.panel && !page.panel.isConnected) { return; }
			page.heard = Date.now();
			page.live(true);
			send(address, value);
		};
		const timer = setInterval(() => {
			if (Date.now() - page.heard < 4500) { return; }
			page.live(false);
			if (page.root && !page.root.isConnected) { clearInterval(timer); }
		}, 500);
		addEventListener("pagehide", () => send(address, "gone"));
		return page;
	};
	const comm = globalThis.gonb_comm;
	if (!comm) { return; }
	const page = pages[address] ??= make();
	if (page.comm !== comm) {
		page.comm = comm;
		comm.subscribe(address, (_, value) => page.answer(value));
	}
	page.answer("here");
})();`

// watch cancels with the reason once the page is gone.
func (p *page) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	var heard atomic.Int64 // Unix nanoseconds
	since := func() time.Duration { return time.Since(time.Unix(0, heard.Load())) }
	heard.Store(time.Now().UnixNano())
	go p.call(ctx, since)
	look := time.NewTicker(beat / 2)
	defer look.Stop()
	for ctx.Err() == nil {
		select {
		case answer := <-p.answers.C:
			if answer == "gone" {
				cancel(errGone)
				return
			}
			heard.Store(time.Now().UnixNano())
		case <-look.C:
			if since() > silent {
				cancel(errGone)
				return
			}
		case <-ctx.Done():
		}
	}
}

// makeRoom cancels once another page asks for this cell.
func makeRoom(ctx context.Context, cancel context.CancelCauseFunc) {
	path := notePath(askedNote)
	for path != "" && ctx.Err() == nil {
		if _, err := os.Stat(path); err == nil {
			cancel(errAsked)
			return
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// call sends the page signs of life, and after some in vain the script again.
func (p *page) call(ctx context.Context, since func() time.Duration) {
	for n := 1; ctx.Err() == nil; n++ {
		comms.Send(p.address, strconv.Itoa(n))
		if since() > silent/2 {
			p.script()
		}
		select {
		case <-time.After(beat):
		case <-ctx.Done():
		}
	}
}
