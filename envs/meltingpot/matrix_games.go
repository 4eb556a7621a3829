// SPDX-License-Identifier: Apache-2.0

package meltingpot

// From: google-deepmind/meltingpot 2.4.1, meltingpot/configs/substrates/*_in_the_matrix__repeated.py
var (
	chicken = matrixGame{
		name: "chicken_in_the_matrix__repeated", chart: openChart, pay: [2][2]float64{{3, 2}, {5, 0}},
		levels: []float64{0, 1.5, 2.5, 3.5},
	}
	prisonersDilemma = matrixGame{
		name: "prisoners_dilemma_in_the_matrix__repeated", chart: openChart, pay: [2][2]float64{{3, 0}, {5, 1}},
		levels: []float64{0, 1, 2, 3, 4},
	}
	stagHunt = matrixGame{
		name: "stag_hunt_in_the_matrix__repeated", chart: stagHuntChart, pay: [2][2]float64{{4, 0}, {2, 2}},
		levels: []float64{0, 0.5, 1.5, 2.5, 3.5},
	}
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
