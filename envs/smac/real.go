// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"

	"cermic/envs"
	"cermic/envs/smac/sc2"
	"cermic/envs/smac/sc2api"
)

// realEnv is an env on real games. What they do cannot be repeated, and they can fail: an episode whose game does so is aborted,
// unpaid, and the next one has another game.
type realEnv struct{ *env }

var _ envs.Fallible = realEnv{}

// manyGames is how many games need no warning.
const manyGames = 8

var warnOfMany sync.Once

// Reset starts new episodes, and the first time games.
func (e realEnv) Reset(mask []uint8, out *envs.Step) {
	if n := len(e.copies); n > manyGames && len(e.copies[0].field.(*realField).options.Addresses) == 0 {
		warnOfMany.Do(func() {
			slog.Warn("StarCraft II is started once for every parallel environment, and as often again for evaluation; each takes gigabytes of memory: set task.copies to what fits",
				"copies", n)
		})
	}
	e.env.Reset(mask, out)
}

// Err is why the first environment that cannot start an episode cannot.
func (e realEnv) Err() error {
	for c := range e.copies {
		if err := e.copies[c].err; err != nil {
			return fmt.Errorf("%s: %w", e.spec.Name, err)
		}
	}
	return nil
}

// Aborted reports whether the battle of environment c was aborted.
func (e realEnv) Aborted(c int) bool { return e.copies[c].Over == aborted }

// Load continues from what Save wrote. Episodes that were being played then are over at the next step; the games stay.
func (e realEnv) Load(state []byte) error {
	for c := range e.copies {
		e.copies[c].field.(*realField).interrupted = true
	}
	return e.env.Load(state)
}

// Close lets others have the games.
func (e realEnv) Close() {
	for c := range e.copies {
		e.copies[c].field.(*realField).release()
	}
}

// realField is the Field that StarCraft II itself is. It takes a game when it first needs one.
type realField struct {
	*rules
	options     sc2.Options
	game        *sc2.Game // nil before the first episode, and after a failure
	interrupted bool      // the game does not fight the battle that is to go on
	list        []sc2.Placement
	orders      []sc2.Order
	ground      Terrain
}

func newRealField(k *rules) *realField {
	race := sc2.Protoss
	if k.race.name == zergRace.name {
		race = sc2.Zerg
	}
	options := sc2.FromEnvironment(k.Version, race)
	options.Difficulty = sc2.Difficulty(1 + slices.Index(difficulties, string(k.Difficulty)))
	return &realField{rules: k, options: options}
}

// deployTries is how often an episode is started anew, with another game if need be, before giving up.
const deployTries = 3

// Deploy creates the units, on another game if the present one fails.
//
// Deviation: where units do not come into being, SMACv2 draws new teams and places. Here another game gets the same ones, so that an environment's
// k-th episode begins as the seed says; no lineup is harder to create than another.
func (f *realField) Deploy(l *Lineup, seen []Sighting) ([]Sighting, error) {
	for tries := 1; ; tries++ {
		if f.game == nil {
			game, err := sc2.Acquire(f.options)
			if err != nil {
				return nil, err
			}
			f.game = game
			f.ground = Terrain(*game.Ground())
		}
		seen, err := f.create(l, seen)
		if err == nil {
			f.interrupted = false
			return seen, nil
		}
		f.drop()
		if tries == deployTries {
			return nil, fmt.Errorf("StarCraft II fails to start an episode, %d times: %w", tries, err)
		}
		slog.Warn("StarCraft II failed to start a battle, which begins anew on another game", "error", err)
	}
}

// create creates the units and makes sure that they are those that were asked for.
func (f *realField) create(l *Lineup, seen []Sighting) ([]Sighting, error) {
	units, err := f.game.Deploy(f.placements(l))
	if err != nil {
		return nil, err
	}
	if seen, err = f.sightings(units, seen); err != nil {
		return nil, err
	}
	own, enemies := 0, 0
	for i := range seen {
		own += count(!seen[i].Enemy)
		enemies += count(seen[i].Enemy)
	}
	if own != f.n || enemies != f.m {
		return nil, fmt.Errorf("the game has %d agents and %d enemies of known types, want %d and %d; is the map that of SMACv2?", own, enemies, f.n, f.m)
	}
	return seen, nil
}

// Play gives the orders. When the game fails, the episode is over; the next one has another game.
func (f *realField) Play(orders []Command, seen []Sighting) ([]Sighting, error) {
	if f.game == nil || f.interrupted {
		return nil, errInterrupted
	}
	f.orders = f.orders[:0]
	for _, c := range orders {
		switch c.Verb {
		case Stop:
			f.orders = append(f.orders, sc2.Order{Unit: c.Tag, Ability: abilityStop})
		case Move:
			f.orders = append(f.orders, sc2.Order{Unit: c.Tag, Ability: abilityMove, Aimed: true, X: c.X, Y: c.Y})
		case Attack:
			f.orders = append(f.orders, sc2.Order{Unit: c.Tag, Ability: abilityAttack, Target: c.Target})
		}
	}
	units, err := f.game.Play(f.orders, uint32(f.LoopsPerStep))
	if err != nil {
		f.drop()
		slog.Warn("StarCraft II failed; its battle is not counted and the next one has another game", "error", err)
		return nil, err
	}
	seen, err = f.sightings(units, seen)
	if err != nil {
		f.drop()
		slog.Warn("StarCraft II answers with what no unit has; its battle is not counted and the next one has another game", "error", err)
	}
	return seen, err
}

// Ground is the real map's.
func (f *realField) Ground() *Terrain { return &f.ground }

// errInterrupted ends the episodes that were being played when a run was stopped: a real game cannot be saved.
var errInterrupted = errors.New("the battle was interrupted")

// release lets others have the game.
func (f *realField) release() {
	if f.game != nil {
		f.game.Release()
		f.game = nil
	}
}

// drop gives a game up that has failed.
func (f *realField) drop() {
	f.game.Discard()
	f.game = nil
}

// placements are a lineup in the game's type numbers: the agents' units are the map's own, which do nothing untold.
func (f *realField) placements(l *Lineup) []sc2.Placement {
	f.list = f.list[:0]
	for i, t := range l.Types {
		p := sc2.Placement{Type: f.game.FirstType() + kinds[t].offset, X: l.At[i][0], Y: l.At[i][1]}
		if p.Enemy = i >= l.Agents; p.Enemy {
			p.Type = kinds[t].stock
		}
		f.list = append(f.list, p)
	}
	return f.list
}

// sightings are the game's units in its order. Units of other types (there are none on this map) do not count. Numbers that are none
// would reach rewards and observations: they are an error.
func (f *realField) sightings(units []*sc2api.Unit, seen []Sighting) ([]Sighting, error) {
	seen = seen[:0]
	for _, u := range units {
		s := Sighting{Tag: u.GetTag(), Enemy: u.GetOwner() != 1}
		number := u.GetUnitType()
		if !s.Enemy {
			number -= f.game.FirstType()
		}
		for t := range kinds {
			if s.Enemy && kinds[t].stock == number || !s.Enemy && kinds[t].offset == number {
				s.Unit = Unit{
					Type: Type(t), X: u.GetPos().GetX(), Y: u.GetPos().GetY(), Health: u.GetHealth(), HealthMax: u.GetHealthMax(),
					Shield: u.GetShield(), ShieldMax: u.GetShieldMax(), Cooldown: u.GetWeaponCooldown(),
				}
				if !s.Unit.finite() {
					return nil, fmt.Errorf("unit %d has a place, health, shield or cooldown that is no finite number", s.Tag)
				}
				seen = append(seen, s)
			}
		}
	}
	return seen, nil
}

// finite reports whether all that the game says of a unit is a number.
func (u *Unit) finite() bool {
	sum := u.X + u.Y + u.Health + u.HealthMax + u.Shield + u.ShieldMax + u.Cooldown
	return !math.IsNaN(float64(sum)) && !math.IsInf(float64(sum), 0)
}
