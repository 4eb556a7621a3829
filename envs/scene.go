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

// Shape is a circle (Radius > 0), a rectangle (Height > 0) or a segment of length Width. It is centred at (X, Y) and
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

// CellPixels is the width and height of a cell in pixels.
const CellPixels = 8

// cellBytes is the length of one tile in Spec.Pixels.
const cellBytes = CellPixels * CellPixels * 3

// RGB renders cells [B,H,W], of any number of agents and environments, into dst [B,8H,8W,3]. Rollouts store cells
// because pixels take a hundred times the memory.
func (s *Spec) RGB(dst []uint8, cells []uint16) {
	paintCells(dst, s.Pixels, cells, s.Obs[1])
}

// paintCells renders rows of width cells, from the top, into dst. pixels [V,8,8,3] holds the tiles.
func paintCells(dst, pixels []uint8, cells []uint16, width int) {
	const across = CellPixels * 3
	for at := 0; at < len(cells); at += width {
		row := cells[at : at+width]
		for y := range CellPixels {
			line := dst[:width*across]
			dst = dst[len(line):]
			for k, cell := range row {
				from := int(cell)*cellBytes + y*across
				*(*[across]uint8)(line[k*across:]) = *(*[across]uint8)(pixels[from:])
			}
		}
	}
}

// Mosaic is a picture made of cells within a rectangle of a scene. It stores cells instead of pixels, because a film
// has thousands of scenes.
type Mosaic struct {
	MinX, MinY, MaxX, MaxY float64
	Columns                int
	Cells                  []uint16 // rows of Columns cells, from the top
	Pixels                 []uint8  // [V,8,8,3] as in Spec
}

// RGB renders the mosaic: [height,width,3].
func (m *Mosaic) RGB() (width, height int, rgb []uint8) {
	rgb = make([]uint8, len(m.Cells)*cellBytes)
	paintCells(rgb, m.Pixels, m.Cells, m.Columns)
	return m.Columns * CellPixels, len(m.Cells) / m.Columns * CellPixels, rgb
}
