// SPDX-License-Identifier: Apache-2.0

package explore

import "cermic/envs"

// NonMonotonic is the task explore/nonmonotonic: a one-step game whose payoff no monotonic mixer can represent.
//
// From: Wang et al. 2021, QPLEX, the payoff matrix of its didactic example
type NonMonotonic struct {
	envs.Common
	Matrix
}

// DefaultNonMonotonic is the game as published.
func DefaultNonMonotonic() NonMonotonic {
	return NonMonotonic{Common: envs.DefaultCommon(), Matrix: defaultMatrix()}
}

func init() { envs.Register(DefaultNonMonotonic()) }

// Kind and WithShared implement envs.Config.
func (NonMonotonic) Kind() string                           { return "explore/nonmonotonic" }
func (g NonMonotonic) WithShared(s envs.Common) envs.Config { g.Common = s; return g }

// Build makes the environment.
func (g NonMonotonic) Build(seed uint64, workers int) (envs.Env, error) {
	return newMatrix(g, g.Matrix, [][][]float32{{{8, -12, -12}, {-12, 0, 0}, {-12, 0, 0}}}, seed, workers)
}
