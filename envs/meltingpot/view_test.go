// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"math"
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/rng"
)

// standAt places players: column, row, direction.
func standAt(e *env, places ...[3]int) {
	b := e.games[0].base()
	for i := range b.avatars {
		b.avatars[i].alive = i < len(places)
		if i < len(places) {
			b.avatars[i].cell, b.avatars[i].face = b.cell(places[i][0], places[i][1]), facing(places[i][2])
		}
	}
	b.stand()
}

// Labels give visibility and position, ahead and to the right, for a viewer in each direction.
func TestLabelsTurnWithTheViewer(t *testing.T) {
	for _, row := range []struct {
		viewer, other  [3]int
		seen           uint8
		forward, right float32
	}{
		{[3]int{11, 8, int(north)}, [3]int{12, 5, 0}, 1, 3, 1},
		{[3]int{11, 8, int(north)}, [3]int{13, 9, 0}, 1, -1, 2}, // the last row behind, the last column to the right
		{[3]int{11, 8, int(north)}, [3]int{14, 8, 0}, 0, 0, 3},
		{[3]int{11, 8, int(north)}, [3]int{11, 10, 0}, 0, -2, 0},
		{[3]int{11, 8, int(north)}, [3]int{11, 4, 0}, 0, 4, 0},
		{[3]int{11, 8, int(east)}, [3]int{14, 10, 0}, 1, 3, 2},
		{[3]int{11, 8, int(south)}, [3]int{12, 11, 0}, 1, 3, -1},
		{[3]int{11, 8, int(west)}, [3]int{8, 6, 0}, 1, 3, 2},
	} {
		e, out, _ := build(t, DefaultChicken(), 1, 1)
		standAt(e, row.viewer, row.other)
		e.writeObs(0, out)
		if out.Visible[1] != row.seen || out.RelPos[2] != row.forward/11 || out.RelPos[3] != row.right/11 {
			t.Errorf("viewer %v, other %v: visible %d at %v, want %d at (%g, %g)/11",
				row.viewer, row.other, out.Visible[1], out.RelPos[2:4],
				row.seen, row.forward, row.right)
		}
	}
}

// A player that is away neither sees nor is seen: its view is black and its labels are zero.
func TestWhoIsAwaySeesAndShowsNothing(t *testing.T) {
	for _, cfg := range allTasks(t) {
		e, out, _ := build(t, cfg, 1, 1)
		b := e.games[0].base()
		x, y := b.place(b.spawns[0])
		standAt(e, [3]int{x, y, 0})
		e.writeObs(0, out)
		cells, n := e.spec.CellLen(), e.spec.Agents
		if slices.Max(out.Cells[:cells]) == 0 || out.Alive[0] != 1 {
			t.Errorf("%s: players that are alive have a black view", cfg.Kind())
		}
		if slices.Max(out.Cells[cells:]) != 0 || slices.Max(out.Alive[1:]) != 0 || slices.Max(out.Visible) != 0 {
			t.Errorf("%s: players that are away are alive, seen, or have a view", cfg.Kind())
		}
		for k, v := range out.RelPos {
			if v != 0 {
				t.Errorf("%s: relative position %d of %d players, with one player alive, is %g", cfg.Kind(), k, n, v)
			}
		}
	}
}

// Labels agree with the pictures: removing the other player changes exactly the labelled cell of the view.
func TestLabelsNameTheCellThatShowsTheOther(t *testing.T) {
	for _, cfg := range allTasks(t) {
		e, out, _ := build(t, cfg, 1, 1)
		b, r := e.games[0].base(), rng.New(1, "places")
		v, seen := b.view, 0
		for range 300 {
			var places [2][3]int
			for i := range places {
				cell := b.spawns[r.IntN(len(b.spawns))]
				x, y := b.place(cell)
				places[i] = [3]int{x, y, r.IntN(4)}
			}
			if places[0] == places[1] || places[0][0] == places[1][0] && places[0][1] == places[1][1] {
				continue
			}
			standAt(e, places[0])
			e.writeObs(0, out)
			alone := slices.Clone(out.Cells[:e.spec.CellLen()])
			standAt(e, places[:]...)
			e.writeObs(0, out)
			var changed []int
			for k, cell := range out.Cells[:e.spec.CellLen()] {
				if cell != alone[k] {
					changed = append(changed, k)
				}
			}
			var want []int
			if out.Visible[1] == 1 {
				forward, right := int(math.Round(float64(11*out.RelPos[2]))), int(math.Round(float64(11*out.RelPos[3])))
				want = append(want, (v.forward-forward)*v.width()+v.left+right)
				seen++
			}
			if !slices.Equal(changed, want) {
				t.Fatalf("%s: players at %v: the view changes in cells %v, the label says %v", cfg.Kind(), places, changed, want)
			}
		}
		if seen < 3 {
			t.Errorf("%s: the other player was in view only %d times", cfg.Kind(), seen)
		}
	}
}

func TestScenesShowTheWorldBesideAView(t *testing.T) {
	for _, row := range []struct {
		cfg                 envs.Config
		width, height, view float64 // of the world; the side of the enlarged view
	}{{DefaultStagHunt(), 184, 120, 120}, {DefaultCleanUp(), 240, 168, 88}} {
		e, out, _ := build(t, row.cfg, 2, 1)
		scene := e.Scene(1)
		if len(scene.Mosaics) != 2 || scene.MinX != 0 || scene.MinY != 0 {
			t.Fatalf("%s: the scene has %d mosaics, want a world and a view", row.cfg.Kind(), len(scene.Mosaics))
		}
		world, view := scene.Mosaics[0], scene.Mosaics[1]
		if world.MaxX != row.width || world.MaxY != row.height || view.MaxX-view.MinX != row.view ||
			view.MaxY-view.MinY != row.view {
			t.Errorf("%s: the world is %g×%g, the view %g×%g, want %g×%g and %g×%g", row.cfg.Kind(), world.MaxX, world.MaxY,
				view.MaxX-view.MinX, view.MaxY-view.MinY, row.width, row.height, row.view, row.view)
		}
		if view.MinX <= world.MaxX || view.MaxX > scene.MaxX || view.MinY < 0 || view.MaxY > world.MaxY ||
			scene.MaxY <= world.MaxY {
			t.Errorf("%s: the scene's parts overlap or exceed the scene: %v", row.cfg.Kind(), scene)
		}
		if want := out.Cells[e.spec.CellLen()*e.spec.Agents:][:e.spec.CellLen()]; !slices.Equal(view.Cells, want) ||
			view.Columns != e.spec.Obs[1] {
			t.Errorf("%s: the view differs from the first player's observation", row.cfg.Kind())
		}
	}
}
