// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"cermic/envs"
)

// Penalty is the task explore/penalty: a one-step game with two best joint actions and a penalty for a mismatch.
//
// From: Claus and Boutilier 1998, The Dynamics of Reinforcement Learning in Cooperative Multiagent Systems
type Penalty struct {
	envs.Common
	Matrix
	K float32 `json:"k" range:"-1000000..0" help:"reward of a mismatch, 0 or less; more negative is harder"`
}

// DefaultPenalty has the penalty at which learners in the literature fail.
func DefaultPenalty() Penalty {
	return Penalty{Common: envs.DefaultCommon(), Matrix: defaultMatrix(), K: -100}
}

func init() { envs.Register(DefaultPenalty()) }

// Kind and WithShared implement envs.Config.
func (Penalty) Kind() string                           { return "explore/penalty" }
func (g Penalty) WithShared(s envs.Common) envs.Config { g.Common = s; return g }

// Build makes the environment.
func (g Penalty) Build(seed uint64, workers int) (envs.Env, error) {
	return newMatrix(g, g.Matrix, [][][]float32{{{10, 0, g.K}, {0, 2, 0}, {g.K, 0, 10}}}, seed, workers)
}
