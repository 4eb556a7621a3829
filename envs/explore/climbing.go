// SPDX-License-Identifier: Apache-2.0

package explore

import "cermic/envs"

// Climbing is the task explore/climbing: a one-step game whose best joint action is costly if only one agent takes
// it.
//
// From: Claus and Boutilier 1998, The Dynamics of Reinforcement Learning in Cooperative Multiagent Systems
type Climbing struct {
	envs.Common
	Matrix
}

// DefaultClimbing is the game as published.
func DefaultClimbing() Climbing {
	return Climbing{Common: envs.DefaultCommon(), Matrix: defaultMatrix()}
}

func init() { envs.Register(DefaultClimbing()) }

// Kind and WithShared implement envs.Config.
func (Climbing) Kind() string                           { return "explore/climbing" }
func (g Climbing) WithShared(s envs.Common) envs.Config { g.Common = s; return g }

// Build makes the environment.
func (g Climbing) Build(seed uint64, workers int) (envs.Env, error) {
	return newMatrix(g, g.Matrix, [][][]float32{{{11, -30, 0}, {-30, 7, 6}, {0, 0, 5}}}, seed, workers)
}
