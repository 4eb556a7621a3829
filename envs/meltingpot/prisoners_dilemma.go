// SPDX-License-Identifier: Apache-2.0

package meltingpot

import "cermic/envs"

// PrisonersDilemma is the task meltingpot/prisoners_dilemma_in_the_matrix__repeated. Defection is better for each
// player, cooperation for both. Class 1 is cooperation, class 2 defection.
type PrisonersDilemma struct {
	envs.Common
	Settings
}

// DefaultPrisonersDilemma returns the settings of Melting Pot 2.4.1.
func DefaultPrisonersDilemma() PrisonersDilemma {
	return PrisonersDilemma{envs.DefaultCommon(), DefaultSettings(5000)}
}

func init() { envs.Register(DefaultPrisonersDilemma()) }

// Kind and WithShared implement envs.Config.
func (PrisonersDilemma) Kind() string                           { return "meltingpot/prisoners_dilemma_in_the_matrix__repeated" }
func (c PrisonersDilemma) WithShared(s envs.Common) envs.Config { c.Common = s; return c }

// Build makes the environment.
func (c PrisonersDilemma) Build(seed uint64, workers int) (envs.Env, error) {
	return newEnv(c.Kind(), prisonersDilemmaSubstrate, c.Common, c.Settings, seed, workers)
}

// From: google-deepmind/meltingpot 2.4.1, meltingpot/configs/substrates/prisoners_dilemma_in_the_matrix__repeated.py
var prisonersDilemmaSubstrate = matrixGame{
	name:   "prisoners_dilemma_in_the_matrix__repeated",
	chart:  openChart,
	pay:    [2][2]float64{{3, 0}, {5, 1}},
	levels: []float64{0, 1, 2, 3, 4},
}.shared()
