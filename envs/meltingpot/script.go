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
	RoleSets() []RoleSet
}

// RoleSet is a named combination of roles, one per player.
type RoleSet struct {
	Name  string
	Roles []Role
}

var _ Roles = (*env)(nil)

// Script fills act with the actions of cooperating players.
func (e *env) Script(act *envs.Actions) bool {
	e.ScriptRoles(e.RoleSets()[0].Roles, act)
	return true
}

// RoleSets returns all cooperators, one cooperator and one defector, and all defectors. For clean_up it returns
// Script's three cleaners and four eaters, eaters alone, and cleaners alone.
func (e *env) RoleSets() []RoleSet {
	if e.spec.Agents == 2 {
		return []RoleSet{
			{"2 cooperate", []Role{RoleCooperate, RoleCooperate}},
			{"cooperate + defect", []Role{RoleCooperate, RoleDefect}},
			{"2 defect", []Role{RoleDefect, RoleDefect}},
		}
	}
	eat := slices.Repeat([]Role{RoleEat}, 7)
	clean := slices.Repeat([]Role{RoleClean}, 7)
	return []RoleSet{{"3 clean + 4 eat", append(clean[:3:3], eat[:4]...)}, {"7 eat", eat}, {"7 clean", clean}}
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
	resource := func(cell int32) bool { return m.siteAt[cell] >= 0 && m.sites[m.siteAt[cell]].state == present }
	goal := func(cell int32) bool { return resource(cell) && m.class[m.siteAt[cell]] == class }
	ready := m.purses[i].inventory[class] > enough
	if ready {
		goal = func(cell int32) bool { return int(m.who[cell]) == 1-i }
		if m.purses[1-i].collected && m.aims(i, goal, resource) {
			return actFire
		}
	}
	unwanted := func(cell int32) bool { return resource(cell) && m.class[m.siteAt[cell]] != class }
	way, ok := m.route(i, unwanted, goal)
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
		if x.aims(i, dirty, x.nowhere) {
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

// aims reports whether a beam of player i would reach a target.
func (b *board) aims(i int, target, blocks func(cell int32) bool) (hit bool) {
	b.trace(i, func(cell int32) bool {
		hit = hit || target(cell)
		return hit || blocks(cell)
	})
	return hit
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
