// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
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
	beat   = time.Second
	silent = 4 * time.Second // a page that has not answered for as long is gone; one that is only hidden answers
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
	for range 4 { // GoNB connects to another page only if it has not heard of the one before for a second
		comms.Start()
		dom.TransientJavascript(fmt.Sprintf(pageScript, p.id, p.address))
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

// pageScript answers each sign of life of the kernel, which also reaches a page that is hidden, as long as the notebook is open. Controls are enabled
// while signs come; in a saved notebook they are not.
const pageScript = `(() => {
	const comm = globalThis.gonb_comm, root = document.getElementById(%[1]q), address = %[2]q;
	if (!comm) { return; }
	let heard = Date.now(), panel = null;
	const live = on => {
		root?.classList.toggle("cermic-live", on);
		for (const k of root?.querySelectorAll("[data-address]") ?? []) { k.disabled = !on; }
	};
	const answer = value => comm.send(address, String(value));
	comm.subscribe(address, (_, value) => {
		if (root?.isConnected) { panel = root.closest(".jp-NotebookPanel") ?? panel; }
		if (panel && !panel.isConnected) { return; }
		heard = Date.now();
		live(true);
		answer(value);
	});
	for (const k of root?.querySelectorAll("[data-address]") ?? []) {
		const moved = () => {
			if (k.nextElementSibling) { k.nextElementSibling.value = k.value; }
			comm.send(k.dataset.address, String(k.value));
		};
		k.addEventListener("input", moved);
		k.addEventListener("change", moved); // all that some ways of choosing from a menu bring
	}
	const timer = setInterval(() => {
		if (Date.now() - heard < 4500 && globalThis.gonb_comm === comm) { return; }
		live(false);
		if (globalThis.gonb_comm !== comm || (root && !root.isConnected)) { clearInterval(timer); }
	}, 500);
	addEventListener("pagehide", () => answer("gone"));
	live(true);
	answer("here");
})();`

// watch cancels with the reason once the page is gone or another one asks for the cell.
func (p *page) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	go p.call(ctx)
	asked := time.NewTicker(beat / 10)
	defer asked.Stop()
	for heard := time.Now(); ctx.Err() == nil; {
		select {
		case answer := <-p.answers.C:
			if answer == "gone" {
				cancel(errGone)
				return
			}
			heard = time.Now()
		case <-asked.C:
			if path := notePath(askedNote); path != "" {
				if _, err := os.Stat(path); err == nil {
					cancel(errAsked)
					return
				}
			}
			if time.Since(heard) > silent {
				cancel(errGone)
				return
			}
		case <-ctx.Done():
		}
	}
}

// call sends the page a sign of life every second.
func (p *page) call(ctx context.Context) {
	for n := 1; ctx.Err() == nil; n++ {
		comms.Send(p.address, strconv.Itoa(n))
		select {
		case <-time.After(beat):
		case <-ctx.Done():
		}
	}
}
