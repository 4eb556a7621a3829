// SPDX-License-Identifier: Apache-2.0

package envs

// Coverer is implemented by environments that map each agent to a cell of a finite projection of the state. The
// coverage of a run is its number of visited cells. It is a diagnostic: no policy may read it.
type Coverer interface {
	// Coverage describes the projection.
	Coverage() Projection
	// Cover writes the cell of every agent in the last observed state, [E,N]: a number in [0, Columns·Rows), or -1 for
	// none. It does not allocate.
	Cover(dst []int32)
}

// Projection maps states to the cells of a rectangle, numbered row by row from the top.
type Projection struct {
	About         string // meaning of a cell: "an agent's place"
	Columns, Rows int
	Blocked       []bool // [Rows·Columns] unreachable cells; nil: none
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
