// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"slices"

	"cermic/envs"
)

// Role is a scripted policy of one player. It uses the whole map, which no learner observes.
type Role string

// The roles: the first two are for matrix games, the others for clean_up.
const (
	RoleCooperate Role = "cooperate" // collects class 1, then interacts
	RoleDefect    Role = "defect"    // collects class 2, then interacts
	RoleClean     Role = "clean"     // cleans the river, and eats while it is clean
	RoleEat       Role = "eat"       // eats
)

// Roles is implemented by this package's environments, for scripted players with different roles.
type Roles interface {
	// ScriptRoles fills act with the scripted actions of one role per player, out of a set of RoleSets.
	ScriptRoles(roles []Role, act *envs.Actions)
	// RoleSets returns combinations of roles whose returns characterise the game; the first one is Script's.
	RoleSets() [][]Role
}

var _ Roles = (*env)(nil)

// cleaners is the number of cleaners among Script's players of clean_up.
const cleaners = 3

// Script fills act with the actions of cooperating players.
func (e *env) Script(act *envs.Actions) bool {
	e.ScriptRoles(e.RoleSets()[0], act)
	return true
}

// RoleSets returns all cooperators, one cooperator and one defector, and all defectors. For clean_up it returns
// Script's three cleaners and four eaters, eaters alone, and cleaners alone.
func (e *env) RoleSets() [][]Role {
	n := e.spec.Agents
	all := func(r Role, n int) []Role { return slices.Repeat([]Role{r}, n) }
	if n == 2 {
		return [][]Role{all(RoleCooperate, n), {RoleCooperate, RoleDefect}, all(RoleDefect, n)}
	}
	return [][]Role{append(all(RoleClean, cleaners), all(RoleEat, n-cleaners)...), all(RoleEat, n), all(RoleClean, n)}
}

// ScriptRoles fills act with the scripted actions of these roles.
func (e *env) ScriptRoles(roles []Role, act *envs.Actions) {
	for c, g := range e.games {
		for i, role := range roles {
			act.Discrete[c*len(roles)+i] = actNoop
			if g.base().avatars[i].alive {
				act.Discrete[c*len(roles)+i] = g.script(i, role)
			}
		}
	}
}

// enough is the number of resources that a scripted player collects before it interacts.
const enough = 4

// script collects resources of one class, then looks for the other player and interacts.
func (m *matrix) script(i int, role Role) int32 {
	class := uint8(0)
	if role == RoleDefect {
		class = 1
	}
	other := 1 - i
	resource := func(class uint8) func(int32) bool {
		return func(cell int32) bool {
			s := m.siteAt[cell]
			return s >= 0 && m.sites[s].state == present && m.class[s] == class
		}
	}
	ready := m.purses[i].inventory[class] > enough
	if ready && m.purses[other].collected && m.aims(i, func(cell int32) (hit, blocked bool) {
		return int(m.who[cell]) == other, m.siteAt[cell] >= 0 && m.sites[m.siteAt[cell]].state == present
	}) {
		return actFire
	}
	goal := resource(class)
	if ready {
		goal = func(cell int32) bool { return int(m.who[cell]) == other }
	}
	way, ok := m.route(i, resource(1-class), goal)
	if !ok {
		way, ok = m.route(i, m.nowhere, goal)
	}
	switch {
	case !ok:
		return actNoop
	case ready:
		return m.avatars[i].face.turnTo(way)
	}
	return m.avatars[i].face.walkTo(way)
}

// script cleans all dirt within reach, or walks to the next dirty cell or apple.
func (x *cleanUp) script(i int, role Role) int32 {
	full := func(water bool) func(int32) bool {
		return func(cell int32) bool {
			s := x.siteAt[cell]
			return s >= 0 && x.sites[s].state == siteFull && x.river.isWater(int(s)) == water
		}
	}
	if role == RoleClean {
		dirty := full(true)
		if x.aims(i, func(cell int32) (hit, blocked bool) { return dirty(cell), false }) {
			return actClean
		}
		if way, ok := x.route(i, x.nowhere, dirty); ok {
			return x.avatars[i].face.turnTo(way)
		}
	}
	if way, ok := x.route(i, x.nowhere, full(false)); ok {
		return x.avatars[i].face.walkTo(way)
	}
	return actNoop
}

func (b *board) nowhere(int32) bool { return false }

// aims reports whether a beam of player i would hit; look returns the effect of a cell on the beam.
func (b *board) aims(i int, look func(cell int32) (hit, blocked bool)) bool {
	for _, column := range b.columns(i) {
		for k := range int32(beamLength) {
			cell := column + k*b.ahead[b.avatars[i].face]
			if b.wall[cell] {
				break
			}
			hit, blocked := look(cell)
			if hit {
				return true
			}
			if blocked {
				break
			}
		}
	}
	return false
}

// route returns the direction of the first step on player i's shortest path to a goal. The path avoids other players
// and the given cells. ok is false if there is none.
func (b *board) route(i int, avoid, goal func(cell int32) bool) (way facing, ok bool) {
	first := make([]uint8, len(b.wall)) // direction of the first step to a cell, plus 1; 0 if not visited
	start := b.avatars[i].cell
	fringe := append(make([]int32, 0, 256), start)
	first[start] = 1
	for len(fringe) > 0 {
		from := fringe[0]
		fringe = fringe[1:]
		for way := range facing(4) {
			to := from + b.ahead[way]
			if b.wall[to] || first[to] != 0 {
				continue
			}
			first[to] = first[from]
			if from == start {
				first[to] = uint8(way) + 1
			}
			if goal(to) {
				return facing(first[to] - 1), true
			}
			if b.who[to] < 0 && !avoid(to) {
				fringe = append(fringe, to)
			}
		}
	}
	return north, false
}

// walkTo is the action that moves a player that faces f by one cell in a direction.
func (f facing) walkTo(way facing) int32 {
	return [4]int32{actForward, actRight, actBackward, actLeft}[way.turned(-int(f))]
}

// turnTo is the action that turns a player from f towards a direction, and walks if it already faces it.
func (f facing) turnTo(way facing) int32 {
	return [4]int32{actForward, actTurnRight, actTurnRight, actTurnLeft}[way.turned(-int(f))]
}
