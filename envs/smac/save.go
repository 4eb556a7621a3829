// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"cermic/envs"
)

// Save appends everything that the next Step or Reset depends on, environment by environment.
func (e *env) Save(dst []byte) []byte {
	parts := []any{&e.seed}
	for c := range e.copies {
		chance, err := e.copies[c].chance.AppendBinary(nil)
		if err != nil {
			panic(err) // a stream always has a state
		}
		parts = append(append(parts, chance), e.copies[c].state()...)
	}
	return envs.SaveParts(dst, e.fingerprint(), parts...)
}

// streamSize is the length of a stream's state.
const streamSize = 20

// Load continues from a state that Save wrote.
func (e *env) Load(state []byte) error {
	parts, chances := []any{&e.seed}, make([][]byte, len(e.copies))
	for c := range e.copies {
		chances[c] = make([]byte, streamSize)
		parts = append(append(parts, chances[c]), e.copies[c].state()...)
	}
	if err := envs.LoadParts(e.spec.Name, state, e.fingerprint(), parts...); err != nil {
		return err
	}
	for c := range e.copies {
		a := &e.copies[c]
		err := a.chance.UnmarshalBinary(chances[c])
		if err == nil && !a.sound() {
			err = errors.New("it is damaged")
		}
		if err != nil {
			return fmt.Errorf("%s: saved state of copy %d: %w", e.spec.Name, c, err)
		}
		a.refresh()
	}
	return nil
}

// sound reports whether an arena's numbers are such as a battle can have: units, targets and actions that exist, and finite places.
func (a *arena) sound() bool {
	b, all := a.battle, int32(len(a.units))
	if a.Over > aborted || b.Steps < 0 || !finite(b.Divisor) {
		return false
	}
	for i := range b.units {
		if u := &b.units[i]; u.Type >= typeCount || !u.finite() || !finite(b.before[i]) {
			return false
		}
	}
	for e := range b.finder {
		if b.finder[e] < -1 || int(b.finder[e]) >= b.n {
			return false
		}
	}
	for i := range b.last {
		if b.last[i] < -1 || int(b.last[i]) >= b.choices || !finite(b.gaze[i][0]+b.gaze[i][1]) {
			return false
		}
	}
	s, simulated := a.field.(*simulator)
	if !simulated {
		return true
	}
	for i, tag := range b.tags {
		if tag > uint64(all) || tag == 0 && b.units[i].Health > 0 {
			return false
		}
	}
	return s.sound()
}

// sound is that of what only the simulator knows.
func (s *simulator) sound() bool {
	all := int32(len(s.units))
	exists := func(i int32) bool { return i >= 0 && i < all }
	if s.clock.Loop < 0 || s.clock.Flying < 0 || int(s.clock.Flying) > len(s.flying) {
		return false
	}
	for i := range s.units {
		u := &s.units[i]
		numbers := u.X + u.Y + u.Health + u.Shield + u.Cooldown + u.GoalX + u.GoalY + u.Facing
		if !finite(float64(numbers)) || u.Type >= typeCount || !exists(u.Target) || u.Order > Attack && u.Order != burst || u.WindUp < 0 {
			return false
		}
	}
	return !slices.ContainsFunc(s.flying[:s.clock.Flying], func(b blow) bool { return !exists(b.From) || !exists(b.At) })
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// state lists what differs between two moments of one environment. Distances and masks are recomputed.
func (a *arena) state() []any {
	b := a.battle
	parts := []any{
		&a.arenaClock, &b.battleClock, b.units, b.tags, b.before, b.fallen, b.found, b.finder, b.gaze, b.hidden, b.last,
	}
	if s, ok := a.field.(*simulator); ok {
		parts = append(parts, &s.clock, s.units, s.flying)
	}
	return parts
}

// fingerprint tells differently configured environments apart.
func (e *env) fingerprint() uint64 {
	text := fmt.Sprintf("%+v %+v", e.spec, e.Settings)
	if e.common.Noise.On() {
		text += fmt.Sprintf(" %+v", e.common.Noise)
	}
	return envs.Fingerprint(text)
}
