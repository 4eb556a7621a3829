// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"

	"cermic/envs"
)

// Secret is the task explore/secret: a large room beside several small ones, one of which is the secret room. All
// doors are open while an agent stands on the switch of the large or of the secret room. The agents start in the
// large room and succeed when both are in the secret one, which they do not observe.
//
// From: the Secret Room task of Wang et al. 2020, Influence-Based Multi-Agent Exploration, on a smaller grid.
type Secret struct {
	envs.Common
	Rooms    int `json:"rooms" range:"2..8" help:"number of small rooms"`
	Secret   int `json:"secret" range:"0..7" help:"index of the room with the treasure; 0: the top room"`
	Size     int `json:"size" range:"2..8" help:"rows of a small room, in cells; the grid is square"`
	MaxSteps int `json:"max_steps" range:"1..100000" help:"episode length, in steps"`
	TV       TV  `json:"tv" oneof:"off,screen,peer" help:"distraction; screen: random numbers to watch, peer: a random agent"`
}

// DefaultSecret has three small rooms of three rows; the lowest is the secret one.
func DefaultSecret() Secret {
	return Secret{Common: envs.DefaultCommon(), Rooms: 3, Secret: 2, Size: 3, MaxSteps: 60, TV: Off}
}

func init() { envs.Register(DefaultSecret()) }

// Kind and WithShared implement envs.Config.
func (Secret) Kind() string                           { return "explore/secret" }
func (c Secret) WithShared(s envs.Common) envs.Config { c.Common = s; return c }

// Build makes the environment.
func (c Secret) Build(seed uint64, workers int) (envs.Env, error) {
	if err := validate(c); err != nil {
		return nil, err
	}
	if c.Secret >= c.Rooms {
		return nil, fmt.Errorf("%s: secret is %d, want less than rooms, %d", c.Kind(), c.Secret, c.Rooms)
	}
	n := c.Rooms*(c.Size+1) - 1
	wall := n / 2
	g := newGrid(n, n, c.MaxSteps)
	g.carve(0, 0, 0, wall, n)
	for k := range c.Rooms {
		y := k * (c.Size + 1)
		g.carve(1+k, wall+1, y, n-wall-1, c.Size)
		g.addDoor(wall, y+c.Size/2)
	}
	g.pad[g.at(0, n-1)] = 0
	g.pad[g.at(n-1, c.Secret*(c.Size+1))] = int8(1 + c.Secret)
	g.goalIn(int8(1 + c.Secret))
	g.screen = g.at(wall-1, 0)
	size := fmt.Sprintf("rooms=%d, secret=%d and size=%d", c.Rooms, c.Secret, c.Size)
	return g.build(c, c.TV, size, seed, workers)
}
