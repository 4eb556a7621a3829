// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"

	"cermic/envs"
	"cermic/envs/smac/sc2"
	"cermic/envs/smac/sc2api"
)

// realEnv is an env on real games. They are not reproducible and can fail: a failed game aborts its episode without a
// reward, and the next episode gets another game.
type realEnv struct{ *env }

var _ envs.Fallible = realEnv{}

// manyGames is the largest number of games that starts without a warning.
const manyGames = 8

var warnOfMany sync.Once

// Reset starts new episodes and, the first time, the games.
func (e realEnv) Reset(mask []uint8, out *envs.Step) {
	if n := len(e.arenas); n > manyGames && len(e.arenas[0].field.(*realField).options.Addresses) == 0 {
		warnOfMany.Do(func() {
			slog.Warn("StarCraft II starts once per parallel environment, and again for evaluation; "+
				"each process takes gigabytes of memory: reduce task.copies if they do not fit",
				"copies", n)
		})
	}
	e.env.Reset(mask, out)
}

// Err returns the error of the first environment that cannot start an episode.
func (e realEnv) Err() error {
	for c := range e.arenas {
		if err := e.arenas[c].err; err != nil {
			return fmt.Errorf("%s: %w", e.spec.Name, err)
		}
	}
	return nil
}

// Aborted reports whether the battle of environment c was aborted.
func (e realEnv) Aborted(c int) bool { return e.arenas[c].Over == aborted }

// Load restores a state written by Save. Its unfinished episodes end at the next step; the games stay open.
func (e realEnv) Load(state []byte) error {
	for c := range e.arenas {
		e.arenas[c].field.(*realField).interrupted = true
	}
	return e.env.Load(state)
}

// Close releases the games.
func (e realEnv) Close() {
	for c := range e.arenas {
		e.arenas[c].field.(*realField).release()
	}
}

// realField is the Field of StarCraft II itself. It acquires a game when it first needs one.
type realField struct {
	*rules
	options     sc2.Options
	game        *sc2.Game // nil before the first episode, and after a failure
	interrupted bool      // the game does not match the loaded battle
	list        []sc2.Placement
	ground      Terrain
}

func newRealField(k *rules) *realField {
	race := sc2.Protoss
	if k.race.name == zergRace.name {
		race = sc2.Zerg
	}
	return &realField{rules: k, options: sc2.FromEnvironment(k.Version, race)}
}

// deployTries is the number of attempts to start an episode, each with another game if necessary.
const deployTries = 3

// Deploy creates the units, on another game if the present one fails.
//
// Deviation: if units fail to appear, SMACv2 draws new teams and positions. Here another game gets the same ones, so
// that an environment's k-th episode follows from the seed; no lineup is harder to create than another.
func (f *realField) Deploy(l *Lineup, seen []Sighting) ([]Sighting, error) {
	for tries := 1; ; tries++ {
		if f.game == nil {
			game, err := sc2.Acquire(f.options)
			if err != nil {
				return nil, err
			}
			f.game = game
			f.ground = Terrain(game.Ground)
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

// create creates the units and checks that the game has the requested ones.
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
		return nil, fmt.Errorf("the game has %d agents and %d enemies of known types, want %d and %d; "+
			"check that the map is SMACv2's", own, enemies, f.n, f.m)
	}
	return seen, nil
}

// Play gives the orders. If the game fails, the episode is over and the next one gets another game.
func (f *realField) Play(orders []Command, seen []Sighting) ([]Sighting, error) {
	if f.game == nil || f.interrupted {
		return nil, errInterrupted
	}
	units, err := f.game.Play(orders, loopsPerStep)
	if err == nil {
		seen, err = f.sightings(units, seen)
	}
	if err != nil {
		f.drop()
		slog.Warn("StarCraft II failed; its battle is not counted and the next one has another game", "error", err)
		return nil, err
	}
	return seen, nil
}

// Ground is the terrain of the real map.
func (f *realField) Ground() *Terrain { return &f.ground }

// errInterrupted ends the episodes that were unfinished when a run stopped: a real game cannot be saved.
var errInterrupted = errors.New("the battle was interrupted")

// release returns the game to the pool.
func (f *realField) release() {
	if f.game != nil {
		f.game.Release()
		f.game = nil
	}
}

// drop discards a failed game.
func (f *realField) drop() {
	f.game.Discard()
	f.game = nil
}

// placements converts a lineup to the game's type numbers. Agents get the map's own unit types, which do nothing
// without orders.
func (f *realField) placements(l *Lineup) []sc2.Placement {
	f.list = f.list[:0]
	for i, t := range l.Types {
		p := sc2.Placement{Type: f.game.FirstType + kinds[t].offset, X: l.At[i][0], Y: l.At[i][1]}
		if p.Enemy = i >= l.Agents; p.Enemy {
			p.Type = kinds[t].stock
		}
		f.list = append(f.list, p)
	}
	return f.list
}

// sightings converts the game's units, in its order. Units of other types, which this map does not have, are ignored.
// NaN and infinities are an error, because they would reach rewards and observations.
func (f *realField) sightings(units []*sc2api.Unit, seen []Sighting) ([]Sighting, error) {
	seen = seen[:0]
	for _, u := range units {
		s := Sighting{Tag: u.GetTag(), Enemy: u.GetOwner() != 1}
		number := u.GetUnitType()
		if !s.Enemy {
			number -= f.game.FirstType
		}
		for t := range kinds {
			if s.Enemy && kinds[t].stock == number || !s.Enemy && kinds[t].offset == number {
				s.Unit = Unit{
					Type: Type(t), X: u.GetPos().GetX(), Y: u.GetPos().GetY(), Health: u.GetHealth(), HealthMax: u.GetHealthMax(),
					Shield: u.GetShield(), ShieldMax: u.GetShieldMax(), Cooldown: u.GetWeaponCooldown(),
				}
				if !s.Unit.finite() {
					return nil, fmt.Errorf("unit %d has a position, health, shield or cooldown that is not finite", s.Tag)
				}
				seen = append(seen, s)
			}
		}
	}
	return seen, nil
}

// finite reports whether all numbers of a unit are finite.
func (u *Unit) finite() bool {
	sum := u.X + u.Y + u.Health + u.HealthMax + u.Shield + u.ShieldMax + u.Cooldown
	return !math.IsNaN(float64(sum)) && !math.IsInf(float64(sum), 0)
}
