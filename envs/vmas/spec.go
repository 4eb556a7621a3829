// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"
	"slices"

	"cermic/envs"
)

// WorldSpec is a task's declaration of physics, bodies and sizes. Start from DefaultWorld. Bodies are numbered in the
// order of Landmarks, then Agents.
type WorldSpec struct {
	Dt              float32 // seconds per step
	Substeps        int     // equal parts of a step's physics
	Drag            float32 // fraction of velocity lost per step, for bodies without a drag of their own
	LinearFriction  float32 // for bodies without one of their own
	AngularFriction float32 // for bodies without one of their own
	Gravity         Vec     // acceleration of every movable body
	XLimit, YLimit  float32 // positions stay within ±limit; 0: unbounded
	CollisionForce  float32 // stiffness of contacts
	JointForce      float32 // stiffness of joints
	TorqueForce     float32 // stiffness of joints that keep their rotation

	Landmarks []Body
	Agents    []Agent
	Joints    []Joint
	Ignore    [][2]int // pairs of bodies that never collide, besides those joined at distance 0

	Obs       int           // O: length of the longest agent observation; shorter ones are padded with zeros
	ObsNoise  float32       // bound of the uniform noise on each observed number, drawn at every observation
	Entities  []envs.Entity // named spans of an observation
	Groups    []envs.Group  // indexed by Agent.Team, if groups train separately; nil: one group
	Across    bool          // agents of all groups are peers: envs.Spec.PeersAcross
	Memory    []Slot        // numbers kept per environment between steps
	Kept      int           // numbers at the end of memory that a reset keeps
	HalfSize  float32       // unit of relative positions, in world units
	Cover     []int         // bodies whose positions coverage counts, such as a package; nil: each agent's own
	SparseMax int           // horizon of the sparse reward; 0: max_steps
	// SparseIsDense marks tasks with one reward only: the original is already sparse, or success is undefined. Both
	// streams are then equal and success gives no bonus.
	SparseIsDense bool
	// Solved is an agent's return in a successful episode of a task with SparseIsDense; 0: success is undefined.
	Solved float32
}

// DefaultWorld returns the simulator's own constants: 0.1 s per step, drag 0.25, no gravity, no limits.
func DefaultWorld() WorldSpec {
	return WorldSpec{
		Dt: 0.1, Substeps: 1, Drag: 0.25, CollisionForce: 100, JointForce: 130, TorqueForce: 1, HalfSize: 1,
	}
}

// Slot reserves Len numbers of an environment's memory under a name, in the order of WorldSpec.Memory. Tests match
// recorded internals and reward terms by name.
type Slot struct {
	Name string
	Len  int
}

// Body is a physical object. The zero value of an optional field means the world's value or no limit.
type Body struct {
	Name      string
	Shape     Shape
	Mass      float32
	Movable   bool // moved by forces
	Rotatable bool // turned by torques
	Collides  bool // collides with other bodies that have Collides

	Drag            *float32 // nil: the world's
	LinearFriction  *float32 // nil: the world's
	AngularFriction *float32 // nil: the world's
	Gravity         Vec      // added to the world's
	MaxSpeed        float32  // limit of the velocity's length; 0: none
	MaxVelocity     float32  // limit of each velocity component; 0: none
}

// Agent is a body that acts. Its control u is the action, clamped to ±Range and multiplied by Gain.
type Agent struct {
	Body
	Range      float32 // limit of each action component; policies act within the largest range of all agents
	Gain       float32 // newtons per unit of action, unless the task has a Control
	MaxForce   float32 // limit of the force's length; 0: none
	MaxForceXY float32 // limit of each component of the force; 0: none
	Scripted   bool    // driven by the task's Control, without observation, action or reward
	Team       int     // index in WorldSpec.Groups
	Lidar      Lidar
}

// addAgents appends n agents named agent_0, agent_1 and so on; change, if not nil, alters each.
func (s *WorldSpec) addAgents(n int, radius float32, change func(i int, a *Agent)) {
	for i := range n {
		a := DefaultAgent(fmt.Sprintf("agent_%d", i), radius)
		if change != nil {
			change(i, &a)
		}
		s.Agents = append(s.Agents, a)
	}
}

// DefaultAgent returns a movable, rotatable, colliding sphere of mass 1 with actions in ±1.
func DefaultAgent(name string, radius float32) Agent {
	return Agent{
		Body: Body{
			Name: name, Shape: Sphere(radius), Mass: 1, Movable: true, Rotatable: true, Collides: true,
		},
		Range: 1, Gain: 1,
	}
}

// Lidar is a fan of rays from an agent's centre that turns with the agent. The zero value is no sensor.
type Lidar struct {
	Angles []float32 // relative to the agent's rotation
	Range  float32   // reading of a ray that hits nothing
	Sees   []int     // bodies that stop rays
}

// Joint keeps a point of body A at distance Dist from a point of body B. Anchors are offsets from the bodies' centres
// in their own frames.
type Joint struct {
	A, B             int
	AnchorA, AnchorB Vec
	Dist             float32
	Rotate           bool    // the bodies may rotate against each other; else they keep FixedRotation
	FixedRotation    float32 // rotation of A minus that of B; a task may change it per environment by SetFixedRotation
}

// ShapeKind is a type of shape.
type ShapeKind uint8

// The types of shapes, in the order of contact forces (see pairKind).
const (
	SphereShape ShapeKind = iota
	LineShape
	BoxShape
)

// Shape is the geometry of a body. Length is along the body's x axis, Width along its y axis.
type Shape struct {
	Kind          ShapeKind
	Radius        float32
	Length, Width float32
	Hollow        bool // a box that pushes bodies inside it outwards
}

// Sphere returns a circle.
func Sphere(radius float32) Shape { return Shape{Kind: SphereShape, Radius: radius} }

// Line returns a segment without thickness.
func Line(length float32) Shape { return Shape{Kind: LineShape, Length: length} }

// Box returns a solid rectangle.
func Box(length, width float32) Shape { return Shape{Kind: BoxShape, Length: length, Width: width} }

// Bound returns the radius of the bounding circle.
func (s Shape) Bound() float32 {
	switch s.Kind {
	case SphereShape:
		return s.Radius
	case LineShape:
		return s.Length / 2
	}
	return sqrt(s.Length*s.Length/4 + s.Width*s.Width/4)
}

// Inertia returns the moment of inertia for a mass.
func (s Shape) Inertia(mass float32) float32 {
	switch s.Kind {
	case SphereShape:
		return mass * s.Radius * s.Radius / 2
	case LineShape:
		return mass * s.Length * s.Length / 12
	}
	return mass * (s.Length*s.Length + s.Width*s.Width) / 12
}

// Rays returns n evenly spaced angles from start to end; end itself is excluded for a full turn.
func Rays(n int, start, end float32) []float32 {
	gaps := n - 1
	if abs(end-start-2*math.Pi) < 1e-5 {
		gaps = n
	}
	angles := make([]float32, n)
	for i := range angles {
		angles[i] = start + (end-start)*float32(i)/float32(max(gaps, 1))
	}
	return angles
}

// validate returns an error for the first mistake in a task's declaration.
func (s *WorldSpec) validate(task string) error {
	bodies := len(s.Landmarks) + len(s.Agents)
	exists := func(b int) bool { return b >= 0 && b < bodies }
	switch {
	case s.Substeps < 1 || !(s.Dt > 0) || !(s.HalfSize > 0) || s.Obs < 1:
		return fmt.Errorf("%s: %d substeps, dt %g, half size %g and observations of %d numbers, want all above 0",
			task, s.Substeps, s.Dt, s.HalfSize, s.Obs)
	case slices.ContainsFunc(s.Cover, func(b int) bool { return !exists(b) }):
		return fmt.Errorf("%s: w.Cover is %v, want bodies 0 to less than %d", task, s.Cover, bodies)
	case slices.ContainsFunc(s.Joints, func(j Joint) bool { return !exists(j.A) || !exists(j.B) }):
		return fmt.Errorf("%s: w.Joints is %+v, want bodies 0 to less than %d", task, s.Joints, bodies)
	}
	for b := range bodies {
		if body := s.body(b); !(body.Mass > 0) || !(body.Shape.Bound() > 0) {
			return fmt.Errorf("%s: mass of %s is %g and its shape %+v, want both above 0",
				task, body.Name, body.Mass, body.Shape)
		}
	}
	return s.validateTeams(task)
}

// validateTeams checks that there are policy agents, that every team is a group, and that every group has an agent.
func (s *WorldSpec) validateTeams(task string) error {
	acting := 0
	members := make([]int, max(1, len(s.Groups)))
	for i := range s.Agents {
		a := &s.Agents[i]
		if a.Scripted {
			continue
		}
		if a.Team < 0 || a.Team >= len(members) {
			return fmt.Errorf("%s: agent %s has team %d, but there are %d groups", task, a.Name, a.Team, len(s.Groups))
		}
		members[a.Team]++
		acting++
	}
	if acting == 0 {
		return fmt.Errorf("%s: the world has no agent that is not scripted", task)
	}
	for k, g := range s.Groups {
		if members[k] == 0 || g.Obs < 1 || g.Obs > s.Obs {
			return fmt.Errorf("%s: group %s has %d agents and observes %d numbers, want at least 1 and 1 to %d",
				task, g.Name, members[k], g.Obs, s.Obs)
		}
	}
	return nil
}

// body returns body b: landmarks first, then agents.
func (s *WorldSpec) body(b int) *Body {
	if b < len(s.Landmarks) {
		return &s.Landmarks[b]
	}
	return &s.Agents[b-len(s.Landmarks)].Body
}

// Hinge joins bodies a and b by a rod that turns freely about both centres. The rod is a landmark of its own, made by
// Rod.
func (s *WorldSpec) Hinge(rod, a, b int) {
	half := s.body(rod).Shape.Length / 2
	s.Joints = append(s.Joints,
		Joint{A: rod, B: a, AnchorA: Vec{-half, 0}, Rotate: true},
		Joint{A: rod, B: b, AnchorA: Vec{half, 0}, Rotate: true})
}

// Rod returns the landmark for a rod: it moves and turns but collides with nothing.
func Rod(name string, length float32) Body {
	return Body{Name: name, Shape: Line(length), Mass: 1, Movable: true, Rotatable: true}
}

// PlaceRod places a rod from body a to body b of environment c, after both are placed.
func (w *World) PlaceRod(c, rod, a, b int) {
	from, to := w.Pos(c, a), w.Pos(c, b)
	way := to.Sub(from)
	w.Place(c, rod, from.Add(to).Mul(0.5))
	w.Rotate(c, rod, float32(math.Atan2(float64(way.Y), float64(way.X))))
}
