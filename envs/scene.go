// SPDX-License-Identifier: Apache-2.0

package envs

// Scener is implemented by environments that can be drawn. A Scene is plain data; another package draws it.
type Scener interface {
	// Scene describes the current state of environment c. It may allocate.
	Scene(c int) Scene
}

// Scene is a picture of one environment in world units: mosaics, then shapes in drawing order, inside a rectangle.
type Scene struct {
	MinX, MinY, MaxX, MaxY float64
	Shapes                 []Shape
	Mosaics                []Mosaic // of worlds made of cells
}

// Shape is a circle (Radius > 0), a rectangle (Height > 0) or a segment of length Width, centred at (X, Y) and
// rotated by Angle.
type Shape struct {
	Role          Role
	Agent         int // index of the agent for RoleAgent and RoleSensor, else -1
	X, Y, Angle   float64
	Radius        float64
	Width, Height float64 // rectangle: along and across Angle; segment: Width is its length
	Hollow        bool    // outline only
	Label         string
}

// Role is the meaning of a shape; each role has one style.
type Role string

// The roles of shapes.
const (
	RoleAgent    Role = "agent"
	RoleTarget   Role = "target"   // a goal, food, a Gaussian's centre
	RoleObject   Role = "object"   // an object that agents move
	RoleObstacle Role = "obstacle" // walls, floors, boxes
	RoleJoint    Role = "joint"
	RoleSensor   Role = "sensor" // a ray
	RoleNoise    Role = "noise"  // a region of replaced observations
)
