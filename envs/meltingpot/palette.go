// SPDX-License-Identifier: Apache-2.0

package meltingpot

import "cermic/envs"

// looks lists by name all that a cell of a substrate can show. Sprites are drawn in this order: the ground's, the player,
// its marker, the beams.
type looks struct {
	grounds [][]string // sprites of each ground, lowest first; ground 0 shows nothing
	solid   string     // a ground of this single sprite never has anything on it
	players []string   // sprite of each player as others see it; oneself is "Self"
	markers []string   // what can float above a player; "" is nothing
	beams   []string   // lowest first
}

// palette numbers the different pictures that a cell can show. The numbers follow from the substrate's looks alone, and
// equal pictures have equal numbers, so that cells tell exactly as much as pixels do. Picture 0 is black.
//
// Inside, a cell is a code that names what is there: see code. table turns it into the number of a picture as seen by
// someone who faces that way.
type palette struct {
	pixels    []uint8     // [V,8,8,3]
	table     [4][]uint16 // [codes] by the viewer's direction
	perGround int         // difference of codes of neighbouring grounds
	perPlayer int         // the same of players; player number len(players) is the viewer itself
	perSide   int         // the same of directions that players face
	perMarker int         // the same of markers
}

// code numbers the content of a cell: a ground, a player (-1: none) with direction and marker, and a set of beams.
func (p *palette) code(ground, player int, face facing, marker, beams int) int {
	code := ground*p.perGround + beams
	if player >= 0 {
		code += p.perMarker + player*p.perPlayer + int(face)*p.perSide + marker*p.perMarker
	}
	return code
}

// picture is one composed cell [8,8,3].
type picture [envs.CellPixels * envs.CellPixels * 3]uint8

// newPalette composes everything that can occur.
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

// compose numbers everything that can be on one ground.
func (p *palette) compose(ground *picture, g, viewer int, l *looks, from map[string]sprite, number func(*picture) uint16) {
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
				continue // one always looks ahead
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

// blend draws a sprite over the picture, in whole numbers as the original does.
func (p *picture) blend(sprite []byte) {
	for px := range len(p) / 3 {
		alpha := int(sprite[4*px+3])
		for ch := range 3 {
			dst, src := int(p[3*px+ch]), int(sprite[4*px+ch])
			p[3*px+ch] = uint8(((255-alpha)*dst + alpha*src + 127) / 255)
		}
	}
}
