// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// Save appends everything that the next Step or Reset depends on. The layout is the little-endian concatenation of the
// arrays that state lists, behind a fingerprint of the configuration.
func (e *env) Save(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, e.fingerprint())
	dst = binary.LittleEndian.AppendUint64(dst, e.seed)
	for _, part := range e.state() {
		var err error
		if dst, err = binary.Append(dst, binary.LittleEndian, part); err != nil {
			panic(err) // every part is a slice of fixed-size numbers
		}
	}
	return dst
}

// Load continues from a state that Save wrote.
func (e *env) Load(state []byte) error {
	size := 16
	for _, part := range e.state() {
		size += binary.Size(part)
	}
	if len(state) != size {
		return fmt.Errorf("%s: saved state has %d bytes, want %d; was it written with other settings?", e.spec.Name, len(state), size)
	}
	if binary.LittleEndian.Uint64(state) != e.fingerprint() {
		return fmt.Errorf("%s: saved state was written with other settings; build the task as it was then", e.spec.Name)
	}
	e.seed = binary.LittleEndian.Uint64(state[8:])
	in := bytes.NewReader(state[16:])
	for _, part := range e.state() {
		if err := binary.Read(in, binary.LittleEndian, part); err != nil {
			return fmt.Errorf("%s: saved state: %w", e.spec.Name, err)
		}
	}
	for c := range e.spec.Copies {
		if checker, ok := e.task.(Checker); ok && !checker.Sound(e.world, c) || e.steps[c] < 0 {
			return fmt.Errorf("%s: saved state of copy %d is damaged", e.spec.Name, c)
		}
	}
	for _, part := range e.state() {
		if numbers, ok := part.([]float32); ok && slices.ContainsFunc(numbers, func(x float32) bool { return !isFinite(x) }) {
			return fmt.Errorf("%s: saved state is damaged: a number in it is not finite", e.spec.Name)
		}
	}
	for c := range e.spec.Copies {
		e.world.orient(c)
	}
	return nil
}

// state lists the arrays that differ between two moments of one environment. Forces, controls and headings are
// recomputed before they are used.
func (e *env) state() []any {
	w := e.world
	return []any{w.pos, w.vel, w.rot, w.spin, w.fixedRot, w.slots, e.steps, e.episode, e.paid}
}

// fingerprint tells differently configured environments apart.
func (e *env) fingerprint() uint64 {
	h := fnv.New64a()
	// Without groups a spec reads as it did before there were any, so that states that were saved then can be loaded.
	spec := strings.Replace(fmt.Sprintf("%+v", e.spec), ungrouped, "", 1)
	fmt.Fprintf(h, "%s %+v %s %+v", spec, e.settings, e.config, e.world.body)
	return h.Sum64()
}

// ungrouped is what a printed envs.Spec holds of groups where all agents are one.
const ungrouped = " Groups:[] PeersAcross:false Group: Opponents:[]"
