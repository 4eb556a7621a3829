// SPDX-License-Identifier: Apache-2.0

package sc2

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"cermic/envs/smac/sc2api"
)

// Placement is a unit to create.
type Placement struct {
	Type  uint32
	Enemy bool
	X, Y  float32
}

// Verb is the kind of an order.
type Verb uint8

// The verbs; Nothing leaves the unit's current order unchanged.
const (
	Nothing Verb = iota
	Stop
	Move
	Attack
)

// Abilities lists the game's ability of each verb.
var Abilities = [...]int32{Stop: 4, Move: 16, Attack: 23}

// Order is an order to one unit.
type Order struct {
	Verb   Verb
	Tag    uint64  // the unit
	X, Y   float32 // goal of Move
	Target uint64  // of Attack
}

// Limits of waiting for the game.
const (
	spawnTries = 1000 // single loops until all units exist, as in SMACv2
	killTries  = 100  // pairs of loops until the old units are gone
	killLoops  = 2
)

// Deploy removes all units, creates the units of the list and waits until all exist. It returns them in the game's
// order.
func (g *Game) Deploy(list []Placement) ([]*sc2api.Unit, error) {
	if err := g.clear(); err != nil {
		return nil, err
	}
	mine := 0
	for _, side := range []bool{false, true} {
		var commands []*sc2api.DebugCommand
		for _, p := range list {
			if p.Enemy == side {
				commands = append(commands, create(p))
			}
		}
		if !side {
			mine = len(commands)
		}
		if err := g.debug(commands...); err != nil {
			return nil, err
		}
	}
	for range spawnTries {
		if err := g.step(1); err != nil {
			return nil, err
		}
		own, other := g.count()
		if own == mine && other == len(list)-mine {
			return g.units, nil
		}
	}
	own, other := g.count()
	return nil, fmt.Errorf("after %d loops the game has %d and %d units, want %d and %d",
		spawnTries, own, other, mine, len(list)-mine)
}

func create(p Placement) *sc2api.DebugCommand {
	owner := int32(me)
	if p.Enemy {
		owner = enemy
	}
	return &sc2api.DebugCommand{Command: &sc2api.DebugCommand_CreateUnit{CreateUnit: &sc2api.DebugCreateUnit{
		UnitType: &p.Type, Owner: &owner, Pos: &sc2api.Point2D{X: &p.X, Y: &p.Y}, Quantity: proto.Uint32(1),
	}}}
}

// clear removes all units.
func (g *Game) clear() error {
	for range killTries {
		if len(g.units) == 0 {
			return nil
		}
		kill := &sc2api.DebugKillUnit{}
		for _, u := range g.units {
			kill.Tag = append(kill.Tag, u.GetTag())
		}
		if err := g.debug(&sc2api.DebugCommand{Command: &sc2api.DebugCommand_KillUnit{KillUnit: kill}}); err != nil {
			return err
		}
		if err := g.step(killLoops); err != nil {
			return err
		}
	}
	return fmt.Errorf("the game still has %d units after removing them %d times", len(g.units), killTries)
}

// Play gives the orders, advances by loops and returns the living units.
func (g *Game) Play(orders []Order, loops uint32) ([]*sc2api.Unit, error) {
	actions := &sc2api.RequestAction{}
	for i := range orders {
		if orders[i].Verb != Nothing {
			actions.Actions = append(actions.Actions, orders[i].action())
		}
	}
	if len(actions.Actions) > 0 {
		if _, err := g.call(&sc2api.Request{Request: &sc2api.Request_Action{Action: actions}}); err != nil {
			return nil, err
		}
	}
	err := g.step(loops)
	return g.units, err
}

func (o *Order) action() *sc2api.Action {
	c := &sc2api.ActionRawUnitCommand{
		AbilityId: &Abilities[o.Verb], UnitTags: []uint64{o.Tag}, QueueCommand: proto.Bool(false),
	}
	switch o.Verb {
	case Attack:
		c.Target = &sc2api.ActionRawUnitCommand_TargetUnitTag{TargetUnitTag: o.Target}
	case Move:
		c.Target = &sc2api.ActionRawUnitCommand_TargetWorldSpacePos{TargetWorldSpacePos: &sc2api.Point2D{X: &o.X, Y: &o.Y}}
	}
	return &sc2api.Action{ActionRaw: &sc2api.ActionRaw{UnitCommand: c}}
}

func (g *Game) debug(commands ...*sc2api.DebugCommand) error {
	_, err := g.call(&sc2api.Request{Request: &sc2api.Request_Debug{Debug: &sc2api.RequestDebug{Debug: commands}}})
	return err
}

// step advances by loops and refreshes the list of units. The match must go on, because nothing on the map ends it.
func (g *Game) step(loops uint32) error {
	resp, err := g.call(&sc2api.Request{Request: &sc2api.Request_Step{Step: &sc2api.RequestStep{Count: &loops}}})
	if err != nil {
		return err
	}
	if resp.Status != nil && *resp.Status != sc2api.Status_in_game {
		return fmt.Errorf("the game's status is %v, want %v", *resp.Status, sc2api.Status_in_game)
	}
	return g.observe()
}

// observe refreshes the list of units, without neutral ones.
func (g *Game) observe() error {
	resp, err := g.call(&sc2api.Request{Request: &sc2api.Request_Observation{Observation: &sc2api.RequestObservation{}}})
	if err != nil {
		return err
	}
	g.units = g.units[:0]
	for _, u := range resp.GetObservation().GetObservation().GetRawData().GetUnits() {
		if u.GetOwner() == me || u.GetOwner() == enemy {
			g.units = append(g.units, u)
		}
	}
	return nil
}

func (g *Game) count() (own, other int) {
	for _, u := range g.units {
		if u.GetOwner() == me {
			own++
		} else {
			other++
		}
	}
	return own, other
}
