// SPDX-License-Identifier: Apache-2.0

package envs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// A saved state (Env.Save) is a head of eight bytes and the little-endian bytes of its parts. A part is a pointer to
// numbers of fixed size, or a slice of them. The head is the fingerprint of the configuration, exclusive or that of the
// parts, so a change in either is found.

// Fingerprint identifies a configuration, given a text with all its settings.
func Fingerprint(text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text) // writing to a hash cannot fail
	return h.Sum64()
}

// SaveParts appends a state to dst. It panics if a part is not made of fixed-size numbers.
func SaveParts(dst []byte, fingerprint uint64, parts ...any) []byte {
	head := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, 0)
	for _, part := range parts {
		var err error
		if dst, err = binary.Append(dst, binary.LittleEndian, part); err != nil {
			panic(err)
		}
	}
	binary.LittleEndian.PutUint64(dst[head:], fingerprint^Fingerprint(string(dst[head+8:])))
	return dst
}

// LoadParts reads a state written by SaveParts into parts; name is the task's. It returns an error if the length is
// wrong, if another configuration wrote the state, or if it has changed since.
func LoadParts(name string, state []byte, fingerprint uint64, parts ...any) error {
	size := 0
	for _, part := range parts {
		size += binary.Size(part)
	}
	if len(state) != 8+size {
		return fmt.Errorf("%s: saved state has %d bytes, want %d; build the task with the saved run's settings",
			name, len(state), 8+size)
	}
	// States of earlier versions have the fingerprint of the configuration alone.
	head := binary.LittleEndian.Uint64(state)
	if head != fingerprint && head != fingerprint^Fingerprint(string(state[8:])) {
		return fmt.Errorf("%s: saved state is damaged or has other settings; build the task with "+
			"the saved run's settings", name)
	}
	in := bytes.NewReader(state[8:])
	for _, part := range parts {
		if err := binary.Read(in, binary.LittleEndian, part); err != nil {
			return fmt.Errorf("%s: saved state: %w", name, err)
		}
	}
	return nil
}
