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

// Penalty is the task explore/penalty: a one-step game with two best joint actions and a penalty for a mismatch.
//
// From: Claus and Boutilier 1998, The Dynamics of Reinforcement Learning in Cooperative Multiagent Systems
type Penalty struct {
	envs.Common
	Matrix
	K float32 `json:"k" range:"-1000000..0" help:"reward of a mismatch, 0 or less; more negative is harder"`
}

// NonMonotonic is the task explore/nonmonotonic: a one-step game whose payoff no monotonic mixer can represent.
//
// From: Wang et al. 2021, QPLEX, the payoff matrix of its didactic example
type NonMonotonic struct {
	envs.Common
	Matrix
}

// TwoStep is the task explore/two_step: agent 0 selects the game of the second step. A safe game always gives 7; the
// other one gives 8 for the best joint action and less otherwise.
//
// From: Rashid et al. 2018, QMIX, the two-step game
type TwoStep struct {
	envs.Common
	Matrix
}

// DefaultClimbing is the game as published.
func DefaultClimbing() Climbing { return Climbing{envs.DefaultCommon(), defaultMatrix()} }

// DefaultPenalty has the penalty at which learners in the literature fail.
func DefaultPenalty() Penalty { return Penalty{envs.DefaultCommon(), defaultMatrix(), -100} }

// DefaultNonMonotonic is the game as published.
func DefaultNonMonotonic() NonMonotonic { return NonMonotonic{envs.DefaultCommon(), defaultMatrix()} }

// DefaultTwoStep is the game as published.
func DefaultTwoStep() TwoStep { return TwoStep{envs.DefaultCommon(), defaultMatrix()} }

func init() {
	for _, game := range []envs.Config{DefaultClimbing(), DefaultPenalty(), DefaultNonMonotonic(), DefaultTwoStep()} {
		envs.Register(game)
	}
}

// Kind, WithShared and Build implement envs.Config.

func (Climbing) Kind() string     { return "explore/climbing" }
func (Penalty) Kind() string      { return "explore/penalty" }
func (NonMonotonic) Kind() string { return "explore/nonmonotonic" }
func (TwoStep) Kind() string      { return "explore/two_step" }

func (g Climbing) WithShared(s envs.Common) envs.Config     { g.Common = s; return g }
func (g Penalty) WithShared(s envs.Common) envs.Config      { g.Common = s; return g }
func (g NonMonotonic) WithShared(s envs.Common) envs.Config { g.Common = s; return g }
func (g TwoStep) WithShared(s envs.Common) envs.Config      { g.Common = s; return g }

func (g Climbing) Build(seed uint64, workers int) (envs.Env, error) {
	return newMatrix(g, g.Matrix, [][][]float32{{{11, -30, 0}, {-30, 7, 6}, {0, 0, 5}}}, seed, workers)
}

func (g Penalty) Build(seed uint64, workers int) (envs.Env, error) {
	return newMatrix(g, g.Matrix, [][][]float32{{{10, 0, g.K}, {0, 2, 0}, {g.K, 0, 10}}}, seed, workers)
}

func (g NonMonotonic) Build(seed uint64, workers int) (envs.Env, error) {
	return newMatrix(g, g.Matrix, [][][]float32{{{8, -12, -12}, {-12, 0, 0}, {-12, 0, 0}}}, seed, workers)
}

func (g TwoStep) Build(seed uint64, workers int) (envs.Env, error) {
	return newMatrix(g, g.Matrix, [][][]float32{{{7, 7}, {7, 7}}, {{0, 1}, {1, 8}}}, seed, workers)
}
