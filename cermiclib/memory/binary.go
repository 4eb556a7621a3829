// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"encoding/binary"
	"math"
)

// appendFloats appends the bits of v, little-endian, to dst.
func appendFloats(dst []byte, v []float32) []byte {
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

// readFloats fills v from the bits at the start of src, which must suffice, and returns the rest.
func readFloats(v []float32, src []byte) []byte {
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
	return src[4*len(v):]
}
