// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"

	"cermic/envs"
)

// Pass is the task explore/pass: two rooms with a switch each, and a door that is open while an agent stands on a
// switch. Both agents start in the first room and succeed when both are in the second. One agent holds the door open
// for the other, which then holds it open from the other side.
//
// From: the Pass task of Wang et al. 2020, Influence-Based Multi-Agent Exploration, on a smaller grid.
type Pass struct {
	envs.Common
	Size     int `json:"size" range:"5..30" help:"columns and rows of the grid, in cells"`
	MaxSteps int `json:"max_steps" range:"1..100000" help:"episode length, in steps"`
	TV       TV  `json:"tv" oneof:"off,screen,peer" help:"distraction; screen: random numbers to watch, peer: a random agent"`
}

// DefaultPass is a grid of 10 × 10 with 50 steps.
func DefaultPass() Pass { return Pass{Common: envs.DefaultCommon(), Size: 10, MaxSteps: 50, TV: Off} }

func init() { envs.Register(DefaultPass()) }

// Kind and WithShared implement envs.Config.
func (Pass) Kind() string                           { return "explore/pass" }
func (p Pass) WithShared(s envs.Common) envs.Config { p.Common = s; return p }

// Build makes the environment.
func (p Pass) Build(seed uint64, workers int) (envs.Env, error) {
	if err := validate(p); err != nil {
		return nil, err
	}
	// The wall is in the middle, with the door at its centre. The first room's switch is in the corner below the
	// agents' start, the second room's in the opposite corner above.
	n, wall := p.Size, p.Size/2
	g := newGrid(n, n, p.MaxSteps)
	g.carve(0, 0, 0, wall, n)
	g.carve(1, wall+1, 0, n-wall-1, n)
	g.addDoor(wall, n/2)
	g.pad[g.at(0, n-2)], g.pad[g.at(n-1, 1)] = 0, 1
	g.goalIn(1)
	g.screen = g.at(wall-1, 0)
	return g.build(p, p.TV, fmt.Sprintf("size=%d", n), seed, workers)
}
