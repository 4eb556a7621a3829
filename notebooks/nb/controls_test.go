// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestControlsWithoutABrowserMakeOneRoundWithTheDefaults(t *testing.T) {
	c := NewControls()
	alpha, memory := c.Slider("α", 0, 1, 0.05, 0.2), c.Menu("memory", "gru", "graph", "gru")
	rounds := 0
	for round := range c.Rounds(context.Background()) {
		rounds++
		if alpha.Number() != 0.2 || memory.Text() != "gru" || round.Err() != nil {
			t.Errorf("round with α = %g and memory %s, want the defaults", alpha.Number(), memory.Text())
		}
	}
	if rounds != 1 {
		t.Errorf("%d rounds, want 1", rounds)
	}
}

func TestTheMenuShowsItsDefault(t *testing.T) {
	tag := NewControls().Menu("memory", "gru", "graph", "gru").tag()
	if !strings.Contains(tag, "<option>graph</option><option selected>gru</option>") {
		t.Errorf("got %s", tag)
	}
}

func TestMovingAControlEndsTheRoundAndStartsOneWithTheNewSettings(t *testing.T) {
	c := NewControls()
	alpha := c.Slider("α", 0, 1, 0.05, 0.2)
	ctx, stop := context.WithCancel(context.Background())
	var seen []float64
	c.rounds(ctx, func() bool { return true }, func(round context.Context) bool {
		seen = append(seen, alpha.Number())
		switch len(seen) {
		case 1:
			go func() {
				for _, v := range []string{"0.3", "0.4", "0.5"} { // a drag
					c.set(alpha, v)
				}
			}()
			<-round.Done()
			if alpha.Number() != 0.2 {
				t.Errorf("α became %g within a round", alpha.Number())
			}
		case 2:
			c.set(alpha, "0.5") // no change: must not start a round
			stop()
		}
		return true
	})
	if len(seen) != 2 || seen[1] != 0.5 {
		t.Errorf("rounds with α = %v, want 0.2 and then where the drag ended", seen)
	}
}

func TestStopEndsTheRounds(t *testing.T) {
	c := NewControls()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan bool)
	go func() {
		c.rounds(ctx, func() bool { return true }, func(round context.Context) bool { <-round.Done(); return true })
		close(done)
	}()
	stop()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Error("the rounds went on after a stop")
	}
}
