// SPDX-License-Identifier: Apache-2.0

package smac

import "cermic/envs/smac/sc2"

// Terrain is the ground of a map, in cells of side 1 with the origin in the lower left corner.
type Terrain sc2.Ground

// mapSide is the side of the benchmark's map in cells.
const mapSide = 32

// flat returns the simulator's terrain for the benchmark's map.
//
// DECISION 22: no border cells are blocked. The map's header makes all of it playable; cells blocked by the game's
// own grid are unknown without the game. The single level counts as 0.
func flat() *Terrain {
	t := &Terrain{
		Width: mapSide, Height: mapSide, PlayWidth: mapSide, PlayHeight: mapSide,
		Pathable: make([]bool, mapSide*mapSide), Level: make([]uint8, mapSide*mapSide),
	}
	for i := range t.Pathable {
		t.Pathable[i] = true
	}
	return t
}

// rimmed is flat with the outermost cells blocked.
func rimmed() *Terrain {
	t := flat()
	for i := range t.Pathable {
		x, y := i%mapSide, i/mapSide
		t.Pathable[i] = x > 0 && y > 0 && x < mapSide-1 && y < mapSide-1
	}
	return t
}

// walkable reports whether a unit can be sent to the cell; false outside the map.
func (t *Terrain) walkable(x, y int) bool {
	at, ok := t.cell(x, y)
	return ok && t.Pathable[at]
}

// cell returns the index of a cell, or false outside the map.
func (t *Terrain) cell(x, y int) (int, bool) {
	return y*t.Width + x, x >= 0 && y >= 0 && x < t.Width && y < t.Height
}

// around lists the observed points of the terrain, relative to the agent's cell in units of move_amount: 8 for
// walkability and one more for heights.
var around = [9][2]int{{0, 2}, {0, -2}, {2, 0}, {-2, 0}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}, {0, 0}}

// paths writes whether the 8 points around (x, y) are walkable. Points outside the map count as walkable.
func (t *Terrain) paths(x, y float32, move int, dst []float32) []float32 {
	for _, d := range around[:8] {
		at, ok := t.cell(int(x)+d[0]*move, int(y)+d[1]*move)
		if !ok || t.Pathable[at] {
			dst[0] = 1
		}
		dst = dst[1:]
	}
	return dst
}

// levels writes the heights of the 8 points around (x, y) and of (x, y). Points outside the map count as 1.
func (t *Terrain) levels(x, y float32, move int, dst []float32) []float32 {
	for i, d := range around {
		dst[i] = 1
		if at, ok := t.cell(int(x)+d[0]*move, int(y)+d[1]*move); ok {
			dst[i] = float32(float64(t.Level[at]) / 255)
		}
	}
	return dst[len(around):]
}
