// SPDX-License-Identifier: Apache-2.0

package meltingpot

import "cermic/envs"

// looks names all sprites of a substrate, in drawing order: grounds, players, markers, beams.
type looks struct {
	grounds [][]string // sprites of each ground, lowest first; ground 0 is empty
	solid   string     // a ground of this single sprite never has anything on it
	players []string   // sprite of each player as others see it; a player's own is "Self"
	markers []string   // markers above players; "" is none
	beams   []string   // lowest first
}

// palette numbers the distinct tiles that a cell can show. Numbers follow from the looks alone, and equal tiles have
// equal numbers, so cells and pixels carry the same information. Tile 0 is black.
//
// Internally, a cell has a code for its content: see code. table maps a code to the tile number for a viewer's
// direction.
type palette struct {
	pixels    []uint8     // [V,8,8,3]
	table     [4][]uint16 // [codes] by the viewer's direction
	perGround int         // difference between the codes of consecutive grounds
	perPlayer int         // the same for players; player len(players) is the viewer itself
	perSide   int         // the same for the directions of players
	perMarker int         // the same for markers
}

// code numbers the content of a cell: a ground, a player (-1: none) with direction and marker, and a set of beams.
func (p *palette) code(ground, player int, face facing, marker, beams int) int {
	code := ground*p.perGround + beams
	if player >= 0 {
		code += p.perMarker + player*p.perPlayer + int(face)*p.perSide + marker*p.perMarker
	}
	return code
}

// picture is a tile [8,8,3].
type picture [envs.CellPixels * envs.CellPixels * 3]uint8

// newPalette composes all possible tiles.
func newPalette(l *looks, from map[string]sprite) *palette {
	p := &palette{perMarker: 1 << len(l.beams)}
	p.perSide = p.perMarker * len(l.markers)
	p.perPlayer = 4 * p.perSide
	p.perGround = p.perMarker + (len(l.players)+1)*p.perPlayer
	number := map[picture]uint16{}
	numberOf := func(pic *picture) uint16 {
		n, ok := number[*pic]
		if !ok {
			n = uint16(len(number))
			number[*pic] = n
			p.pixels = append(p.pixels, pic[:]...)
		}
		return n
	}
	for viewer := range p.table {
		p.table[viewer] = make([]uint16, len(l.grounds)*p.perGround)
		for g, ground := range l.grounds {
			var pic picture
			for _, name := range ground {
				pic.blend(from[name][facing(0).turned(-viewer)])
			}
			if len(ground) == 1 && ground[0] == l.solid {
				p.table[viewer][p.code(g, -1, 0, 0, 0)] = numberOf(&pic)
				continue
			}
			p.compose(&pic, g, viewer, l, from, numberOf)
		}
	}
	return p
}

// compose numbers all possible contents of a cell with one ground.
func (p *palette) compose(ground *picture, g, viewer int, l *looks, from map[string]sprite,
	number func(*picture) uint16) {
	table := p.table[viewer]
	withBeams := func(pic picture, code int) {
		for set := range 1 << len(l.beams) {
			lit := pic
			for k, name := range l.beams {
				if set>>k&1 != 0 {
					lit.blend(from[name][0])
				}
			}
			table[code+set] = number(&lit)
		}
	}
	withBeams(*ground, p.code(g, -1, 0, 0, 0))
	for player := range len(l.players) + 1 {
		for face := range facing(4) {
			relative, name := face.turned(-viewer), "Self"
			if player < len(l.players) {
				name = l.players[player]
			} else if relative != 0 {
				continue // a viewer always faces ahead in its own view
			}
			body := *ground
			body.blend(from[name][relative])
			for m, marker := range l.markers {
				pic := body
				if marker != "" {
					pic.blend(from[marker][0])
				}
				withBeams(pic, p.code(g, player, face, m, 0))
			}
		}
	}
}

// blend draws a sprite over the tile, in integer arithmetic as in the original.
func (p *picture) blend(sprite []byte) {
	for px := range len(p) / 3 {
		alpha := int(sprite[4*px+3])
		for ch := range 3 {
			dst, src := int(p[3*px+ch]), int(sprite[4*px+ch])
			p[3*px+ch] = uint8(((255-alpha)*dst + alpha*src + 127) / 255)
		}
	}
}
