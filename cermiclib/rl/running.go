// SPDX-License-Identifier: Apache-2.0

package rl

import "math"

// Running holds count, mean and variance of a stream of numbers (Welford 1962). Its fields are exported for saving.
type Running struct{ Count, Mean, M2 float64 }

// Add includes one number.
func (r *Running) Add(x float64) {
	r.Count++
	d := x - r.Mean
	r.Mean += d / r.Count
	r.M2 += d * (x - r.Mean)
}

// Std is the standard deviation so far, 0 for an empty stream.
func (r *Running) Std() float64 { return math.Sqrt(r.M2 / max(r.Count, 1)) }

// Fade multiplies the weight of all numbers so far by keep, from 0 to 1. Mean and standard deviation do not change.
func (r *Running) Fade(keep float64) {
	r.Count *= keep
	r.M2 *= keep
}
