// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"fmt"

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
		if err := a.chance.UnmarshalBinary(chances[c]); err != nil {
			return fmt.Errorf("%s: saved state of environment %d: %w", e.spec.Name, c, err)
		}
		a.refresh()
	}
	return nil
}

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
