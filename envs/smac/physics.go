// SPDX-License-Identifier: Apache-2.0

package smac

import "math"

// physics holds the simulator's constants and a switch for each decision that Settings.Otherwise can reverse. All
// switches are off by default.
type physics struct {
	kinds [typeCount]kind

	// cells; DECISION 13: largest offset of a created unit from the requested point, along each axis
	jitter                   float32
	secondHit                int32   // DECISION 16: loops from a zealot's first hit to its second
	beamDelay                int32   // DECISION 18: loops from a colossus' attack to both its hits
	shieldDelay              int32   // loops without damage until shields recover
	shieldGrowth, zergGrowth float32 // per loop; zerg life always recovers

	listReversed bool // enemies are listed last first
	retarget     bool // enemies look for the nearest agent in every loop
	patient      bool // idle enemies wait for the map's script
	defend       bool // idle agents attack enemies that come near
	turning      bool // units turn at a limited rate
	ghosts       bool // bodies do not collide
	evenPeriods  bool // the weapons' period has no random part
	blastCentres bool // a baneling's radius is measured between centres
	shortForm    bool // hydralisks have a longer wind-up at short range
	firstStrikes bool // blows land before the next unit acts
	rim          bool // the outermost cells of the map are not walkable
}

// newPhysics returns the physics with one decision reversed, or none for "".
func newPhysics(otherwise string) *physics {
	p := &physics{
		kinds: kinds, jitter: 0.05, secondHit: 4, beamDelay: 6, shieldDelay: 10 * gameSecond,
		shieldGrowth: 2.0 / gameSecond, zergGrowth: 0.2734 / gameSecond,
	}
	for _, a := range alternatives {
		if a.Name == otherwise {
			a.change(p)
		}
	}
	return p
}

// Alternative reverses one decision of the simulator, to measure its effect on results.
type Alternative struct {
	Name     string // of Settings.Otherwise
	Decision string // its number in README.md, or "data" for the game's numbers
	Says     string // effect of the alternative
	change   func(*physics)
}

// Alternatives lists the values of Settings.Otherwise, in the order of the decisions.
func Alternatives() []Alternative { return append([]Alternative(nil), alternatives...) }

var alternatives = []Alternative{
	{"ladder", "data", "unit data of the ladder instead of Wings of Liberty", (*physics).ladder},
	{"clock", "data", "a game second of 22.4 loops instead of 16", (*physics).slowClock},
	{"list_reversed", "1", "enemies are listed last first", func(p *physics) { p.listReversed = true }},
	{"retarget", "6", "enemies go for the nearest agent anew in every loop", func(p *physics) { p.retarget = true }},
	{"patient", "7", "idle enemies wait for the map's script", func(p *physics) { p.patient = true }},
	{"defend", "9", "idle agents attack whoever comes within 5 cells", func(p *physics) { p.defend = true }},
	{"turning", "11", "units turn by 1000° a game second, colossi by 720°", func(p *physics) { p.turning = true }},
	{"no_collision", "12", "bodies do not collide", func(p *physics) { p.ghosts = true }},
	{"spread", "13", "units appear within ±0.5 of the requested point", func(p *physics) { p.jitter = 0.5 }},
	{"no_slop", "14", "a target that leaves the range during the wind-up escapes", ofAll(func(k *kind) { k.slop = 0 })},
	{"even_periods", "15", "weapons have no random part in their period", func(p *physics) { p.evenPeriods = true }},
	{"no_windup", "15", "attacks take effect at once", ofAll(func(k *kind) { k.windUp = 0 })},
	{"both_at_once", "16", "both hits of a zealot land together", func(p *physics) { p.secondHit = 0 }},
	{"no_flight", "17", "missiles take no time", ofAll(func(k *kind) { k.missile = 0 })},
	{"instant", "15, 17", "neither wind-up nor flight take time", ofAll(func(k *kind) { k.windUp, k.missile = 0, 0 })},
	{"beams_at_once", "18", "beams take no time", func(p *physics) { p.beamDelay = 0 }},
	{"blast_centres", "19", "a baneling's radius is measured between centres", func(p *physics) { p.blastCentres = true }},
	{"short_form", "20", "hydralisks wind up longer within half a cell", func(p *physics) { p.shortForm = true }},
	{"first_strikes", "21", "a blow lands before the next unit acts: who comes first may spare itself one",
		func(p *physics) { p.firstStrikes = true }},
	{"rim", "22", "the outermost cells cannot be walked on", func(p *physics) { p.rim = true }},
}

// ladder sets the unit data of version 4.10's competitive play, which differ for stalker, colossus and hydralisk.
func (p *physics) ladder() {
	s, c, h := &p.kinds[Stalker], &p.kinds[Colossus], &p.kinds[Hydralisk]
	s.damage, s.versusArmoured, s.period = 13, 5, loops(1.87)
	c.damage, c.versusLight, c.period, c.reach = 10, 5, loops(1.5), 7
	h.life, h.period = 90, loops(0.825)
}

// slowClock sets a game second to 22.4 loops, a second of wall-clock time at the game speed Faster.
func (p *physics) slowClock() {
	const stretch = 22.4 / gameSecond
	longer := func(n int32) int32 { return int32(float32(float32(n)*stretch) + 0.5) }
	ofAll(func(k *kind) {
		k.speed, k.missile, k.period = k.speed/stretch, k.missile/stretch, k.period*stretch
		k.windUp = longer(k.windUp)
	})(p)
	p.secondHit, p.beamDelay, p.shieldDelay = longer(p.secondHit), longer(p.beamDelay), longer(p.shieldDelay)
	p.shieldGrowth, p.zergGrowth = p.shieldGrowth/stretch, p.zergGrowth/stretch
}

// ofAll applies a change to the data of all unit types.
func ofAll(change func(*kind)) func(*physics) {
	return func(p *physics) {
		for t := range p.kinds {
			change(&p.kinds[t])
		}
	}
}

// turn turns a unit towards a point for one loop and reports whether it faces it: the alternative to decision 11.
func (u *soldier) turn(x, y float32) bool {
	rate := 1000.0 // degrees per game second
	if u.Type == Colossus {
		rate = 720
	}
	most := rate / gameSecond * math.Pi / 180
	left := math.Remainder(math.Atan2(float64(y-u.Y), float64(x-u.X))-float64(u.Facing), 2*math.Pi)
	u.Facing += float32(max(-most, min(left, most)))
	return math.Abs(left) <= most
}
