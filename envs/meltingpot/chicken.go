// SPDX-License-Identifier: Apache-2.0

package meltingpot

import "cermic/envs"

// Chicken is the task meltingpot/chicken_in_the_matrix__repeated. Yielding to a player that does not yield gives
// less, but two players that do not yield get nothing. Class 1 is the dove, class 2 the hawk.
type Chicken struct {
	envs.Common
	Settings
}

// DefaultChicken returns the settings of Melting Pot 2.4.1.
func DefaultChicken() Chicken {
	return Chicken{envs.DefaultCommon(), DefaultSettings(5000)}
}

func init() { envs.Register(DefaultChicken()) }

// Kind and WithShared implement envs.Config.
func (Chicken) Kind() string                           { return "meltingpot/chicken_in_the_matrix__repeated" }
func (c Chicken) WithShared(s envs.Common) envs.Config { c.Common = s; return c }

// Build makes the environment.
func (c Chicken) Build(seed uint64, workers int) (envs.Env, error) {
	return newEnv(c.Kind(), chickenSubstrate, c.Common, c.Settings, seed, workers)
}

// From: google-deepmind/meltingpot 2.4.1, meltingpot/configs/substrates/chicken_in_the_matrix__repeated.py
var chickenSubstrate = matrixGame{
	name:   "chicken_in_the_matrix__repeated",
	chart:  openChart,
	pay:    [2][2]float64{{3, 2}, {5, 0}},
	levels: []float64{0, 1.5, 2.5, 3.5},
}.shared()
