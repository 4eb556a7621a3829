// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
)

// Save appends everything that the next Step or Reset depends on, behind a fingerprint of the configuration.
func (e *env) Save(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, e.fingerprint())
	dst = binary.LittleEndian.AppendUint64(dst, e.seed)
	for c := range e.frame {
		dst = binary.LittleEndian.AppendUint32(dst, e.episode[c])
		dst = binary.LittleEndian.AppendUint32(dst, uint32(e.frame[c]))
		for _, x := range e.words(c) {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(x))
		}
	}
	return dst
}

// Load continues from a state that Save wrote.
func (e *env) Load(state []byte) error {
	if want := 16 + 4*(2*len(e.frame)+len(e.state)); len(state) != want {
		return fmt.Errorf("%s: saved state has %d bytes, want %d; was it written with other settings?", e.spec.Name, len(state), want)
	}
	if binary.LittleEndian.Uint64(state) != e.fingerprint() {
		return fmt.Errorf("%s: saved state was written with other settings; build the task as it was then", e.spec.Name)
	}
	e.seed = binary.LittleEndian.Uint64(state[8:])
	state = state[16:]
	next := func() int32 {
		x := int32(binary.LittleEndian.Uint32(state))
		state = state[4:]
		return x
	}
	for c := range e.frame {
		e.episode[c], e.frame[c] = uint32(next()), next()
		for k := range e.words(c) {
			x := next()
			if low, count := e.game.limit(k); x < low || x >= low+count {
				return fmt.Errorf("%s: saved state is damaged: number %d of copy %d is %d", e.spec.Name, k, c, x)
			}
			e.words(c)[k] = x
		}
	}
	return nil
}

// fingerprint tells differently configured environments apart.
func (e *env) fingerprint() uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, e.spec.Name, e.print)
	return h.Sum64()
}
