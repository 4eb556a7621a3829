// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"cermic/envs"
	"cermic/envs/rng"
)

// grid is the rules of pass, secret and rooms: two agents on cells, and doors that open by switches. When both agents
// stand on goal cells, they get a reward of 1 and the episode ends. Agents can share a cell. An action is a move;
// walls and closed doors block it, and all moves of a step see the doors as before the step.
//
// A state is the cells of agents 0 and 1, the stage (number of permanently open doors) and the cell of the random
// peer.
type grid struct {
	w, h   int
	wall   []bool  // [w·h] row by row from the top
	door   []int8  // [w·h] number of the door on the cell, or -1
	pad    []int8  // [w·h] room number of the switch on the cell, or -1
	goal   []bool  // [w·h]
	room   []int8  // [w·h] room number; -1 for walls and doors
	start  []int32 // starting cells of the agents
	screen int32   // cell of the screen
	doors  int     //
	// latched doors open permanently and in order, each when both switches of its room are held at once. Other doors
	// are open while any switch is held.
	latched bool
	horizon int      //
	next    []int32  // [w·h,5] destination of each move with all doors open
	left    []uint16 // [stages,w·h,w·h] length of a shortest plan to success, or unsolvable
	far     float32  // largest length of a shortest plan from a start
}

// gridAgents is the number of agents of every grid.
const gridAgents = 2

// Indices into a grid's state.
const (
	gridStage = gridAgents
	gridPeer  = gridAgents + 1
	gridWords = gridAgents + 2
)

// moves are the actions: stay, left, right, up, down.
var moves = [5][2]int{{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}}

// newGrid makes a grid full of walls; tasks carve their rooms into it. Agents start in the upper left corner.
func newGrid(w, h, horizon int) *grid {
	g := &grid{
		w: w, h: h, horizon: horizon, wall: make([]bool, w*h), door: make([]int8, w*h), pad: make([]int8, w*h),
		goal: make([]bool, w*h), room: make([]int8, w*h), start: []int32{0, 1, int32(w), int32(w + 1)},
	}
	for k := range g.wall {
		g.wall[k], g.door[k], g.pad[k], g.room[k] = true, -1, -1, -1
	}
	return g
}

// at is the cell in column x and row y.
func (g *grid) at(x, y int) int32 { return int32(y*g.w + x) }

// carve makes room number k, w cells wide and h high, from (x, y) on.
func (g *grid) carve(k, x, y, w, h int) {
	for dy := range h {
		for dx := range w {
			cell := g.at(x+dx, y+dy)
			g.wall[cell], g.room[cell] = false, int8(k)
		}
	}
}

// addDoor puts the next door at (x, y).
func (g *grid) addDoor(x, y int) {
	cell := g.at(x, y)
	g.wall[cell], g.door[cell] = false, int8(g.doors)
	g.doors++
}

// goalIn makes all cells of a room goals.
func (g *grid) goalIn(room int8) {
	for cell, k := range g.room {
		g.goal[cell] = k == room
	}
}

// stages is the number of stages.
func (g *grid) stages() int {
	if g.latched {
		return g.doors + 1
	}
	return 1
}

// open reports whether a door is open.
func (g *grid) open(s []int32, door int8) bool {
	if g.latched {
		return int32(door) < s[gridStage]
	}
	return g.pad[s[0]] >= 0 || g.pad[s[1]] >= 0
}

// move is the destination of a move from a cell.
func (g *grid) move(s []int32, cell, choice int32) int32 {
	to := g.next[int(cell)*len(moves)+int(choice)]
	if d := g.door[to]; d >= 0 && to != cell && !g.open(s, d) {
		return cell
	}
	return to
}

// advance applies both agents' moves to s.
func (g *grid) advance(s []int32, a, b int32) {
	s[0], s[1] = g.move(s, s[0], a), g.move(s, s[1], b)
	if g.latched && s[0] != s[1] {
		if k := g.pad[s[0]]; k >= 0 && k == g.pad[s[1]] && int32(k) == s[gridStage] {
			s[gridStage]++
		}
	}
}

// done reports whether both agents stand on goal cells.
func (g *grid) done(s []int32) bool { return g.goal[s[0]] && g.goal[s[1]] }

func (g *grid) shape() shape {
	return shape{
		agents: gridAgents, words: gridWords, own: g.w + g.h + g.doors, ally: 3, choices: len(moves), horizon: g.horizon,
		metric: "success rate", solved: 1, optimum: 1, screen: g.screen,
		cover: envs.Projection{About: "an agent's cell", Columns: g.w, Rows: g.h, Blocked: g.wall},
	}
}

func (g *grid) reset(s []int32, r *rng.Rand) {
	for i := range gridAgents {
		s[i] = g.start[r.IntN(len(g.start))]
	}
	s[gridStage], s[gridPeer] = 0, g.start[r.IntN(len(g.start))]
}

func (g *grid) step(s, act []int32) (out result) {
	if g.done(s) {
		return out
	}
	before := g.steps(s)
	g.advance(s, act[0], act[1])
	if g.done(s) {
		out.sparse, out.score, out.over = 1, 1, true
	}
	out.dense = out.sparse + (float32(before)-float32(g.steps(s)))/g.far
	return out
}

// own is the agent's column and row, both one-hot, and which doors are open.
func (g *grid) own(s []int32, i int, dst []float32) {
	cell := int(s[i])
	dst[cell%g.w], dst[g.w+cell/g.w] = 1, 1
	for d := range g.doors {
		if g.open(s, int8(d)) {
			dst[g.w+g.h+d] = 1
		}
	}
}

// ally is 1 and the peer's relative position in half sizes of the grid. It is all zeros unless the peer is in the
// agent's room or on an adjacent cell.
func (g *grid) ally(s []int32, i, j int, dst []float32) (seen bool, dx, dy float32) {
	if j == gridAgents {
		j = gridPeer
	}
	from, to := int(s[i]), int(s[j])
	x, y := to%g.w-from%g.w, from/g.w-to/g.w // y points up, as in scenes
	half := float32(max(g.w, g.h)) / 2
	dx, dy = float32(x)/half, float32(y)/half
	seen = g.room[from] == g.room[to] && g.room[from] >= 0 || max(x, -x, y, -y) <= 1
	if seen {
		dst[0], dst[1], dst[2] = 1, dx, dy
	}
	return seen, dx, dy
}

func (g *grid) wander(s []int32, r *rng.Rand) {
	s[gridPeer] = g.move(s, s[gridPeer], int32(r.IntN(len(moves))))
}

func (g *grid) cell(s []int32, i int) int32 { return s[i] }

func (g *grid) script(s, act []int32) {
	best := g.steps(s)
	var try [gridWords]int32
	for a := range int32(len(moves)) {
		for b := range int32(len(moves)) {
			copy(try[:], s)
			g.advance(try[:], a, b)
			if n := g.steps(try[:]); n < best {
				best, act[0], act[1] = n, a, b
			}
		}
	}
	if best == g.steps(s) { // already a success
		act[0], act[1] = 0, 0
	}
}

// scene draws the cells at one unit each; the lowest row is y = 0.
func (g *grid) scene(s []int32, tv TV) envs.Scene {
	out := envs.Scene{MaxX: float64(g.w), MaxY: float64(g.h)}
	middle := func(cell int) (x, y float64) { return float64(cell%g.w) + 0.5, float64(g.h-1-cell/g.w) + 0.5 }
	mark := func(cell int, role envs.Role, size float64, hollow bool) {
		x, y := middle(cell)
		b := box(role, x, y, size, size)
		b.Hollow = hollow
		out.Shapes = append(out.Shapes, b)
	}
	for cell := range g.wall {
		switch {
		case g.wall[cell]:
			mark(cell, envs.RoleObstacle, 1, false)
		case g.door[cell] >= 0:
			mark(cell, envs.RoleObject, 0.9, g.open(s, g.door[cell]))
		case g.pad[cell] >= 0:
			mark(cell, envs.RoleJoint, 0.7, int(s[0]) != cell && int(s[1]) != cell)
		case g.goal[cell]:
			mark(cell, envs.RoleTarget, 1, false)
		}
	}
	switch tv {
	case Screen:
		mark(int(g.screen), envs.RoleNoise, 0.9, false)
	case Peer:
		mark(int(s[gridPeer]), envs.RoleNoise, 0.6, false)
	}
	for i := range gridAgents {
		x, y := middle(int(s[i]))
		if s[0] == s[1] {
			x += 0.2 * float64(2*i-1)
		}
		out.Shapes = append(out.Shapes, envs.Shape{Role: envs.RoleAgent, Agent: i, X: x, Y: y, Radius: 0.35})
	}
	return out
}
