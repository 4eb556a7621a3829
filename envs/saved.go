// SPDX-License-Identifier: Apache-2.0

package envs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// A saved state (Env.Save) is a fingerprint of the environment's configuration and then the little-endian bytes of its parts, each a
// pointer to numbers of fixed size or a slice of them.

// Fingerprint tells differently configured environments apart by a text that has their settings.
func Fingerprint(text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text) // a hash takes everything
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

// LoadParts reads into parts what SaveParts wrote of the task called name. Whether the numbers make sense is for the task to say.
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

// SavedBody is the state without its fingerprint, size bytes, or an error if an environment with other settings wrote it.
func SavedBody(name string, state []byte, fingerprint uint64, size int) ([]byte, error) {
	if len(state) != 8+size {
		return nil, fmt.Errorf("%s: saved state has %d bytes, want %d; was it written with other settings?", name, len(state), 8+size)
	}
	if binary.LittleEndian.Uint64(state) != fingerprint {
		return nil, fmt.Errorf("%s: saved state was written with other settings; build the task as it was then", name)
	}
	return state[8:], nil
}
