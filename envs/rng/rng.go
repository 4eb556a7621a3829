// SPDX-License-Identifier: Apache-2.0

// Package rng gives every consumer of randomness its own stream, named by (seed, purpose, indices).
//
// Streams with different names are independent. A stream's numbers depend on its name only, not on the order in which
// streams are made or on the number of goroutines that draw. A run resumed at iteration k therefore draws the same
// numbers without any generator state in its checkpoint, if k is one of the indices.
package rng

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Rand is a stream. The zero value is a valid but unnamed stream: use New or Seed.
type Rand struct{ pcg rand.PCG }

// New returns the stream named by seed, purpose and indices.
func New(seed uint64, purpose string, index ...uint64) *Rand {
	r := new(Rand)
	r.Seed(seed, purpose, index...)
	return r
}

// Seed makes r the stream named by seed, purpose and indices, in place and without allocating.
func (r *Rand) Seed(seed uint64, purpose string, index ...uint64) {
	a, b := mix(seed^0x9e3779b97f4a7c15), mix(seed+0xd1b54a32d192ed03)
	for i := range len(purpose) {
		a = mix(a ^ uint64(purpose[i])<<1)
	}
	a = mix(a + uint64(len(purpose)))
	for _, x := range index {
		a, b = mix(a^x), mix(b+x^bits.RotateLeft64(a, 31))
	}
	r.pcg.Seed(a, mix(a^b))
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014), a bijection that spreads every input bit.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Uint64 returns 64 random bits.
func (r *Rand) Uint64() uint64 { return r.pcg.Uint64() }

// Float32 returns a number in [0, 1), a multiple of 2⁻²⁴.
func (r *Rand) Float32() float32 { return float32(r.pcg.Uint64()>>40) * (1.0 / (1 << 24)) }

// Float64 returns a number in [0, 1), a multiple of 2⁻⁵³.
func (r *Rand) Float64() float64 { return float64(r.pcg.Uint64()>>11) * (1.0 / (1 << 53)) }

// Uniform returns a number in [low, high]; high only where the sum is rounded up to it. The conversion prevents a fused
// multiply-add, which would give other numbers on other processors.
func (r *Rand) Uniform(low, high float32) float32 { return low + float32((high-low)*r.Float32()) }

// IntN returns a number in [0, n). It panics for n ≤ 0.
func (r *Rand) IntN(n int) int {
	if n <= 0 {
		panic("rng: IntN of an empty range")
	}
	high, _ := bits.Mul64(r.pcg.Uint64(), uint64(n)) // the bias below n/2⁶⁴ is far too small to detect
	return int(high)
}

// Norm returns a standard normal number (Box and Muller 1958). It drops the second number of the pair, so every call
// consumes two draws. Its last bit may differ between processors, like logarithms and cosines.
func (r *Rand) Norm() float32 {
	u := 1 - r.Float64() // in (0, 1]
	return float32(math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*r.Float64()))
}

// Perm fills dst with a random permutation of 0..len(dst)-1.
func (r *Rand) Perm(dst []int32) {
	for i := range dst {
		dst[i] = int32(i)
	}
	for i := len(dst) - 1; i > 0; i-- {
		j := r.IntN(i + 1)
		dst[i], dst[j] = dst[j], dst[i]
	}
}

// AppendBinary appends the stream's state of 20 bytes.
func (r *Rand) AppendBinary(dst []byte) ([]byte, error) { return r.pcg.AppendBinary(dst) }

// UnmarshalBinary restores a state written by AppendBinary.
func (r *Rand) UnmarshalBinary(state []byte) error { return r.pcg.UnmarshalBinary(state) }
