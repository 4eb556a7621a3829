// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"

	"cermic/envs"
)

// coverageCellsExist checks that every written cell of a projection can be visited.
func coverageCellsExist(t *testing.T, cfg envs.Config) {
	p := start(t, cfg, numEnvs, 1, 1)
	of, ok := p.env.(envs.Coverer)
	if !ok {
		t.Skip("the task declares no projection")
	}
	about := of.Coverage()
	if cells := about.Columns * about.Rows; about.About == "" || cells < 1 || about.Blocked != nil &&
		len(about.Blocked) != cells || about.Cells() < 1 {
		t.Fatalf("the projection is %+v, want About and at least one cell that is not blocked", about)
	}
	dst := make([]int32, numEnvs*p.spec.Agents)
	for range steps {
		of.Cover(dst)
		for row, cell := range dst {
			if cell < -1 || int(cell) >= about.Columns*about.Rows || cell >= 0 && about.Blocked != nil && about.Blocked[cell] {
				t.Fatalf("agent row %d is in impossible cell %d of %d × %d at step %d", row, cell, about.Columns, about.Rows, p.t)
			}
		}
		p.next()
	}
	if n := testing.AllocsPerRun(10, func() { of.Cover(dst) }); n != 0 {
		t.Errorf("Cover makes %g allocations, want 0", n)
	}
}
