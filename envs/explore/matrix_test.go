// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

func TestMatrixGamesPayWhatTheirTablesSay(t *testing.T) {
	for _, c := range []struct {
		cfg   envs.Config
		table [][]float32
	}{
		{DefaultClimbing(), [][]float32{{11, -30, 0}, {-30, 7, 6}, {0, 0, 5}}},
		{DefaultPenalty(), [][]float32{{10, 0, -100}, {0, 2, 0}, {-100, 0, 10}}},
		{DefaultNonMonotonic(), [][]float32{{8, -12, -12}, {-12, 0, 0}, {-12, 0, 0}}},
	} {
		for i, row := range c.table {
			for j, pay := range row {
				p := play(t, c.cfg)
				p.step(pay, pay, true, int32(i), int32(j))
				if p.out.Score[0] != pay {
					t.Errorf("the score of %s is %g for %d and %d, want %g", c.cfg.Kind(), p.out.Score[0], i, j, pay)
				}
				box := p.env.Scene(0).Shapes[3*i+j]
				if box.Hollow || box.Label != fmt.Sprint(pay) {
					t.Errorf("the played box of %s, row %d, column %d is drawn as %+v", c.cfg.Kind(), i, j, box)
				}
			}
		}
	}
}

// TestTwoStepGame checks that agent 0 alone selects the table; agent 1's first action has no effect.
func TestTwoStepGame(t *testing.T) {
	for first, table := range [][][]float32{{{7, 7}, {7, 7}}, {{0, 1}, {1, 8}}} {
		for ignored := range int32(2) {
			for i, row := range table {
				for j, pay := range row {
					p := play(t, DefaultTwoStep())
					p.step(0, 0, false, int32(first), ignored)
					p.step(pay, pay, true, int32(i), int32(j))
				}
			}
		}
	}
}

// TestWatchingPutsAMatrixGameOff checks that watching postpones the game and shows the screen to the watching agents
// only.
func TestWatchingPutsAMatrixGameOff(t *testing.T) {
	cfg := DefaultClimbing()
	cfg.TV = Screen
	p := play(t, cfg)
	n := p.env.spec.Obs[0]
	at := p.env.shape.own + p.env.shape.agents
	screen := func(i int) [screenLen]float32 { return [screenLen]float32(p.out.Obs[i*n+at:]) }
	p.step(0, 0, false, 3, 0)
	first := screen(0)
	if first == [screenLen]float32{} || screen(1) != [screenLen]float32{} {
		t.Errorf("agent 0 watches and observes %v, agent 1 does not and observes %v", first, screen(1))
	}
	p.step(0, 0, false, 3, 0)
	if screen(0) == first {
		t.Error("the screen repeats its numbers")
	}
	p.step(11, 11, true, 0, 0)
	if screen(0) != [screenLen]float32{} {
		t.Error("agent 0 still observes the screen")
	}
}

// TestWatchingReturnsTheLockToItsStart checks that watching acts like a wrong pull.
func TestWatchingReturnsTheLockToItsStart(t *testing.T) {
	cfg := DefaultLock()
	cfg.TV = Screen
	p := play(t, cfg)
	l := p.env.game.(*lock)
	p.step(0, 0.125, false, l.rightAt(0)...)
	act := l.rightAt(1)
	act[1] = int32(l.Levers)
	p.step(0, -0.125, false, act...)
}

// TestTheScreenOfAGridIsSeenFromItsCell checks that the screen is observed on its cell only.
func TestTheScreenOfAGridIsSeenFromItsCell(t *testing.T) {
	cfg := DefaultPass()
	cfg.TV = Screen
	p := play(t, cfg)
	g := p.env.game.(*grid)
	n, at := p.env.spec.Obs[0], p.env.shape.own+p.env.shape.agents
	p.put(int(g.screen)%g.w, int(g.screen)/g.w, 0, 0)
	p.moves(stay, stay)
	for i, want := range []bool{true, false} {
		if got := [screenLen]float32(p.out.Obs[i*n+at:]) != [screenLen]float32{}; got != want {
			t.Errorf("agent %d observes the screen: %v, want %v", i, got, want)
		}
	}
}

// TestTheRandomPeerChangesNothingButObservations compares runs with equal actions, with and without the peer.
func TestTheRandomPeerChangesNothingButObservations(t *testing.T) {
	for _, task := range []string{"lock", "pass", "two_step"} {
		a, b := play(t, must.Get(changed(task))(t)), play(t, must.Get(changed(task, "tv="+string(Peer)))(t))
		moved := false
		for step := range 2 {
			n := b.env.spec.Obs[0]
			before := b.env.words(0)[b.env.shape.words-1]
			for i := range a.act.Discrete {
				a.act.Discrete[i], b.act.Discrete[i] = int32((step+i)%2), int32((step+i)%2)
			}
			a.env.Step(a.act, a.out)
			b.env.Step(b.act, b.out)
			o := a.env.spec.Obs[0]
			if a.out.Dense[0] != b.out.Dense[0] || [1]uint8(a.out.Terminated) != [1]uint8(b.out.Terminated) ||
				n != o+b.env.shape.ally {
				t.Errorf("%s: a random peer changes the game", task)
			}
			if !slices.Equal(a.out.Obs[:o], b.out.Obs[:o]) {
				t.Errorf("%s: with a random peer, agent 0 observes %v, without %v", task, b.out.Obs[:o], a.out.Obs[:o])
			}
			moved = moved || before != b.env.words(0)[b.env.shape.words-1]
		}
		if !moved && task != "pass" {
			t.Errorf("%s: the random peer does not act", task)
		}
	}
}
