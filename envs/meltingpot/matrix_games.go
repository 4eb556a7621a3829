// SPDX-License-Identifier: Apache-2.0

package meltingpot

import "cermic/envs"

// Chicken is the task meltingpot/chicken_in_the_matrix__repeated. Yielding to a player that does not yield gives
// less, but two players that do not yield get nothing. Class 1 is the dove, class 2 the hawk.
type Chicken struct {
	envs.Common
	Settings
}

// PrisonersDilemma is the task meltingpot/prisoners_dilemma_in_the_matrix__repeated. Defection is better for each
// player, cooperation for both. Class 1 is cooperation, class 2 defection.
type PrisonersDilemma struct {
	envs.Common
	Settings
}

// StagHunt is the task meltingpot/stag_hunt_in_the_matrix__repeated. Two hunters can take the stag together, or each
// one a hare alone. Class 1 is the stag, class 2 the hare.
type StagHunt struct {
	envs.Common
	Settings
}

// DefaultChicken returns the settings of Melting Pot 2.4.1.
func DefaultChicken() Chicken { return Chicken{envs.DefaultCommon(), DefaultSettings(5000)} }

// DefaultPrisonersDilemma returns the settings of Melting Pot 2.4.1.
func DefaultPrisonersDilemma() PrisonersDilemma {
	return PrisonersDilemma{envs.DefaultCommon(), DefaultSettings(5000)}
}

// DefaultStagHunt returns the settings of Melting Pot 2.4.1.
func DefaultStagHunt() StagHunt { return StagHunt{envs.DefaultCommon(), DefaultSettings(2500)} }

func init() {
	for _, game := range []envs.Config{DefaultChicken(), DefaultPrisonersDilemma(), DefaultStagHunt()} {
		envs.Register(game)
	}
}

// Kind, WithShared and Build implement envs.Config.

func (Chicken) Kind() string          { return "meltingpot/chicken_in_the_matrix__repeated" }
func (PrisonersDilemma) Kind() string { return "meltingpot/prisoners_dilemma_in_the_matrix__repeated" }
func (StagHunt) Kind() string         { return "meltingpot/stag_hunt_in_the_matrix__repeated" }

func (c Chicken) WithShared(s envs.Common) envs.Config          { c.Common = s; return c }
func (c PrisonersDilemma) WithShared(s envs.Common) envs.Config { c.Common = s; return c }
func (c StagHunt) WithShared(s envs.Common) envs.Config         { c.Common = s; return c }

func (c Chicken) Build(seed uint64, workers int) (envs.Env, error) {
	return newEnv(c.Kind(), chicken, c.Common, c.Settings, seed, workers)
}

func (c PrisonersDilemma) Build(seed uint64, workers int) (envs.Env, error) {
	return newEnv(c.Kind(), prisonersDilemma, c.Common, c.Settings, seed, workers)
}

func (c StagHunt) Build(seed uint64, workers int) (envs.Env, error) {
	return newEnv(c.Kind(), stagHunt, c.Common, c.Settings, seed, workers)
}

// From: google-deepmind/meltingpot 2.4.1, meltingpot/configs/substrates/*_in_the_matrix__repeated.py
var (
	chicken = matrixGame{
		name: "chicken_in_the_matrix__repeated", chart: openChart, pay: [2][2]float64{{3, 2}, {5, 0}},
		levels: []float64{0, 1.5, 2.5, 3.5},
	}.shared()
	prisonersDilemma = matrixGame{
		name: "prisoners_dilemma_in_the_matrix__repeated", chart: openChart, pay: [2][2]float64{{3, 0}, {5, 1}},
		levels: []float64{0, 1, 2, 3, 4},
	}.shared()
	stagHunt = matrixGame{
		name: "stag_hunt_in_the_matrix__repeated", chart: stagHuntChart, pay: [2][2]float64{{4, 0}, {2, 2}},
		levels: []float64{0, 0.5, 1.5, 2.5, 3.5},
	}.shared()
)

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
