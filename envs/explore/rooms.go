// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"

	"cermic/envs"
)

// Rooms is the task explore/rooms: a chain of square rooms. The door to the next room opens permanently when the two
// agents hold both switches of the room before it at once. They succeed when both are in the last room.
type Rooms struct {
	envs.Common
	Rooms    int `json:"rooms" range:"2..16" help:"number of rooms in a chain"`
	Size     int `json:"size" range:"3..16" help:"columns and rows of a room, in cells"`
	MaxSteps int `json:"max_steps" range:"1..100000" help:"episode length, in steps"`
	TV       TV  `json:"tv" oneof:"off,screen,peer" help:"distraction; screen: random numbers to watch, peer: a random agent"`
}

// DefaultRooms is a chain of three rooms of 4 × 4 with 50 steps.
func DefaultRooms() Rooms {
	return Rooms{Common: envs.DefaultCommon(), Rooms: 3, Size: 4, MaxSteps: 50, TV: Off}
}

func init() { envs.Register(DefaultRooms()) }

// Kind and WithShared implement envs.Config.
func (Rooms) Kind() string                           { return "explore/rooms" }
func (r Rooms) WithShared(s envs.Common) envs.Config { r.Common = s; return r }

// Build makes the environment.
func (r Rooms) Build(seed uint64, workers int) (envs.Env, error) {
	if err := validate(r); err != nil {
		return nil, err
	}
	n := r.Size
	g := newGrid(r.Rooms*(n+1)-1, n, r.MaxSteps)
	g.latched = true
	for k := range r.Rooms {
		x := k * (n + 1)
		g.carve(k, x, 0, n, n)
		if k == r.Rooms-1 {
			break
		}
		g.addDoor(x+n, n/2)
		// Two corners of the room, one above and one below.
		g.pad[g.at(x+n-1, 0)], g.pad[g.at(x, n-1)] = int8(k), int8(k)
	}
	g.goalIn(int8(r.Rooms - 1))
	g.screen = g.at(n-1, n-1)
	return g.build(r, r.TV, fmt.Sprintf("rooms=%d and size=%d", r.Rooms, n), seed, workers)
}
