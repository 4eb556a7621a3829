// SPDX-License-Identifier: Apache-2.0

package vmas

import "math"

// Vec is a point or a direction in the plane, in world units.
type Vec struct{ X, Y float32 }

// Add returns v + u.
func (v Vec) Add(u Vec) Vec { return Vec{v.X + u.X, v.Y + u.Y} }

// Sub returns v − u.
func (v Vec) Sub(u Vec) Vec { return Vec{v.X - u.X, v.Y - u.Y} }

// Mul returns s·v.
func (v Vec) Mul(s float32) Vec { return Vec{s * v.X, s * v.Y} }

// Dot returns the inner product of v and u.
func (v Vec) Dot(u Vec) float32 { return v.X*u.X + v.Y*u.Y }

// Cross returns the z component of the cross product of v and u.
func (v Vec) Cross(u Vec) float32 { return v.X*u.Y - v.Y*u.X }

// Norm returns the length of v.
func (v Vec) Norm() float32 { return sqrt(v.Dot(v)) }

// Turn returns v rotated by the angle with cosine and sine heading.
func (v Vec) Turn(heading Vec) Vec {
	return Vec{v.X*heading.X - v.Y*heading.Y, v.X*heading.Y + v.Y*heading.X}
}

// Left returns v rotated by 90° to the left.
func (v Vec) Left() Vec { return Vec{-v.Y, v.X} }

// Clamp limits each component to [−limit, limit].
func (v Vec) Clamp(limit float32) Vec { return Vec{clamp(v.X, limit), clamp(v.Y, limit)} }

// Shorten limits the length of v.
func (v Vec) Shorten(limit float32) Vec {
	if n := v.Norm(); n > limit {
		return Vec{v.X / n * limit, v.Y / n * limit}
	}
	return v
}

// clamp limits x to [−limit, limit]. Branches that are seldom taken cost less than max and min, which handle signed
// zeros, too.
func clamp(x, limit float32) float32 {
	if x > limit {
		return limit
	}
	if x < -limit {
		return -limit
	}
	return x
}

func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// headingOf returns (cos, sin) of an angle.
func headingOf(angle float32) Vec {
	sin, cos := math.Sincos(float64(angle))
	return Vec{float32(cos), float32(sin)}
}

// put writes vectors to dst and returns the count of numbers written.
func put(dst []float32, vectors ...Vec) int {
	for i, v := range vectors {
		dst[2*i], dst[2*i+1] = v.X, v.Y
	}
	return 2 * len(vectors)
}

// wrap returns x modulo period, in [0, period).
func wrap(x, period float32) float32 {
	if x < -period || x >= period { // seldom
		x = float32(math.Mod(float64(x), float64(period)))
	}
	if x < 0 {
		x += period
	}
	return x
}
