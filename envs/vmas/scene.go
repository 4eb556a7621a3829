// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"math"
	"slices"

	"cermic/envs"
)

// Scene describes environment c as a drawing of the world's half size, enlarged to contain all bodies.
func (e *env) Scene(c int) envs.Scene {
	w := e.world
	margin := 1.1 * float64(w.spec.HalfSize)
	scene := envs.Scene{MinX: -margin, MinY: -margin, MaxX: margin, MaxY: margin}
	for b := range w.landmarks {
		scene.Shapes = append(scene.Shapes, w.shape(c, b, w.role(b), -1))
	}
	if painter, ok := e.task.(Painter); ok {
		painter.Paint(w, c, &scene)
	}
	if e.noise.On() {
		scene.Shapes = slices.Insert(scene.Shapes, 0, e.noise.Shape()) // under everything else
	}
	for agent := range w.agents {
		i := slices.Index(e.policy, agent)
		if i < 0 { // a scripted agent is the target of the others
			scene.Shapes = append(scene.Shapes, w.shape(c, w.Agent(agent), envs.RoleTarget, -1))
			continue
		}
		scene.Shapes = append(scene.Shapes, w.shape(c, w.Agent(agent), envs.RoleAgent, i))
		scene.Shapes = append(scene.Shapes, w.raysOf(c, agent, i)...)
	}
	for _, b := range w.moving {
		grow(&scene, w.Pos(c, b), w.body[b].bound)
	}
	return scene
}

// grow enlarges the scene to contain a circle.
func grow(s *envs.Scene, centre Vec, radius float32) {
	x, y, r := float64(centre.X), float64(centre.Y), float64(radius)
	if isFinite(centre.X) && isFinite(centre.Y) {
		s.MinX, s.MinY = min(s.MinX, x-r), min(s.MinY, y-r)
		s.MaxX, s.MaxY = max(s.MaxX, x+r), max(s.MaxY, y+r)
	}
}

// role derives a landmark's role from its physics.
func (w *World) role(b int) envs.Role {
	for _, j := range w.spec.Joints {
		if k := &w.body[b]; j.Dist == 0 && (j.A == b || j.B == b) && k.shape.Kind != SphereShape {
			return envs.RoleJoint
		}
	}
	k := w.spec.body(b)
	switch {
	case k.Movable || k.Rotatable:
		return envs.RoleObject
	case k.Collides:
		return envs.RoleObstacle
	}
	return envs.RoleTarget
}

func (w *World) shape(c, b int, role envs.Role, agent int) envs.Shape {
	p, s := w.Pos(c, b), &w.body[b].shape
	return envs.Shape{
		Role: role, Agent: agent, X: float64(p.X), Y: float64(p.Y), Angle: float64(w.Rot(c, b)),
		Radius: float64(s.Radius), Width: float64(s.Length), Height: float64(s.Width), Hollow: s.Hollow,
	}
}

// link draws a line between agents whose centres are within a range; it changes the drawing only.
func (w *World) link(c int, within float32, scene *envs.Scene) {
	for i := range w.agents {
		for j := range i {
			from, to := w.Pos(c, w.Agent(i)), w.Pos(c, w.Agent(j))
			way := to.Sub(from)
			if d := way.Norm(); within > 0 && d > 0 && d <= within {
				middle := from.Add(to).Mul(0.5)
				scene.Shapes = append(scene.Shapes, envs.Shape{
					Role: envs.RoleJoint, Agent: -1, X: float64(middle.X), Y: float64(middle.Y),
					Angle: math.Atan2(float64(way.Y), float64(way.X)), Width: float64(d),
				})
			}
		}
	}
}

// raysOf draws the lidar rays of an agent up to their hits; i is its index among the policy agents.
func (w *World) raysOf(c, agent, i int) []envs.Shape {
	lengths := make([]float32, len(w.rays[agent]))
	w.Lidar(c, agent, lengths)
	var shapes []envs.Shape
	centre, turn := w.Pos(c, w.Agent(agent)), w.Rot(c, w.Agent(agent))
	for ray, length := range lengths {
		angle := w.spec.Agents[agent].Lidar.Angles[ray] + turn
		middle := centre.Add(headingOf(angle).Mul(length / 2))
		shapes = append(shapes, envs.Shape{
			Role: envs.RoleSensor, Agent: i, X: float64(middle.X), Y: float64(middle.Y), Angle: float64(angle),
			Width: float64(length),
		})
	}
	return shapes
}

var _ envs.Coverer = (*env)(nil)

// coverCells is the number of columns and rows of the grid that measures coverage.
const coverCells = 20

// Coverage describes a grid of 20 × 20 squares over the world's half size. It counts the squares visited by the
// bodies in WorldSpec.Cover or, if there are none, by each agent. Positions outside the grid do not count.
func (e *env) Coverage() envs.Projection {
	p := envs.Projection{About: "an agent's place", Columns: coverCells, Rows: coverCells}
	if bodies := e.world.spec.Cover; len(bodies) > 0 {
		p.About = "the place of the " + e.world.spec.body(bodies[0]).Name
	}
	return p
}

// Cover writes the square of every agent, or of the bodies in WorldSpec.Cover by turns.
func (e *env) Cover(dst []int32) {
	w, n := e.world, len(e.policy)
	for row := range e.spec.NumEnvs * n {
		body := w.Agent(e.policy[row%n])
		if k := len(w.spec.Cover); k > 0 {
			body = w.spec.Cover[row%n%k]
		}
		dst[row] = coverSquare(w.Pos(row/n, body), w.spec.HalfSize)
	}
}

// coverSquare is the index of the square that contains p, row by row from the upper left corner; -1 outside.
func coverSquare(p Vec, half float32) int32 {
	x, y := (p.X/half+1)*(coverCells/2), (1-p.Y/half)*(coverCells/2)
	if !(x >= 0 && x < coverCells && y >= 0 && y < coverCells) {
		return -1
	}
	return int32(y)*coverCells + int32(x)
}
