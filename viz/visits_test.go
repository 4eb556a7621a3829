// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/envs"
)

// twoRooms are visits to two rooms of 3 × 3 beside each other, the second one rarely.
func twoRooms() *results.Visits {
	v := &results.Visits{Frames: 3000, Projection: envs.Projection{About: "an agent's cell", Columns: 7, Rows: 3, Blocked: make([]bool, 21)}}
	v.Scene = envs.Scene{MaxX: 7, MaxY: 3, Shapes: []envs.Shape{
		{Role: envs.RoleObject, Agent: -1, X: 3.5, Y: 1.5, Width: 0.9, Height: 0.9}, {Role: envs.RoleJoint, Agent: -1, X: 2.5, Y: 2.5, Width: 0.7, Height: 0.7},
		{Role: envs.RoleTarget, Agent: -1, X: 6.5, Y: 0.5, Width: 1, Height: 1}, {Role: envs.RoleAgent, X: 0.5, Y: 0.5, Radius: 0.35},
	}}
	v.Counts, v.Recent, v.Bonus = make([]uint64, 21), make([]uint64, 21), make([]float64, 21)
	for cell := range v.Counts {
		x := cell % 7
		v.Projection.Blocked[cell] = x == 3 && cell/7 != 1
		switch {
		case x < 3:
			v.Counts[cell], v.Recent[cell], v.Bonus[cell] = uint64(1000>>cell), uint64(3-x), 0.01
		case x == 4:
			v.Counts[cell], v.Recent[cell], v.Bonus[cell] = 2, 1, 0.05
		}
	}
	return v
}

func TestMapsOfVisitsLookAsBefore(t *testing.T) {
	looksAsBefore(t, "visits")(Visits(twoRooms()))
}

// A run that has not begun, a projection that is no place in the world, and a bonus that is the same everywhere can be
// drawn, too.
func TestMapsOfVisitsThatSayLittle(t *testing.T) {
	none, lock, even := twoRooms(), twoRooms(), twoRooms()
	clear(none.Counts)
	clear(none.Recent)
	lock.Scene.MaxX, lock.Projection.Blocked = 3, nil
	clear(even.Bonus)
	for name, v := range map[string]*results.Visits{"none": none, "lock": lock, "even": even} {
		p, err := Visits(v)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if p.Image().Bounds().Empty() {
			t.Errorf("%s is empty", name)
		}
	}
	short := twoRooms()
	short.Bonus = nil
	if _, err := Visits(short); err == nil || !strings.Contains(err.Error(), "visits to 21, 21 and 0 cells, want 7 × 3") {
		t.Errorf("visits without a bonus: %v", err)
	}
}
