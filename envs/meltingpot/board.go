// SPDX-License-Identifier: Apache-2.0

package meltingpot

import "slices"

// facing is one of the four directions; adding 1 turns right. The map's y axis points south.
type facing uint8

// The directions.
const (
	north facing = iota
	east
	south
	west
)

// turned returns f after quarter turns to the right.
func (f facing) turned(quarters int) facing { return facing(int(f)+quarters) & 3 }

// avatar is the body of one player.
type avatar struct {
	cell   int32 // its position, or the last one before its removal
	face   facing
	alive  bool
	free   bool  // may move and fire
	since  int32 // frame of the last change of alive
	marker uint8 // displayed above it, an index of looks.markers
}

// site is a cell whose content changes: a resource, an apple or dirt.
type site struct {
	state uint8
	since int32 // frame of the last change of state
}

// beam is a kind of beam, an index of looks.beams.
type beam uint8

// rules is the logic of a substrate. The board calls it while it executes operations; operations queued meanwhile
// wait for the next round.
type rules interface {
	// update queues operations at the start of a step. It sees the board as the last step left it.
	update(act []int32, d draws)
	// enter is called when a player stands on a site after a move, a blocked move or a change of the site.
	enter(player, site int)
	// hit is called when a beam reaches a cell that is not a wall. It reports whether the beam ends there.
	hit(b beam, shooter int, cell int32) bool
	// changed is called when a site has a new state; it returns the ground to show.
	changed(site int) uint8
}

// board is the world of one environment. A step calls rules.update, executes the queued operations in order, then the
// operations queued by these, and so on.
//
// From: google-deepmind/lab2d, dmlab2d/lib/system/grid_world/grid.cc (behaviour only)
type board struct {
	*layout
	rules   rules
	frame   int32 // steps since the reset
	avatars []avatar
	sites   []site
	reward  []float64 // of the last step, by player
	events  []event   // of the last step; also compared with recordings

	who   []int8   // [cells] player in the cell, or -1
	floor []uint16 // [cells] code of the ground
	beams []uint8  // [cells] bit set of beams in this step
	lit   []int32  // cells with any beam
	code  []uint16 // [cells] code of the cell's content, an index of palette.table

	queue, next []op
	turns       []int8  // [N] players in the order of the current stage
	spare       []int32 // scratch for lists of free cells
}

// op is a queued operation.
type op struct {
	kind opKind
	who  int16 // player or site
	arg  int16
}

type opKind uint8

// The operations, with their arguments.
const (
	opTurn    opKind = iota // player; quarter turns to the right
	opMove                  // player; direction relative to its facing
	opBeam                  // player; kind of beam
	opRespawn               // player
	opRemove                // player
	opSite                  // site; new state
)

// eventKind is a kind of event in a step.
type eventKind uint8

// The events, with their names and arguments in the original.
const (
	eventCollected   eventKind = iota // collected_resource: player, class
	eventDestroyed                    // destroyed_resource: player, class
	eventInteraction                  // interaction: zapper, zapped
	eventZap                          // zap: source, target
	eventCleaned                      // player_cleaned: player
	eventEaten                        // edible_consumed: player
)

// event is an occurrence that recordings and statistics count.
type event struct {
	kind eventKind
	a, b int8
}

// rounds is the largest number of rounds per step; the rules here need three.
const rounds = 129

// newBoard allocates one environment. A step has at most twice as many operations and events as sites, plus a few per
// player, so nothing grows later.
func newBoard(l *layout) board {
	cells, n, room := len(l.wall), l.players, 2*len(l.sites)+32*l.players
	return board{
		layout: l, avatars: make([]avatar, n), sites: make([]site, len(l.sites)), reward: make([]float64, n),
		events: make([]event, 0, room), who: make([]int8, cells), floor: slices.Clone(l.ground), beams: make([]uint8, cells),
		lit: make([]int32, 0, cells), code: make([]uint16, cells), queue: make([]op, 0, room), next: make([]op, 0, room),
		turns: make([]int8, n), spare: make([]int32, 0, len(l.spawns)),
	}
}

// reset places every player on its own spawn cell and clears everything else; the rules then set the sites.
func (b *board) reset(d draws) {
	b.frame = 0
	clear(b.avatars)
	b.stand()
	copy(b.floor, b.ground)
	for i := range b.avatars {
		b.avatars[i] = avatar{alive: true, free: true}
		b.arrive(i, d)
	}
}

// forget clears the rewards, events and beams of the last step.
func (b *board) forget() {
	clear(b.reward)
	b.events = b.events[:0]
	for _, cell := range b.lit {
		b.beams[cell] = 0
	}
	b.lit = b.lit[:0]
}

// step executes one step of all players.
func (b *board) step(act []int32, d draws) {
	b.frame++
	b.forget()
	b.rules.update(act, d)
	for round := 0; len(b.next) > 0 && round < rounds; round++ {
		b.queue, b.next = b.next, b.queue[:0]
		for _, o := range b.queue {
			b.execute(o, d)
		}
	}
	b.next = b.next[:0]
}

// later queues an operation for the next round.
func (b *board) later(kind opKind, who, arg int) {
	b.next = append(b.next, op{kind, int16(who), int16(arg)})
}

func (b *board) execute(o op, d draws) {
	i := int(o.who)
	switch o.kind {
	case opTurn:
		b.avatars[i].face = b.avatars[i].face.turned(int(o.arg))
	case opMove:
		b.move(i, int(o.arg))
	case opBeam:
		b.fire(i, beam(o.arg))
	case opRespawn:
		b.avatars[i].alive, b.avatars[i].since = true, b.frame+1
		b.arrive(i, d)
	case opRemove:
		if a := &b.avatars[i]; a.alive {
			b.who[a.cell] = -1
			a.alive = false
		}
		b.avatars[i].since = b.frame + 1
	case opSite:
		b.set(i, uint8(o.arg))
	}
}

// arrive places a player on a free spawn cell.
func (b *board) arrive(i int, d draws) {
	free := b.spare[:0]
	for _, cell := range b.spawns {
		if b.who[cell] < 0 {
			free = append(free, cell)
		}
	}
	a := &b.avatars[i]
	a.cell, a.face = d.home(i, free)
	b.who[a.cell] = int8(i)
	b.touch(i)
}

// move moves a player by one cell unless it is blocked. In either case the player then enters the site at its
// position.
func (b *board) move(i, quarters int) {
	a := &b.avatars[i]
	if !a.alive {
		return
	}
	if to := a.cell + b.ahead[a.face.turned(quarters)]; !b.wall[to] && b.who[to] < 0 {
		b.who[a.cell], b.who[to] = -1, int8(i)
		a.cell = to
	}
	b.touch(i)
}

func (b *board) touch(i int) {
	if s := b.siteAt[b.avatars[i].cell]; s >= 0 {
		b.rules.enter(i, int(s))
	}
}

// set changes the state of a site; setting the same state resets its age.
func (b *board) set(s int, state uint8) {
	b.sites[s] = site{state, b.frame + 1}
	cell := b.layout.sites[s]
	b.floor[cell] = b.groundCode(b.rules.changed(s))
	if i := b.who[cell]; i >= 0 {
		b.rules.enter(int(i), s)
	}
}

// beamLength is the reach of a beam's middle column; the side columns start beside the shooter.
const beamLength = 3

// fire fires a beam.
func (b *board) fire(i int, kind beam) {
	if !b.avatars[i].alive {
		return
	}
	b.trace(i, func(cell int32) (ends bool) {
		if b.rules.hit(kind, i, cell) {
			return true
		}
		if b.beams[cell] == 0 {
			b.lit = append(b.lit, cell)
		}
		b.beams[cell] |= 1 << kind
		return false
	})
}

// trace visits the cells of the three columns of a player's beam: left, right, middle. A column ends at a wall or where
// visit says so.
func (b *board) trace(i int, visit func(cell int32) (ends bool)) {
	a := &b.avatars[i]
	ahead, right := b.ahead[a.face], b.ahead[a.face.turned(1)]
	for _, column := range [3]int32{a.cell - right, a.cell + right, a.cell + ahead} {
		for k := range int32(beamLength) {
			if cell := column + k*ahead; b.wall[cell] || visit(cell) {
				break
			}
		}
	}
}

// age is the number of steps for which a state has lasted at a step's update.
func (b *board) age(since int32) int32 { return b.frame - since }

// log records an event.
func (b *board) log(kind eventKind, a, other int) {
	b.events = append(b.events, event{kind, int8(a), int8(other)})
}

// queueMoves queues the moves and turns of all free players in random order.
func (b *board) queueMoves(act []int32, d draws) {
	d.order(stageMove, b.turns)
	for _, i := range b.turns {
		if !b.avatars[i].free {
			continue
		}
		switch move := moves[act[i]]; {
		case move.turn != 0:
			b.later(opTurn, int(i), int(move.turn))
		case move.walks:
			b.later(opMove, int(i), int(move.way))
		}
	}
}

// queueRespawns queues the return of all players that have been away for wait steps.
func (b *board) queueRespawns(wait int32) {
	for i := range b.avatars {
		if a := &b.avatars[i]; !a.alive && b.age(a.since) >= wait {
			b.later(opRespawn, i, 0)
		}
	}
}

// The actions of all substrates; beams follow.
const (
	actNoop = iota
	actForward
	actBackward
	actLeft
	actRight
	actTurnLeft
	actTurnRight
	actFire // the substrate's first beam
	actClean
)

// moves lists the effect of each action: a turn in quarters, or a step relative to the facing.
var moves = [...]struct {
	walks bool
	way   int8
	turn  int8
}{
	actForward: {walks: true}, actRight: {walks: true, way: 1}, actBackward: {walks: true, way: 2},
	actLeft:     {walks: true, way: 3},
	actTurnLeft: {turn: -1}, actTurnRight: {turn: 1}, actClean: {},
}
