// SPDX-License-Identifier: Apache-2.0

package rl

import "math"

// Running holds count, mean and spread of a stream of numbers (Welford 1962). Its fields are exported to be saved.
type Running struct{ Count, Mean, M2 float64 }

// Add takes in one number.
func (r *Running) Add(x float64) {
	r.Count++
	d := x - r.Mean
	r.Mean += d / r.Count
	r.M2 += d * (x - r.Mean)
}

// Std is the standard deviation of the numbers so far, 0 for none.
func (r *Running) Std() float64 { return math.Sqrt(r.M2 / max(r.Count, 1)) }

// Fade multiplies the weight of all numbers so far by keep, from 0 to 1: mean and spread stay until the next number comes.
func (r *Running) Fade(keep float64) {
	r.Count *= keep
	r.M2 *= keep
}
