// SPDX-License-Identifier: Apache-2.0

package meltingpot

// From: google-deepmind/meltingpot 2.4.1, meltingpot/configs/substrates/clean_up.py and
// meltingpot/lua/levels/clean_up/components.lua
const (
	zapCooldown   = 10   // steps between two zaps
	cleanCooldown = 2    // steps between two cleanings
	zapAway       = 50   // steps that a zapped player is away
	foulAfter     = 50   // steps before the river gets dirtier
	foulChance    = 0.5  // probability of one more dirty cell per later step
	growChance    = 0.05 // probability of an apple per step at an empty site beside a clean river
	growLimit     = 0.4  // fraction of dirty cells from which on nothing grows
	waterPeriod   = 3    // steps between phases of the water
	waterPhases   = 4
	cleanUpEnd    = 0.2 // probability that an episode ends at a check
)

// The beams of clean_up. The original's drawing order of the two differs between processes.
const (
	beamClean beam = iota
	beamZap
)

// cleanUpSubstrate builds the data shared by all environments.
func cleanUpSubstrate() *substrate {
	r := newRiver()
	return &substrate{
		layout: r.layout, actions: actClean + 1, scalars: cleanUpScalars, end: cleanUpEnd,
		game: func() game { return newCleanUp(r) },
	}
}

// The states of a site: an apple or dirt is present, or absent.
const (
	siteEmpty = iota
	siteFull
)

// tools is the state of a player of clean_up, besides its body.
type tools struct { // steps until the next zap and the next cleaning
	zap, clean int32 // steps until the next zap, the next cleaning
	cleaned    bool  // its beam cleaned a cell in this step
	before     bool  // its beam cleaned a cell in the step before
}

// cleanUp is an environment of clean_up.
type cleanUp struct {
	board
	river *river
	tools []tools
	phase []uint8 // [cells] phase of the water at the start
}

func newCleanUp(r *river) *cleanUp {
	x := &cleanUp{board: newBoard(r.layout), river: r, tools: make([]tools, r.players), phase: make([]uint8, len(r.wall))}
	x.rules = x
	return x
}

func (x *cleanUp) base() *board { return &x.board }

// reset sets the map's initial dirt and draws the phases of the water.
func (x *cleanUp) reset(d draws) {
	x.board.reset(d)
	for s, cell := range x.river.sites {
		x.sites[s] = site{state: siteEmpty}
		if x.letters[cell] == 'F' {
			x.sites[s].state = siteFull
		}
	}
	for _, cell := range x.river.water {
		x.phase[cell] = uint8(d.pick(rulePhase, int(cell), waterPhases))
	}
	clear(x.tools)
	x.restore()
}

// restore recomputes the ground of every cell that changes.
func (x *cleanUp) restore() {
	for s, cell := range x.river.sites {
		x.floor[cell] = x.groundCode(x.changed(s))
	}
	x.flow()
}

// flow shows the current phase of the water.
func (x *cleanUp) flow() {
	for _, cell := range x.river.water {
		if s := x.siteAt[cell]; s >= 0 {
			x.floor[cell] = x.groundCode(x.changed(int(s)))
		} else {
			x.floor[cell] = x.groundCode(x.river.first[x.letters[cell]] + x.waterAt(cell))
		}
	}
}

// waterAt is the phase of the water in a cell of the river.
func (x *cleanUp) waterAt(cell int32) uint8 {
	return uint8((int32(x.phase[cell]) + x.frame/waterPeriod) % waterPhases)
}

// changed is the ground of a site.
func (x *cleanUp) changed(s int) uint8 {
	cell, state := x.river.sites[s], x.sites[s].state
	if x.river.isWater(s) {
		return x.river.first[x.letters[cell]] + x.waterAt(cell) + waterPhases*state
	}
	return x.river.first[x.letters[cell]] + state
}

// update queues the shots, respawns, dirt and apples of a step.
func (x *cleanUp) update(act []int32, d draws) {
	for i := range x.tools {
		t := &x.tools[i]
		t.before, t.cleaned = t.cleaned, false
	}
	dirty := x.dirty()
	x.queueDirt(dirty, d)
	x.queueApples(dirty, d)
	x.queueMoves(act, d)
	x.queueShots(stageFire, actFire, beamZap, act, d)
	x.queueShots(stageClean, actClean, beamClean, act, d)
	x.queueRespawns(zapAway)
	if x.frame%waterPeriod == 0 {
		x.flow()
	}
}

// dirty counts the dirty cells.
func (x *cleanUp) dirty() int {
	n := 0
	for _, s := range x.river.dirt {
		n += int(x.sites[s].state)
	}
	return n
}

// queueDirt makes a clean cell of the river dirty at random.
func (x *cleanUp) queueDirt(dirty int, d draws) {
	clean := len(x.river.dirt) - dirty
	if x.frame <= foulAfter || clean == 0 || !d.chance(ruleFoul, 0, foulChance) {
		return
	}
	left := d.pick(ruleFoul, 0, clean)
	for _, s := range x.river.dirt {
		if x.sites[s].state == siteEmpty {
			if left == 0 {
				x.later(opSite, int(s), siteFull)
				return
			}
			left--
		}
	}
}

// queueApples grows apples with a probability given by the dirt after the last step.
func (x *cleanUp) queueApples(dirty int, d draws) {
	p := growth(float64(dirty) / float64(len(x.river.dirt)))
	if p <= 0 {
		return
	}
	for _, s := range x.river.apples {
		if d.chance(ruleGrow, int(s), p) {
			x.later(opSite, int(s), siteFull)
		}
	}
}

// growth is the probability of an apple per site, given the fraction of dirty cells.
func growth(share float64) float64 { return growChance * min((share-growLimit)/(0-growLimit), 1) }

func (x *cleanUp) queueShots(s stage, action int32, kind beam, act []int32, d draws) {
	d.order(s, x.turns)
	wait := int32(zapCooldown)
	if kind == beamClean {
		wait = cleanCooldown
	}
	for _, i := range x.turns {
		timer := &x.tools[i].zap
		if kind == beamClean {
			timer = &x.tools[i].clean
		}
		switch {
		case !x.avatars[i].alive:
		case *timer > 0:
			*timer--
		case act[i] == action:
			*timer = wait
			x.later(opBeam, int(i), int(kind))
		}
	}
}

// enter eats an apple. Every player that touches it before it disappears, at the end of the round, gets the reward.
func (x *cleanUp) enter(player, s int) {
	if x.sites[s].state == siteFull && !x.river.isWater(s) {
		x.reward[player]++
		x.log(eventEaten, player, 0)
		x.later(opSite, s, siteEmpty)
	}
}

// hit zaps players away, or cleans the river.
func (x *cleanUp) hit(kind beam, shooter int, cell int32) bool {
	if kind == beamZap {
		j := x.who[cell]
		if j < 0 {
			return false
		}
		x.log(eventZap, shooter, int(j))
		x.later(opRemove, int(j), 0)
		return true
	}
	s := x.siteAt[cell]
	if s < 0 || x.sites[s].state != siteFull || !x.river.isWater(int(s)) {
		return false
	}
	x.tools[shooter].cleaned = true
	x.log(eventCleaned, shooter, 0)
	x.later(opSite, int(s), siteEmpty)
	return true
}

// cleanUpScalars is the length of scalars.
const cleanUpScalars = 2

// scalars writes whether a player may zap (0 while it is away) and how many others cleaned in the step before.
func (x *cleanUp) scalars(i int, dst []float32) {
	dst[0], dst[1] = 0, 0
	if x.avatars[i].alive {
		dst[0] = float32(max(1-float64(x.tools[i].zap)/zapCooldown, 0))
	}
	for j := range x.tools {
		if j != i && x.tools[j].before {
			dst[1]++
		}
	}
}
