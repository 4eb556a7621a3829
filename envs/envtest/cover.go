// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"

	"cermic/envs"
)

// coverageCellsExist: of a task that declares a projection, every cell that it writes is one that can be visited.
func coverageCellsExist(t *testing.T, cfg envs.Config) {
	p := build(t, cfg, copies, 1, 1)
	of, ok := p.env.(envs.Coverer)
	if !ok {
		t.Skip("it declares no projection")
	}
	about := of.Coverage()
	if cells := about.Columns * about.Rows; about.About == "" || cells < 1 || about.Blocked != nil && len(about.Blocked) != cells || about.Cells() < 1 {
		t.Fatalf("the projection is %+v, want what a cell is, at least one column and row, and at least one cell that is not blocked", about)
	}
	dst := make([]int32, copies*p.spec.Agents)
	p.reset()
	for range steps {
		of.Cover(dst)
		for row, cell := range dst {
			if cell < -1 || int(cell) >= about.Columns*about.Rows || cell >= 0 && about.Blocked != nil && about.Blocked[cell] {
				t.Fatalf("agent row %d is in cell %d of %d × %d at step %d, which cannot be", row, cell, about.Columns, about.Rows, p.t)
			}
		}
		p.next()
	}
	if n := testing.AllocsPerRun(10, func() { of.Cover(dst) }); n != 0 {
		t.Errorf("Cover makes %g allocations, want 0", n)
	}
}
