// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"

	"cermic/envs/rng"
)

// World is the state of E environments of one WorldSpec, as a struct of environment-major arrays for sequential
// memory access. Index at(c, b) is body b of environment c. Tasks access it through the methods below.
type World struct {
	numEnvs, count, agents int // E, number of bodies, number of agents (including scripted ones)
	landmarks              int
	memory                 int // numbers of task memory per environment

	spec     WorldSpec
	body     []body  // constants of each body, [count]
	moving   []int   // bodies that can move or turn
	pairs    []pair  // that can collide, in the order in which their forces are summed
	rays     [][]Vec // [agents] directions of lidar rays, relative to the agent
	subDt    float32
	softness float32 // metres over which a contact force builds up

	pos, vel  []Vec     // [E,count]
	rot, spin []float32 // [E,count] radians, radians per second
	heading   []Vec     // [E,count] cosine and sine of rot, for oriented bodies only
	across    []Vec     // [E,count] cosine and sine of rot + π/2, the direction of a box's short sides, for boxes only
	force     []Vec     // [E,count] of the current substep
	torque    []float32 // [E,count]
	control   []Vec     // [E,agents] action times gain, after the task's Control
	push      []Vec     // [E,agents] control within the agent's force limits
	fixedRot  []float32 // [E,joints] rotation that stiff joints keep
	slots     []float32 // [E,memory]
	common    rng.Rand  // of the current reset: Common
}

// lineReach is the contact distance of lines and boxes, which have no radius.
// Source: specification of VMAS 1.5.2 (LINE_MIN_DIST); equal to its recordings (testdata/golden).
const lineReach = 4.0 / 600

// contactMargin is the length over which the force of a contact or joint builds up.
// Source: specification of VMAS 1.5.2 (contact_margin); equal to its recordings (testdata/golden).
const contactMargin = 1e-3

// body holds the constants of one body, with all defaults resolved.
type body struct {
	shape               Shape
	movable, rotatable  bool
	oriented            bool // its heading matters: a line, a box, or a joint away from its centre
	mass, inertia       float32
	bound               float32 // radius of the bounding circle
	halfLength          float32
	halfWidth           float32
	keep                float32 // fraction of velocity left by drag per step
	friction, spinGrip  float32 // coefficients; 0: none
	weight              Vec     // force of gravity
	maxSpeed, maxPerAxe float32 // 0: none
}

// newWorld makes the state of E environments. spec must be valid.
func newWorld(spec WorldSpec, numEnvs int) *World {
	n, a := len(spec.Landmarks)+len(spec.Agents), len(spec.Agents)
	w := &World{
		numEnvs: numEnvs, count: n, agents: a, landmarks: len(spec.Landmarks), spec: spec,
		subDt: spec.Dt / float32(spec.Substeps), softness: contactMargin,
		pos: make([]Vec, numEnvs*n), vel: make([]Vec, numEnvs*n), heading: make([]Vec, numEnvs*n),
		across: make([]Vec, numEnvs*n),
		rot:    make([]float32, numEnvs*n), spin: make([]float32, numEnvs*n),
		force: make([]Vec, numEnvs*n), torque: make([]float32, numEnvs*n),
		control: make([]Vec, numEnvs*a), push: make([]Vec, numEnvs*a),
		fixedRot: make([]float32, numEnvs*len(spec.Joints)),
	}
	for _, s := range spec.Memory {
		w.memory += s.Len
	}
	w.slots = make([]float32, numEnvs*w.memory)
	for b := range n {
		w.body = append(w.body, resolve(spec.body(b), &spec))
		if w.body[b].movable || w.body[b].rotatable {
			w.moving = append(w.moving, b)
		}
	}
	w.pairs = collisionPairs(&spec)
	for _, j := range spec.Joints {
		w.body[j.A].oriented = w.body[j.A].oriented || j.AnchorA != Vec{}
		w.body[j.B].oriented = w.body[j.B].oriented || j.AnchorB != Vec{}
	}
	for i := range spec.Agents {
		var rays []Vec
		for _, angle := range spec.Agents[i].Lidar.Angles {
			rays = append(rays, headingOf(angle))
		}
		w.rays = append(w.rays, rays)
	}
	for c := range numEnvs {
		w.clear(c)
	}
	return w
}

func resolve(b *Body, spec *WorldSpec) body {
	or := func(own *float32, world float32) float32 {
		if own != nil {
			return *own
		}
		return world
	}
	gravity := spec.Gravity.Add(b.Gravity)
	return body{
		shape: b.Shape, movable: b.Movable, rotatable: b.Rotatable, oriented: b.Shape.Kind != SphereShape,
		mass: b.Mass, inertia: b.Shape.Inertia(b.Mass), bound: b.Shape.Bound(),
		halfLength: b.Shape.Length / 2, halfWidth: b.Shape.Width / 2,
		keep:     1 - or(b.Drag, spec.Drag),
		friction: or(b.LinearFriction, spec.LinearFriction), spinGrip: or(b.AngularFriction, spec.AngularFriction),
		weight: gravity.Mul(b.Mass), maxSpeed: b.MaxSpeed, maxPerAxe: b.MaxVelocity,
	}
}

func (w *World) at(c, b int) int { return c*w.count + b }

// clear puts every body of environment c at rest at the origin and zeroes memory, except for WorldSpec.Kept.
func (w *World) clear(c int) {
	from, to := c*w.count, (c+1)*w.count
	clear(w.pos[from:to])
	clear(w.vel[from:to])
	clear(w.rot[from:to])
	clear(w.spin[from:to])
	clear(w.force[from:to])
	clear(w.torque[from:to])
	clear(w.control[c*w.agents : (c+1)*w.agents])
	clear(w.push[c*w.agents : (c+1)*w.agents])
	clear(w.slots[c*w.memory : (c+1)*w.memory-w.spec.Kept])
	for k, j := range w.spec.Joints {
		w.fixedRot[c*len(w.spec.Joints)+k] = j.FixedRotation
	}
	w.orient(c)
}

// orient recomputes the headings of environment c from its rotations.
func (w *World) orient(c int) {
	for b := range w.body {
		w.face(w.at(c, b), &w.body[b])
	}
}

// face recomputes the headings at index i, of body k.
func (w *World) face(i int, k *body) {
	if !k.oriented {
		return
	}
	w.heading[i] = headingOf(w.rot[i])
	if k.shape.Kind == BoxShape {
		// Not heading.Left(): the original rounds the sum of angles, and short contacts are sensitive to the
		// difference.
		w.across[i] = headingOf(w.rot[i] + math.Pi/2)
	}
}

// placed returns body b of environment c with its pose.
func (w *World) placed(c, b int) placed {
	i := w.at(c, b)
	return placed{&w.body[b], w.pos[i], w.heading[i], w.across[i]}
}

// Agent returns the body number of an agent.
func (w *World) Agent(agent int) int { return w.landmarks + agent }

// Pos returns the centre of body b in environment c.
func (w *World) Pos(c, b int) Vec { return w.pos[w.at(c, b)] }

// Positions returns the centres of all bodies in environment c, in order. The caller must not change them.
func (w *World) Positions(c int) []Vec { return w.pos[c*w.count : (c+1)*w.count] }

// Vel returns the velocity of body b in environment c.
func (w *World) Vel(c, b int) Vec { return w.vel[w.at(c, b)] }

// Rot returns the rotation of body b in environment c, in radians, not wrapped.
func (w *World) Rot(c, b int) float32 { return w.rot[w.at(c, b)] }

// Heading returns the cosine and sine of the rotation of body b in environment c, a line or a box.
func (w *World) Heading(c, b int) Vec { return w.heading[w.at(c, b)] }

// Spin returns the angular velocity of body b in environment c.
func (w *World) Spin(c, b int) float32 { return w.spin[w.at(c, b)] }

// Control returns an agent's control in the last step: its action times gain, after the task's Control.
func (w *World) Control(c, agent int) Vec { return w.control[c*w.agents+agent] }

// Place moves body b of environment c.
func (w *World) Place(c, b int, p Vec) { w.pos[w.at(c, b)] = p }

// Rotate sets the rotation of body b in environment c.
func (w *World) Rotate(c, b int, angle float32) {
	w.rot[w.at(c, b)] = angle
	w.face(w.at(c, b), &w.body[b])
}

// Memory returns the task's memory of environment c, in the order of WorldSpec.Memory. A reset zeroes it, except for
// the last WorldSpec.Kept numbers.
func (w *World) Memory(c int) []float32 { return w.slots[c*w.memory : (c+1)*w.memory] }

// Common returns the generator shared by the k-th reset of every environment, for values common to all environments.
// It may be used in Task.Reset only.
func (w *World) Common() *rng.Rand { return &w.common }

// SetFixedRotation sets the rotation that stiff joint k keeps in environment c, until the next reset.
func (w *World) SetFixedRotation(c, k int, angle float32) { w.fixedRot[c*len(w.spec.Joints)+k] = angle }

// Spawn is a body to place at random, with its centre at least Gap away from the centres placed before it.
type Spawn struct {
	Body int
	Gap  float32
}

// spawns lists n consecutive bodies, starting at first.
func spawns(first, n int, gap float32) []Spawn {
	list := make([]Spawn, n)
	for i := range list {
		list[i] = Spawn{first + i, gap}
	}
	return list
}

// Scatter places the bodies order[from:] of environment c one by one, uniformly in |x| ≤ half.X, |y| ≤ half.Y. It
// redraws positions that are too close to an earlier body and, if that fails repeatedly, starts again. It ends
// quickly if crowded returns no error.
func (w *World) Scatter(c int, r *rng.Rand, half Vec, order []Spawn, from int) {
	const tries = 1000
	for k, tried := from, 0; k < len(order); tried++ {
		p := Vec{r.Uniform(-half.X, half.X), r.Uniform(-half.Y, half.Y)}
		if w.isFree(c, p, order[k].Gap, order[:k]) {
			w.Place(c, order[k].Body, p)
			k, tried = k+1, 0
		} else if tried == tries {
			k, tried = from, 0
		}
	}
}

// isFree reports whether p is at least gap away from the centres of the given bodies.
func (w *World) isFree(c int, p Vec, gap float32, bodies []Spawn) bool {
	for _, other := range bodies {
		if square(w.Pos(c, other.Body).Sub(p)) < gap*gap {
			return false
		}
	}
	return true
}

// crowded returns an error if the bodies are too many to scatter quickly; it advises to decrease keys. Random
// sequential placement of discs jams at 0.547 of a plane (Feder 1980); the limit here is 0.4. In a narrow field it
// jams at 0.748 of the length (Rényi 1958); the limit is 0.5.
func crowded(keys string, half Vec, order []Spawn) error {
	for k, s := range order {
		gap, x, y := float64(s.Gap), float64(2*half.X+s.Gap), float64(2*half.Y+s.Gap) // discs may protrude by half a gap
		tight := float64(k+1)*math.Pi*gap*gap/4 > 0.4*x*y
		if narrow := float64(2 * min(half.X, half.Y)); narrow < gap {
			tight = float64(k+1)*gap > 0.5*max(x, y)
		}
		if tight {
			return fmt.Errorf("%d bodies do not fit into a field of %g by %g with centres %g apart; decrease %s",
				len(order), 2*half.X, 2*half.Y, s.Gap, keys)
		}
	}
	return nil
}

// spring is the force of a damped spring that pulls an agent to a target.
func (w *World) spring(c, agent int, target Vec, stiffness, damping float32) Vec {
	self := w.Agent(agent)
	return target.Sub(w.Pos(c, self)).Mul(stiffness).Sub(w.Vel(c, self).Mul(damping))
}

// numbers returns n consecutive body numbers, starting at first.
func numbers(first, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = first + i
	}
	return list
}
