// SPDX-License-Identifier: Apache-2.0

// Package rl is the host side of reinforcement learning: rollouts, returns and advantages, action distributions, the
// replay buffer and running statistics. Arrays are flat []float32 in time-major order; nothing here builds a graph.
package rl

import (
	"encoding/json"
	"math"
)

// Scalars are the named numbers that one iteration reports: losses, ratios, moments.
type Scalars map[string]float64

// Saver is a component with state outside the variable store, such as running statistics or a replay. Checkpoints
// contain the result of Save; Load must continue from it bit-exactly.
type Saver interface {
	Save() []byte
	// Load returns an error if state does not fit the component's configuration.
	Load(state []byte) error
}

// StateJSON returns a Saver's state as JSON, where floats read back bit for bit. It panics if a number is not finite.
func StateJSON(state any) []byte {
	data, err := json.Marshal(state)
	if err != nil {
		panic("running statistics are not finite: " + err.Error())
	}
	return data
}

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
