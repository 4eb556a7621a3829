// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
)

// Save appends everything that the next Step or Reset depends on. The layout is the little-endian concatenation of the
// arrays that state lists, copy by copy, behind a fingerprint of the configuration.
func (e *env) Save(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, e.fingerprint())
	dst = binary.LittleEndian.AppendUint64(dst, e.seed)
	for c := range e.copies {
		a := &e.copies[c]
		var err error
		if dst, err = a.chance.AppendBinary(dst); err != nil {
			panic(err) // a stream always has a state
		}
		for _, part := range a.state() {
			if dst, err = binary.Append(dst, binary.LittleEndian, part); err != nil {
				panic(err) // every part is made of fixed-size numbers
			}
		}
	}
	return dst
}

// streamSize is the length of a stream's state.
const streamSize = 20

// Load continues from a state that Save wrote.
func (e *env) Load(state []byte) error {
	size := 0
	for _, part := range e.copies[0].state() {
		size += binary.Size(part)
	}
	if want := 16 + len(e.copies)*(size+streamSize); len(state) != want {
		return fmt.Errorf("%s: saved state has %d bytes, want %d; was it written with other settings?", e.spec.Name, len(state), want)
	}
	if binary.LittleEndian.Uint64(state) != e.fingerprint() {
		return fmt.Errorf("%s: saved state was written with other settings; build the task as it was then", e.spec.Name)
	}
	e.seed = binary.LittleEndian.Uint64(state[8:])
	in := state[16:]
	for c := range e.copies {
		if err := e.copies[c].load(in[:streamSize+size]); err != nil {
			return fmt.Errorf("%s: saved state of copy %d: %w", e.spec.Name, c, err)
		}
		in = in[streamSize+size:]
	}
	return nil
}

func (a *arena) load(state []byte) error {
	if err := a.chance.UnmarshalBinary(state[:streamSize]); err != nil {
		return err
	}
	in := bytes.NewReader(state[streamSize:])
	for _, part := range a.state() {
		if err := binary.Read(in, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	a.refresh()
	return nil
}

// state lists what differs between two moments of one copy. Distances and masks are recomputed.
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
	h := fnv.New64a()
	fmt.Fprintf(h, "%+v %+v", e.spec, e.Settings)
	return h.Sum64()
}
