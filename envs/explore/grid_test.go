// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"testing"

	"cermic/envs"
)

// Moves.
const (
	stay = iota
	left
	right
	up
	down
)

// put places both agents of a single grid.
func (p *played) put(x0, y0, x1, y1 int) {
	g := p.env.game.(*grid)
	s := p.env.words(0)
	s[0], s[1] = g.at(x0, y0), g.at(x1, y1)
}

// standing checks the agents' positions.
func (p *played) standing(x0, y0, x1, y1 int) {
	p.t.Helper()
	g := p.env.game.(*grid)
	if s := p.env.words(0); s[0] != g.at(x0, y0) || s[1] != g.at(x1, y1) {
		p.t.Fatalf("agents stand on (%d, %d) and (%d, %d), want (%d, %d) and (%d, %d)",
			int(s[0])%g.w, int(s[0])/g.w, int(s[1])%g.w, int(s[1])/g.w, x0, y0, x1, y1)
	}
}

// moves steps a joint move without checking the reward.
func (p *played) moves(a, b int32) {
	copy(p.act.Discrete, []int32{a, b})
	p.env.Step(p.act, p.out)
}

// TestPassByHand checks the grid of 10 × 10, with the door at (5, 5) and switches at (0, 8) and (9, 1).
func TestPassByHand(t *testing.T) {
	p := play(t, DefaultPass())
	p.put(0, 7, 4, 5)
	p.moves(left, right) // a wall, and a closed door
	p.standing(0, 7, 4, 5)
	p.moves(down, right) // the door is still closed when the agent reaches the switch
	p.standing(0, 8, 4, 5)
	p.moves(stay, right)
	p.standing(0, 8, 5, 5)
	p.moves(up, right) // the switch is released; an agent in the door may leave it
	p.standing(0, 7, 6, 5)
	p.put(4, 5, 9, 2)
	p.moves(right, up)
	p.standing(4, 5, 9, 1)
	p.moves(right, stay)
	p.standing(5, 5, 9, 1)
	if p.out.Sparse[0] != 0 || p.out.Terminated[0] != 0 {
		t.Fatal("an agent in the door must not count as in the second room")
	}
	p.moves(right, left)
	p.standing(6, 5, 8, 1)
	if p.out.Sparse[0] != 1 || p.out.Sparse[1] != 1 || p.out.Score[0] != 1 || p.out.Terminated[0] != 1 {
		t.Fatal("both agents in the second room must be a success")
	}
}

// TestRoomsByHand checks rooms of 3 × 3 in a row, with switches of room 0 at (2, 0) and (0, 2) and its door at (3,
// 1).
func TestRoomsByHand(t *testing.T) {
	cfg := DefaultRooms()
	cfg.Rooms, cfg.Size = 2, 3
	p := play(t, cfg)
	p.put(2, 0, 2, 1)
	p.moves(stay, right) // one switch does not open the door
	p.standing(2, 0, 2, 1)
	p.put(2, 0, 2, 0)
	p.moves(stay, stay) // nor do two agents on one switch
	p.put(1, 0, 0, 1)
	p.moves(right, down) // both switches at once
	p.standing(2, 0, 0, 2)
	p.moves(down, up)
	p.moves(right, right) // the door stays open
	p.standing(3, 1, 1, 1)
	p.moves(right, right)
	p.moves(right, right)
	if p.out.Terminated[0] != 0 {
		t.Fatal("the episode ends with one agent in the last room")
	}
	p.moves(stay, right)
	p.standing(5, 1, 4, 1)
	if p.out.Sparse[0] != 1 || p.out.Terminated[0] != 1 {
		t.Fatal("both agents in the last room must be a success")
	}
}

// TestSecretByHand checks three rooms of three rows beside a large one, with doors at (5, 1), (5, 5), (5, 9) and
// switches at (0, 10), (10, 8).
func TestSecretByHand(t *testing.T) {
	p := play(t, DefaultSecret())
	for _, y := range []int{1, 5, 9} {
		p.put(4, y, 0, 0)
		p.moves(right, stay)
		p.standing(4, y, 0, 0)
		p.put(4, y, 0, 10)
		p.moves(right, stay)
		p.standing(5, y, 0, 10)
	}
	p.put(4, 9, 10, 8)
	p.moves(right, stay)
	p.standing(5, 9, 10, 8)
	p.put(6, 1, 7, 1) // a room other than the secret one
	p.moves(right, stay)
	if p.out.Terminated[0] != 0 {
		t.Fatal("a room other than the secret one is a success")
	}
	p.put(5, 9, 10, 8)
	p.moves(right, stay)
	if p.out.Sparse[0] != 1 {
		t.Fatal("both agents in the secret room must be a success")
	}
}

// TestShortestPlansAreShortest checks a plan counted by hand. The agents stand side by side in the first of two rooms
// of 3 × 3, one step from a switch each. Step 1 opens the door; then the agent at (0, 2) needs five more steps to (4,
// 1).
func TestShortestPlansAreShortest(t *testing.T) {
	cfg := DefaultRooms()
	cfg.Rooms, cfg.Size = 2, 3
	p := play(t, cfg)
	p.put(1, 0, 0, 1)
	g := p.env.game.(*grid)
	if got := g.steps(p.env.words(0)); got != 6 {
		t.Errorf("the shortest plan has %d steps, want 6", got)
	}
}

// TestDenseRewardOfGridsAddsUpToTheWayThatIsDone checks that success adds 1, and shaping the fraction of the longest
// plan that lay ahead.
func TestDenseRewardOfGridsAddsUpToTheWayThatIsDone(t *testing.T) {
	for _, cfg := range []envs.Config{DefaultPass(), DefaultSecret(), DefaultRooms()} {
		p := play(t, cfg)
		g := p.env.game.(*grid)
		ahead, steps, sum := float32(g.steps(p.env.words(0))), 0, float32(0)
		for p.out.Terminated[0] == 0 {
			p.env.Script(p.act)
			p.env.Step(p.act, p.out)
			sum += p.out.Dense[0]
			steps++
		}
		// sums of at most 60 float32
		if want := 1 + ahead/g.far; float32(steps) != ahead || sum-want > 1e-4 || want-sum > 1e-4 {
			t.Errorf("%s: %d steps of %g give %g, want %g", cfg.Kind(), steps, ahead, sum, want)
		}
		if g.horizon < int(g.far)+10 {
			t.Errorf("%s: a horizon of %d leaves no time to explore, with a plan of %g steps", cfg.Kind(), g.horizon, g.far)
		}
		t.Logf("%s: longest plan %g steps, horizon %d", cfg.Kind(), g.far, g.horizon)
	}
}

func TestAgentsOfAGridPerceivePeersInTheirRoomOrBesideThem(t *testing.T) {
	p := play(t, DefaultPass())
	for _, c := range []struct {
		x0, y0, x1, y1 int
		seen           uint8
	}{{0, 0, 4, 9, 1}, {0, 0, 9, 9, 0}, {4, 5, 5, 5, 1}, {3, 5, 5, 5, 0}, {4, 4, 5, 5, 1}, {4, 0, 6, 0, 0}} {
		p.put(c.x0, c.y0, c.x1, c.y1)
		p.env.writeObs(0, p.out)
		n := p.env.spec.Obs[0]
		ally := p.out.Obs[n-3 : n]
		dx, dy := float32(c.x1-c.x0)/5, float32(c.y0-c.y1)/5
		if p.out.Visible[1] != c.seen || p.out.Visible[2] != c.seen || p.out.RelPos[2] != dx || p.out.RelPos[3] != dy {
			t.Errorf("%+v: visible %v at %v", c, p.out.Visible, p.out.RelPos)
		}
		if want := [3]float32{float32(c.seen), dx * float32(c.seen), dy * float32(c.seen)}; [3]float32(ally) != want {
			t.Errorf("%+v: observed %v, want %v", c, ally, want)
		}
	}
}
