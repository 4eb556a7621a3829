// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"cermic/envs"
)

// trail is the way that an agent or an object came.
type trail struct {
	shape envs.Shape // as it is now
	path  [][2]float64
}

// trailsOf are the ways to the last of scenes of all that moves: agents by their number, objects by their place among
// the objects of a scene.
func trailsOf(scenes []envs.Scene) []trail {
	type mover struct {
		role  envs.Role
		index int
	}
	var order []mover
	ways := map[mover]*trail{}
	for _, s := range scenes {
		objects := 0
		for _, shape := range s.Shapes {
			m := mover{shape.Role, shape.Agent}
			switch shape.Role {
			case envs.RoleAgent:
			case envs.RoleObject:
				m.index = objects
				objects++
			default:
				continue
			}
			if ways[m] == nil {
				order, ways[m] = append(order, m), &trail{}
			}
			way := ways[m]
			way.shape = shape
			way.path = append(way.path, [2]float64{shape.X, shape.Y})
		}
	}
	out := make([]trail, len(order))
	for i, m := range order {
		out[i] = *ways[m]
	}
	return out
}

// leap is the longest step of a trail, as a share of the picture's longer side: a longer one is a teleport and is not drawn.
const leap = 0.15

// trail draws a way as a thin line, pale enough to lie under everything.
func (p painter) trail(t trail) {
	var lines [][]vg.Point
	before, longest := vg.Point{}, leap*float64(max(p.Size().X, p.Size().Y))
	for i, q := range t.path {
		at := p.at(q[0], q[1])
		if i == 0 || math.Hypot(float64(at.X-before.X), float64(at.Y-before.Y)) > longest {
			lines = append(lines, nil)
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], at)
		before = at
	}
	color := fade(woodEdge, 0x70)
	if t.shape.Role == envs.RoleAgent {
		color = fade(agentColor(t.shape.Agent), 0x90)
	}
	p.StrokeLines(draw.LineStyle{Color: color, Width: p.thinnest * 0.45}, lines...)
}
