// SPDX-License-Identifier: Apache-2.0

package meltingpot

import "strings"

// window is the size of a player's view: cells to each side of it, turned with it.
type window struct{ left, right, forward, backward int }

func (w window) width() int  { return w.left + 1 + w.right }
func (w window) height() int { return w.forward + 1 + w.backward }

// layout is the data shared by all environments of a substrate. Cells are numbered row by row through the map and a
// margin around it. The margin, as wide as the reach of any view, is impassable, so views and beams need no bounds
// checks.
type layout struct {
	players       int
	view          window
	width, height int // of the map
	margin        int
	ahead         [4]int32 // cell number differences, by direction
	wall          []bool   // [cells] blocks bodies and beams
	ground        []uint16 // [cells] code of the ground at the start
	spawns        []int32  // cells where players arrive
	sites         []int32  // cell of each site
	siteAt        []int16  // [cells] site in the cell, or -1
	letters       []byte   // [cells] of the map, 0 in the margin
	palette       *palette
}

// legend defines the letters of a map.
type legend struct {
	walls, spawns, sites string // letters of walls, spawn cells and sites
	ground               func(letter byte) uint8
}

// newLayout reads a map with lines of equal length.
func newLayout(chart string, players int, view window, key legend, p *palette) *layout {
	rows := strings.Split(strings.Trim(chart, "\n"), "\n")
	l := &layout{
		players: players, view: view, width: len(rows[0]), height: len(rows), palette: p,
		margin: max(view.left, view.right, view.forward, view.backward, beamLength),
	}
	stride, lines := l.stride(), l.height+2*l.margin
	l.ahead = [4]int32{north: -int32(stride), east: 1, south: int32(stride), west: -1}
	l.wall, l.ground = make([]bool, stride*lines), make([]uint16, stride*lines)
	l.siteAt, l.letters = make([]int16, stride*lines), make([]byte, stride*lines)
	for cell := range l.wall {
		l.wall[cell], l.siteAt[cell] = true, -1
	}
	for y, row := range rows {
		for x := range l.width {
			l.put(l.cell(x, y), row[x], key)
		}
	}
	return l
}

func (l *layout) put(cell int32, letter byte, key legend) {
	among := func(set string) bool { return strings.IndexByte(set, letter) >= 0 }
	l.letters[cell] = letter
	l.wall[cell] = among(key.walls)
	l.ground[cell] = l.groundCode(key.ground(letter))
	if among(key.spawns) {
		l.spawns = append(l.spawns, cell)
	}
	if among(key.sites) {
		l.siteAt[cell] = int16(len(l.sites))
		l.sites = append(l.sites, cell)
	}
}

// stride is the difference of cell numbers between vertical neighbours.
func (l *layout) stride() int { return l.width + 2*l.margin }

// cell returns the number of the cell in column x and row y of the map.
func (l *layout) cell(x, y int) int32 { return int32((y+l.margin)*l.stride() + x + l.margin) }

// place returns the column and row of a cell.
func (l *layout) place(cell int32) (x, y int) {
	return int(cell)%l.stride() - l.margin, int(cell)/l.stride() - l.margin
}

// groundCode returns the code of a cell with a ground and nothing else.
func (l *layout) groundCode(g uint8) uint16 { return uint16(int(g) * l.palette.perGround) }
