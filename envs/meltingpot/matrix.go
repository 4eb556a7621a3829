// SPDX-License-Identifier: Apache-2.0

package meltingpot

// matrixGame holds the differences between the "in the matrix" substrates.
type matrixGame struct {
	name   string
	chart  string
	pay    [2][2]float64 // of the player whose choice is the row
	levels []float64     // lower bounds of the rewards of each result colour
}

// The classes of resources: the collected ones define a player's strategy.
const (
	waiting = iota // state of a site without its resource
	present
)

// Grounds of a matrix game.
const (
	groundFloor = iota
	groundWall
	groundResource // and the next one for the second class
)

// Markers above players; result colours follow.
const (
	markerNone = iota
	markerReady
	markerResult
)

// Constants of all matrix games.
//
// From: google-deepmind/meltingpot 2.4.1, meltingpot/configs/substrates/*_in_the_matrix__repeated.py and
// meltingpot/lua/levels/the_matrix/components.lua
const (
	health       = 3    // hits that destroy a resource
	regrowAge    = 10   // steps before a resource may return
	regrowChance = 0.02 // probability of its return per later step
	cooldown     = 2    // steps between two shots
	freeze       = 18   // steps that an interaction freezes both players
	resultDelay  = 16   // steps from an interaction to its effects
	returnAge    = 5    // steps that players are away
	matrixEnd    = 0.1  // probability that an episode ends at a check
)

// openChart is the map of chicken and the prisoner's dilemma.
const openChart = `
WWWWWWWWWWWWWWWWWWWWWWW
Wn         n         nW
W   WWW W  W  W WW    W
W    W 11a W a22 W    W
Wn  WW 11a W a22 WW  nW
W      11a   a22      W
W                     W
Wn WW  WW  n WW  WWW nW
W                     W
W      22a W a11      W
Wn   W 22a W a11 W   nW
W    W 22a W a11 WW   W
W  WWWW W  W  W WWW   W
Wn         n         nW
WWWWWWWWWWWWWWWWWWWWWWW
`

// matrixLooks are shared by all matrix games, so that networks trained on one can read the cells of another.
var matrixLooks = looks{
	grounds: [][]string{nil, {"Wall"}, {"resource_class1_sprite"}, {"resource_class2_sprite"}},
	solid:   "Wall",
	players: []string{"Other", "Other"},
	markers: []string{"", "Ready", "ResultIndicatorColor1", "ResultIndicatorColor2", "ResultIndicatorColor3",
		"ResultIndicatorColor4", "ResultIndicatorColor5"},
	beams: []string{"BeamInteraction"},
}

// substrate builds the data shared by the environments of a matrix game.
func (m *matrixGame) substrate() *substrate {
	p := newPalette(&matrixLooks, sprites().Substrates[m.name].Sprites)
	key := legend{walls: "W", spawns: "n", sites: "12a", ground: func(letter byte) uint8 {
		if letter == 'W' {
			return groundWall
		}
		return groundFloor
	}}
	l := newLayout(m.chart, 2, window{left: 2, right: 2, forward: 3, backward: 1}, key, p)
	return &substrate{
		layout: l, actions: actFire + 1, scalars: matrixScalars, end: matrixEnd,
		game: func() game { return newMatrix(l, m) },
	}
}

// purse is the state of a player besides its body.
type purse struct {
	inventory  [2]float64 // resources of each class; never empty, so that fractions are defined
	partner    [2]float64 // inventory of the other player in this step's interaction
	own        [2]float64 // own inventory in that interaction
	collected  bool       // has collected since the last result, and is therefore ready to interact
	interacted bool       // in this step
	cool       int32      // steps until the next shot
	freeze     int32      // steps until it may move again
	pending    int32      // steps until the effects of an interaction; -1 if there was none
	pay        float64    // pending reward of the interaction
	zapped     bool       // this player triggers the effects
	indicator  uint8      // next marker to show
}

// matrix is an environment of a matrix game.
type matrix struct {
	board
	*matrixGame
	purses []purse
	class  []uint8 // of each site, 0 or 1
	health []int32 // of each site
}

func newMatrix(l *layout, m *matrixGame) *matrix {
	x := &matrix{
		board: newBoard(l), matrixGame: m, purses: make([]purse, l.players), class: make([]uint8, len(l.sites)),
		health: make([]int32, len(l.sites)),
	}
	x.rules = x
	return x
}

func (m *matrix) base() *board { return &m.board }

// reset draws the class of every undecided resource and places the players.
func (m *matrix) reset(d draws) {
	m.board.reset(d)
	for s, cell := range m.layout.sites {
		switch m.letters[cell] {
		case '1':
			m.class[s] = 0
		case '2':
			m.class[s] = 1
		default:
			m.class[s] = 0
			if d.chance(ruleClass, s, 0.5) {
				m.class[s] = 1
			}
		}
		m.sites[s], m.health[s] = site{state: present}, health
	}
	for i := range m.purses {
		m.purses[i] = purse{inventory: [2]float64{1, 1}, pending: -1}
	}
	m.restore()
}

// restore recomputes the ground of every cell that changes.
func (m *matrix) restore() {
	for s, cell := range m.layout.sites {
		m.floor[cell] = m.groundCode(m.changed(s))
	}
}

// update ends freezes, queues the operations of a step and settles interactions.
func (m *matrix) update(act []int32, d draws) {
	none := true
	for i := range m.purses {
		p, a := &m.purses[i], &m.avatars[i]
		none = none && !a.alive
		p.interacted, p.own, p.partner = false, [2]float64{-1, -1}, [2]float64{-1, -1}
		a.free = a.free || p.freeze == 1
		p.freeze = max(p.freeze-1, 0)
	}
	m.queueMoves(act, d)
	m.queueShots(act, d)
	m.queueRespawns(returnAge)
	m.queueResources(none, d)
	for i := range m.purses {
		m.settle(i)
	}
	for i := range m.purses {
		m.avatars[i].marker = 0
		if m.avatars[i].alive {
			m.avatars[i].marker = m.purses[i].indicator
		}
	}
}

func (m *matrix) queueShots(act []int32, d draws) {
	d.order(stageFire, m.turns)
	for _, i := range m.turns {
		p, a := &m.purses[i], &m.avatars[i]
		switch {
		case !a.alive || !a.free:
		case p.cool > 0:
			p.cool--
		case act[i] == actFire:
			p.cool = cooldown
			m.later(opBeam, int(i), 0)
		}
	}
}

// queueResources lets resources return: at random where no player stands, or all of them while all players are away.
func (m *matrix) queueResources(nobody bool, d draws) {
	for s := range m.sites {
		if m.sites[s].state != waiting {
			continue
		}
		may := m.age(m.sites[s].since) >= regrowAge && m.who[m.layout.sites[s]] < 0
		if nobody || may && d.chance(ruleGrow, s, regrowChance) {
			m.later(opSite, s, present)
		}
	}
}

// settle counts down to the effects of an interaction: both players get their rewards, disappear and start anew.
func (m *matrix) settle(i int) {
	p := &m.purses[i]
	if !m.avatars[i].alive || p.pending < 0 {
		return
	}
	if p.pending > 0 {
		p.pending--
		p.indicator = m.color(p.pay)
		return
	}
	p.pending, p.indicator = -1, markerNone
	if !p.zapped {
		return
	}
	p.zapped = false
	for j := range m.purses {
		m.reward[j] += m.purses[j].pay
		m.empty(j)
		m.later(opRemove, j, 0)
	}
}

// empty resets a player's inventory.
func (m *matrix) empty(i int) {
	m.purses[i].inventory, m.purses[i].collected = [2]float64{1, 1}, false
}

// color is the marker of a reward: the last level at or below it.
func (m *matrix) color(pay float64) uint8 {
	k := 0
	for k+1 < len(m.levels) && pay >= m.levels[k+1] {
		k++
	}
	return uint8(markerResult + k)
}

// enter collects a resource.
func (m *matrix) enter(player, s int) {
	if m.sites[s].state != present {
		return
	}
	p := &m.purses[player]
	p.inventory[m.class[s]]++
	p.collected = true
	if p.indicator == markerNone {
		p.indicator = markerReady
	}
	m.log(eventCollected, player, int(m.class[s]))
	m.later(opSite, s, waiting)
}

// hit damages a resource, or makes two players interact.
func (m *matrix) hit(_ beam, shooter int, cell int32) bool {
	blocked := false
	if s := m.siteAt[cell]; s >= 0 && m.sites[s].state == present {
		m.health[s]--
		blocked = m.health[s] > 0
		if !blocked {
			m.health[s] = health
			m.log(eventDestroyed, shooter, int(m.class[s]))
			m.later(opSite, int(s), waiting)
		}
	}
	if j := m.who[cell]; j >= 0 {
		m.interact(shooter, int(j))
		return true
	}
	return blocked
}

// changed is the ground of a site: its resource or nothing.
func (m *matrix) changed(s int) uint8 {
	if m.sites[s].state == waiting {
		return groundFloor
	}
	return groundResource + m.class[s]
}

// interact plays the matrix game once, i against j, if both are ready and neither has interacted in this step.
func (m *matrix) interact(i, j int) {
	row, col := &m.purses[i], &m.purses[j]
	was := col.interacted
	col.interacted = true
	if was {
		return
	}
	was = row.interacted
	row.interacted = true
	if was || col.pending >= 0 || !row.collected || !col.collected {
		return
	}
	row.pay, col.pay = payoff(m.pay, row.inventory, col.inventory), payoff(transposed(m.pay), row.inventory, col.inventory)
	row.own, row.partner = row.inventory, col.inventory
	col.own, col.partner = col.inventory, row.inventory
	for _, k := range [2]int{i, j} {
		m.purses[k].pending, m.purses[k].freeze = resultDelay, freeze
		m.avatars[k].free = false
	}
	col.zapped = true
	m.log(eventInteraction, i, j)
	if row.pay >= col.pay {
		m.empty(i)
	}
}

// payoff is the expected reward if both players draw their choices from their inventories. Every product is rounded
// on its own, so that all machines agree with the original to the last bit.
func payoff(pay [2][2]float64, row, col [2]float64) float64 {
	rows, cols := row[0]+row[1], col[0]+col[1]
	total := 0.0
	for q := range col {
		expected := 0.0
		for p := range row {
			expected += float64(row[p] / rows * pay[p][q])
		}
		total += float64(expected * (col[q] / cols))
	}
	return total
}

func transposed(pay [2][2]float64) [2][2]float64 {
	return [2][2]float64{{pay[0][0], pay[1][0]}, {pay[0][1], pay[1][1]}}
}

// matrixScalars is the length of scalars.
const matrixScalars = 7

// scalars writes a player's inventory, whether it may shoot, and the inventories of this step's interaction, its own
// first. Without an interaction these are -1, and 0 after a reset.
func (m *matrix) scalars(i int, dst []float32) {
	p := &m.purses[i]
	dst[0], dst[1] = float32(p.inventory[0]), float32(p.inventory[1])
	dst[2] = float32(1 - float64(p.cool)/cooldown)
	dst[3], dst[4] = float32(p.own[0]), float32(p.own[1])
	dst[5], dst[6] = float32(p.partner[0]), float32(p.partner[1])
}
