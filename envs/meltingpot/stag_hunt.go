// SPDX-License-Identifier: Apache-2.0

package meltingpot

import "cermic/envs"

// StagHunt is the task meltingpot/stag_hunt_in_the_matrix__repeated. Two hunters can take the stag together, or each
// one a hare alone. Class 1 is the stag, class 2 the hare.
type StagHunt struct {
	envs.Common
	Settings
}

// DefaultStagHunt returns the settings of Melting Pot 2.4.1.
func DefaultStagHunt() StagHunt {
	return StagHunt{envs.DefaultCommon(), DefaultSettings(2500)}
}

func init() { envs.Register(DefaultStagHunt()) }

// Kind and WithShared implement envs.Config.
func (StagHunt) Kind() string                           { return "meltingpot/stag_hunt_in_the_matrix__repeated" }
func (c StagHunt) WithShared(s envs.Common) envs.Config { c.Common = s; return c }

// Build makes the environment.
func (c StagHunt) Build(seed uint64, workers int) (envs.Env, error) {
	return newEnv(c.Kind(), stagHuntSubstrate, c.Common, c.Settings, seed, workers)
}

// From: google-deepmind/meltingpot 2.4.1, meltingpot/configs/substrates/stag_hunt_in_the_matrix__repeated.py
var stagHuntSubstrate = matrixGame{
	name:   "stag_hunt_in_the_matrix__repeated",
	chart:  stagHuntChart,
	pay:    [2][2]float64{{4, 0}, {2, 2}},
	levels: []float64{0, 0.5, 1.5, 2.5, 3.5},
}.shared()

const stagHuntChart = `
WWWWWWWWWWWWWWWWWWWWWWW
Wn         n         nW
W  2WWW W  W  W WW2   W
W    W 11a W 222 W    W
Wn  WW 11a W a22 WW  nW
W      1aa 2 a22      W
W  2               2  W
Wn WW  WW2 n WW  WWW nW
W   2            2    W
W      22a 2 aa1      W
Wn   W 22a W a11 W   nW
W   2W 222 W a11 WW   W
W  WWWW W  W  W WWW2  W
Wn         n         nW
WWWWWWWWWWWWWWWWWWWWWWW
`
