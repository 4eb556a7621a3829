// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"slices"
	"strings"
)

// From: google-deepmind/meltingpot 2.4.1, meltingpot/configs/substrates/clean_up.py
const cleanUpChart = `
WWWWWWWWWWWWWWWWWWWWWWWWWWWWWW
WHFFFHFFHFHFHFHFHFHFHHFHFFFHFW
WHFHFHFFHFHFHFHFHFHFHHFHFFFHFW
WHFFHFFHHFHFHFHFHFHFHHFHFFFHFW
WHFHFHFFHFHFHFHFHFHFHHFHFFFHFW
WHFFFFFFHFHFHFHFHFHFHHFHFFFHFW
W==============+~FHHHHHHf====W
W   P    P      ===+~SSf     W
W     P     P   P  <~Sf  P   W
W             P   P<~S>      W
W   P    P         <~S>   P  W
W               P  <~S>P     W
W     P           P<~S>      W
W           P      <~S> P    W
W  P             P <~S>      W
W^T^T^T^T^T^T^T^T^T;~S,^T^T^TW
WBBBBBBBBBBBBBBBBBBBssBBBBBBBW
WBBBBBBBBBBBBBBBBBBBBBBBBBBBBW
WBBBBBBBBBBBBBBBBBBBBBBBBBBBBW
WBBBBBBBBBBBBBBBBBBBBBBBBBBBBW
WWWWWWWWWWWWWWWWWWWWWWWWWWWWWW
`

// terrain lists the sprites of every letter. Letters with water or an item have several grounds.
var terrain = []struct {
	letters string
	water   bool
	below   []string // sprites below the item
	item    string   // sprite of the item that appears and disappears
	above   []string // sprites above it
}{
	{letters: "W", below: []string{"Wall"}},
	{letters: " P", below: []string{"Sand"}},
	{letters: "B", below: []string{"Grass"}, item: "Apple"},
	{letters: "T", below: []string{"Sand", "GrassEdge"}, item: "Apple"},
	{letters: "^", below: []string{"Sand", "GrassEdge"}},
	{letters: "s", below: []string{"Grass", "ShadowN"}},
	{letters: "=", below: []string{"Sand", "ShadowN"}},
	{letters: "+", below: []string{"Sand", "ShadowE", "ShadowN"}},
	{letters: "f", below: []string{"Sand", "ShadowW", "ShadowN"}},
	{letters: ";", below: []string{"Sand", "GrassEdge", "ShadowE"}},
	{letters: ",", below: []string{"Sand", "GrassEdge", "ShadowW"}},
	{letters: ">", below: []string{"Sand", "ShadowW"}},
	{letters: "<", below: []string{"Sand", "ShadowE"}},
	{letters: "~", water: true, above: []string{"ShadowW"}},
	{letters: "S", water: true},
	{letters: "HF", water: true, item: "Dirt"},
}

// cleanUpLooks returns all looks and the first ground of every letter. The grounds of a letter are numbered by phase
// of its water, if any, first without and then with its item.
func cleanUpLooks() (l *looks, first [256]uint8) {
	l = &looks{
		grounds: [][]string{nil}, solid: "Wall",
		players: []string{"Avatar1", "Avatar2", "Avatar3", "Avatar4", "Avatar5", "Avatar6", "Avatar7"},
		markers: []string{""}, beams: []string{beamClean: "BeamClean", beamZap: "BeamZap"},
	}
	for _, land := range terrain {
		for k := range len(land.letters) {
			first[land.letters[k]] = uint8(len(l.grounds))
		}
		waters := []string{""}
		if land.water {
			waters = []string{"water_1", "water_2", "water_3", "water_4"}
		}
		for _, item := range []string{"", land.item} {
			for _, water := range waters {
				stack := slices.Concat([]string{water}, land.below, []string{item}, land.above)
				l.grounds = append(l.grounds, slices.DeleteFunc(stack, func(name string) bool { return name == "" }))
			}
			if land.item == "" {
				break
			}
		}
	}
	return l, first
}

// river is the data shared by all environments of clean_up, besides the layout.
type river struct {
	*layout
	first  [256]uint8 // first ground of each letter
	dirt   []int16    // sites that can be dirty
	apples []int16    // sites where apples can grow
	water  []int32    // cells of water
}

func newRiver() *river {
	look, first := cleanUpLooks()
	r := &river{first: first}
	r.layout = newLayout(cleanUpChart, 7, window{left: 5, right: 5, forward: 9, backward: 1},
		legend{walls: "W", spawns: "P", sites: "HFBT", ground: func(letter byte) uint8 { return first[letter] }},
		newPalette(look, sprites().Substrates["clean_up"].Sprites))
	for cell, letter := range r.letters {
		if letter != 0 && strings.IndexByte("~SHF", letter) >= 0 {
			r.water = append(r.water, int32(cell))
		}
	}
	for s := range r.sites {
		if r.isWater(s) {
			r.dirt = append(r.dirt, int16(s))
		} else {
			r.apples = append(r.apples, int16(s))
		}
	}
	return r
}

// isWater reports whether a site is in the river (otherwise, in the orchard).
func (r *river) isWater(s int) bool {
	letter := r.letters[r.sites[s]]
	return letter == 'H' || letter == 'F'
}
