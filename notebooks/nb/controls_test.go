// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cermic/cermiclib/results"
)

func TestControlsWithoutABrowserMakeOneRoundWithTheDefaults(t *testing.T) {
	c := NewControls()
	alpha, memory := c.Slider("α", 0, 1, 0.05, 0.2), c.Menu("memory", "gru", "graph", "gru")
	rounds := 0
	c.rounds(t.Context(), func() bool { return c.connected(t.Context()) }, func(round context.Context) {
		rounds++
		if alpha.Text() != "0.2" || memory.Text() != "gru" || round.Err() != nil {
			t.Errorf("round with α = %s and memory %s, want the defaults", alpha.Text(), memory.Text())
		}
	})
	if rounds != 1 {
		t.Errorf("%d rounds, want 1", rounds)
	}
}

func TestTheMenuShowsItsDefault(t *testing.T) {
	tag := NewControls().Menu("memory", "gru", "graph", "gru").tag("gru")
	if !strings.Contains(tag, "<option>graph</option><option selected>gru</option>") {
		t.Errorf("got %s", tag)
	}
}

func TestMovingAControlEndsTheRoundAndStartsOneWithTheNewSettings(t *testing.T) {
	t.Setenv("NB_KERNEL", t.TempDir())
	c := NewControls()
	alpha := c.Slider("α", 0, 1, 0.05, 0.2)
	c.Menu("start", "here", "here", "there").Anew()
	ctx, stop := context.WithCancel(t.Context())
	move := func(id, to string) {
		note := fmt.Sprintf(`{"id":%q,"positions":{"α":%q}}`, id, to)
		if err := results.WriteFile(notePath(controlsNote), []byte(note)); err != nil {
			t.Error(err)
		}
	}
	var seen []string
	c.rounds(ctx, func() bool { return c.page() != nil }, func(round context.Context) {
		switch seen = append(seen, alpha.Text()); len(seen) {
		case 1:
			move("another row", "0.9")
			go func() {
				for _, v := range []string{"0.3", "0.4", "0.5"} { // a drag
					move(c.id, v)
				}
			}()
			<-round.Done()
			if alpha.Text() != "0.2" {
				t.Errorf("α became %s within a round", alpha.Text())
			}
		case 2:
			move(c.id, "0.5") // no change: must not start a round
			time.AfterFunc(2*settle, stop)
		}
	})
	if !slices.Equal(seen, []string{"0.2", "0.5"}) {
		t.Errorf("rounds with α = %s, want 0.2 and then where the drag ended", seen)
	}
	for _, move := range []struct {
		name, to string
		anew     bool
	}{{"α", "0.6", false}, {"start", "there", true}, {"α", "0.7", false}} {
		if c.set(map[string]string{move.name: move.to}); c.anew != move.anew {
			t.Errorf("%s = %s begins anew: %v, want %v", move.name, move.to, c.anew, move.anew)
		}
	}
}

func TestStopEndsTheRounds(t *testing.T) {
	c := NewControls()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() {
		c.rounds(ctx, func() bool { return true }, func(round context.Context) { <-round.Done() })
		close(done)
	}()
	stop()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Error("the rounds went on after a stop")
	}
}
