// SPDX-License-Identifier: Apache-2.0

package envs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// A saved state (Env.Save) is a fingerprint of the environment's configuration, followed by the little-endian bytes
// of its parts. A part is a pointer to numbers of fixed size, or a slice of them.

// Fingerprint identifies a configuration, given a text with all its settings.
func Fingerprint(text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text) // writing to a hash cannot fail
	return h.Sum64()
}

// SaveParts appends a state to dst. It panics if a part is not made of fixed-size numbers.
func SaveParts(dst []byte, fingerprint uint64, parts ...any) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, fingerprint)
	for _, part := range parts {
		var err error
		if dst, err = binary.Append(dst, binary.LittleEndian, part); err != nil {
			panic(err)
		}
	}
	return dst
}

// LoadParts reads a state written by SaveParts into parts; name is the task's. The task must validate the numbers.
func LoadParts(name string, state []byte, fingerprint uint64, parts ...any) error {
	size := 0
	for _, part := range parts {
		size += binary.Size(part)
	}
	body, err := SavedBody(name, state, fingerprint, size)
	if err != nil {
		return err
	}
	in := bytes.NewReader(body)
	for _, part := range parts {
		if err := binary.Read(in, binary.LittleEndian, part); err != nil {
			return fmt.Errorf("%s: saved state: %w", name, err)
		}
	}
	return nil
}

// SavedBody returns the state without its fingerprint, or an error if its length is not size or another configuration
// wrote it.
func SavedBody(name string, state []byte, fingerprint uint64, size int) ([]byte, error) {
	if len(state) != 8+size {
		return nil, fmt.Errorf("%s: saved state has %d bytes, want %d; build the task with the saved run's settings",
			name, len(state), 8+size)
	}
	if binary.LittleEndian.Uint64(state) != fingerprint {
		return nil, fmt.Errorf("%s: saved state has other settings; build the task with the saved run's settings", name)
	}
	return state[8:], nil
}
