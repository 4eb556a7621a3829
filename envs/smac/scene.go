// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"

	"cermic/envs"
)

// Scene draws the map of environment c: units with bars of life and shield, and the agents' ranges and targets. Dead
// agents are outlines; dead enemies are not drawn.
func (e *env) Scene(c int) envs.Scene {
	b := e.arenas[c].battle
	const margin = 1 // cells, so that units at the border are complete
	scene := envs.Scene{
		MinX: -margin, MinY: -margin, MaxX: float64(b.ground.Width) + margin, MaxY: float64(b.ground.Height) + margin,
	}
	if e.common.Noise.On() {
		scene.Shapes = append(scene.Shapes, e.common.Noise.Shape())
	}
	for i := range b.n {
		if u := &b.units[i]; u.Health > 0 {
			scene.Shapes = append(scene.Shapes, b.aims(i)...)
		}
	}
	for i := range b.units {
		scene.Shapes = append(scene.Shapes, b.figure(i)...)
	}
	return scene
}

// aims draws the range of agent i and a line to its target.
func (b *battle) aims(i int) []envs.Shape {
	u := &b.units[i]
	x, y := float64(u.X), float64(u.Y)
	shapes := []envs.Shape{{Role: envs.RoleSensor, Agent: i, X: x, Y: y, Radius: b.shoot[u.Type], Hollow: true}}
	target := int(b.last[i]) - b.attack
	if target < 0 || b.units[b.n+target].Health == 0 {
		return shapes
	}
	t := &b.units[b.n+target]
	dx, dy := float64(t.X)-x, float64(t.Y)-y
	return append(shapes, envs.Shape{
		Role: envs.RoleSensor, Agent: i, X: x + dx/2, Y: y + dy/2, Angle: math.Atan2(dy, dx), Width: math.Sqrt(dx*dx + dy*dy),
	})
}

// figure draws a unit's body and, while it lives, its bars of life and shield.
func (b *battle) figure(i int) []envs.Shape {
	u := &b.units[i]
	k := &kinds[u.Type]
	body := envs.Shape{
		Role: envs.RoleAgent, Agent: i, X: float64(u.X), Y: float64(u.Y), Radius: float64(k.radius), Hollow: u.Health == 0,
		Label: k.name[:1], // unique within a race
	}
	if i >= b.n {
		body.Role, body.Agent = envs.RoleTarget, -1
		if u.Health == 0 {
			return nil
		}
	}
	if u.Health == 0 {
		return []envs.Shape{body}
	}
	shapes := []envs.Shape{body}
	const gap = 0.3 // cells between body and bar, and between bars
	top := body.Y + body.Radius
	for _, bar := range []struct{ left, whole float32 }{{u.Health, u.HealthMax}, {u.Shield, u.ShieldMax}} {
		if top += gap; bar.left > 0 {
			width := 2 * body.Radius * float64(bar.left/bar.whole)
			shapes = append(shapes, envs.Shape{
				Role: envs.RoleJoint, Agent: -1, X: body.X - body.Radius + width/2, Y: top, Width: width,
			})
		}
	}
	return shapes
}
