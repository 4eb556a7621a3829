// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"cermic/envs"
)

// Save appends the complete state that later steps and resets depend on, environment by environment.
func (e *env) Save(dst []byte) []byte {
	parts := []any{&e.seed}
	for c := range e.arenas {
		chance, err := e.arenas[c].chance.AppendBinary(nil)
		if err != nil {
			panic(err) // encoding a stream cannot fail
		}
		parts = append(append(parts, chance), e.arenas[c].state()...)
	}
	return envs.SaveParts(dst, e.fingerprint(), parts...)
}

// streamSize is the length of an encoded stream.
const streamSize = 20

// Load restores a state written by Save.
func (e *env) Load(state []byte) error {
	parts, chances := []any{&e.seed}, make([][]byte, len(e.arenas))
	for c := range e.arenas {
		chances[c] = make([]byte, streamSize)
		parts = append(append(parts, chances[c]), e.arenas[c].state()...)
	}
	if err := envs.LoadParts(e.spec.Name, state, e.fingerprint(), parts...); err != nil {
		return err
	}
	for c := range e.arenas {
		a := &e.arenas[c]
		err := a.chance.UnmarshalBinary(chances[c])
		if err == nil && !a.valid() {
			err = errors.New("it is damaged")
		}
		if err != nil {
			return fmt.Errorf("%s: saved state of environment %d: %w", e.spec.Name, c, err)
		}
		a.refresh()
	}
	return nil
}

// valid reports whether a loaded arena is possible: its units, targets and actions exist, and its positions are
// finite.
func (a *arena) valid() bool {
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
	return s.valid()
}

// valid reports whether the simulator's own state is possible.
func (s *simulator) valid() bool {
	all := int32(len(s.units))
	exists := func(i int32) bool { return i >= 0 && i < all }
	if s.clock.Loop < 0 || s.clock.Flying < 0 || int(s.clock.Flying) > len(s.flying) {
		return false
	}
	for i := range s.units {
		u := &s.units[i]
		numbers := u.X + u.Y + u.Health + u.Shield + u.Cooldown + u.GoalX + u.GoalY + u.Facing
		if !finite(float64(numbers)) || u.Type >= typeCount || !exists(u.Target) || u.Order > Attack &&
			u.Order != burst || u.WindUp < 0 {
			return false
		}
	}
	return !slices.ContainsFunc(s.flying[:s.clock.Flying], func(b blow) bool { return !exists(b.From) || !exists(b.At) })
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// state lists the state variables of an environment. Distances and masks are recomputed.
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

// fingerprint identifies the configuration, so that a state loads only into an equally configured environment.
func (e *env) fingerprint() uint64 {
	text := fmt.Sprintf("%+v %+v", e.spec, e.Settings)
	if e.common.Noise.On() {
		text += fmt.Sprintf(" %+v", e.common.Noise)
	}
	return envs.Fingerprint(text)
}
