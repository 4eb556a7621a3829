// SPDX-License-Identifier: Apache-2.0

package explore

import "cermic/envs"

// TwoStep is the task explore/two_step: agent 0 selects the game of the second step. A safe game always gives 7; the
// other one gives 8 for the best joint action and less otherwise.
//
// From: Rashid et al. 2018, QMIX, the two-step game
type TwoStep struct {
	envs.Common
	Matrix
}

// DefaultTwoStep is the game as published.
func DefaultTwoStep() TwoStep { return TwoStep{Common: envs.DefaultCommon(), Matrix: defaultMatrix()} }

func init() { envs.Register(DefaultTwoStep()) }

// Kind and WithShared implement envs.Config.
func (TwoStep) Kind() string                           { return "explore/two_step" }
func (g TwoStep) WithShared(s envs.Common) envs.Config { g.Common = s; return g }

// Build makes the environment.
func (g TwoStep) Build(seed uint64, workers int) (envs.Env, error) {
	return newMatrix(g, g.Matrix, [][][]float32{{{7, 7}, {7, 7}}, {{0, 1}, {1, 8}}}, seed, workers)
}
