// SPDX-License-Identifier: Apache-2.0

package envs

// Coverer is implemented by environments that say in which cell of a declared, finite projection of their state each agent is. How
// many cells a run has visited is what its coverage counts; nothing that acts may read it.
type Coverer interface {
	// Coverage describes the projection.
	Coverage() Projection
	// Cover writes the cell of every agent as it was shown last, [E,N]: a number in [0, Columns·Rows), or -1 for none. It allocates
	// nothing.
	Cover(dst []int32)
}

// Projection maps states to the cells of a rectangle, numbered row by row, the uppermost first.
type Projection struct {
	About         string // what a cell is: "an agent's place"
	Columns, Rows int
	Blocked       []bool // [Rows·Columns] cells that no state maps to; nil: every cell can be reached
}

// Cells is the number of cells that can be visited.
func (p *Projection) Cells() int {
	n := p.Columns * p.Rows
	for _, b := range p.Blocked {
		if b {
			n--
		}
	}
	return n
}
