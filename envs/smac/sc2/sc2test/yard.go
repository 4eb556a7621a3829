// SPDX-License-Identifier: Apache-2.0

package sc2test

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"cermic/envs/smac/sc2api"
)

// Yard is a simple Game: an empty map on which units appear and disappear at the next step, as in the real game. Live
// defines their behaviour.
type Yard struct {
	Version string // of the game
	Types   int    // unit types in the game's data, including the map's nine
	Side    int    // of the map, in cells
	Bits    int    // per cell of the pathing grid: 1 or 8
	Blocked func(x, y int) bool
	Height  func(x, y int) uint8
	Delay   uint32 // loops until created units exist

	// Live advances by loops, given the created units and the orders, and returns all living units. If nil, units stay
	// where they were created.
	Live func(created []*sc2api.DebugCreateUnit, orders []*sc2api.ActionRawUnitCommand, loops uint32) []*sc2api.Unit

	Races   []sc2api.Race // of the opened games
	created []*sc2api.DebugCreateUnit
	age     uint32 // loops since the units were created
	orders  []*sc2api.ActionRawUnitCommand
	units   []*sc2api.Unit
	loop    uint32
	tag     uint64
	playing bool
}

// NewYard returns a flat map of side 32 in a game of version 4.10, with the recordings' number of unit types.
func NewYard() *Yard { return &Yard{Version: "4.10.0", Types: 1970, Side: 32, Bits: 1} }

// Answer executes a request.
func (y *Yard) Answer(req *sc2api.Request) ([]byte, error) {
	resp := &sc2api.Response{Status: sc2api.Status_in_game.Enum()}
	if early := req.GetPing() == nil && req.GetCreateGame() == nil && req.GetQuit() == nil; early && !y.playing {
		return nil, errors.New("no game has been created")
	}
	switch r := req.Request.(type) {
	case *sc2api.Request_Ping:
		resp.Response = &sc2api.Response_Ping{Ping: &sc2api.ResponsePing{GameVersion: &y.Version}}
	case *sc2api.Request_CreateGame:
		y.open(r.CreateGame)
		resp.Response = &sc2api.Response_CreateGame{CreateGame: &sc2api.ResponseCreateGame{}}
	case *sc2api.Request_JoinGame:
		resp.Response = &sc2api.Response_JoinGame{JoinGame: &sc2api.ResponseJoinGame{PlayerId: proto.Uint32(1)}}
	case *sc2api.Request_GameInfo:
		resp.Response = &sc2api.Response_GameInfo{GameInfo: &sc2api.ResponseGameInfo{StartRaw: y.ground()}}
	case *sc2api.Request_Data:
		resp.Response = &sc2api.Response_Data{Data: y.data()}
	case *sc2api.Request_Observation:
		seen := &sc2api.Observation{GameLoop: &y.loop, RawData: &sc2api.ObservationRaw{Units: y.units}}
		resp.Response = &sc2api.Response_Observation{Observation: &sc2api.ResponseObservation{Observation: seen}}
	case *sc2api.Request_Action:
		for _, a := range r.Action.GetActions() {
			y.orders = append(y.orders, a.GetActionRaw().GetUnitCommand())
		}
		resp.Response = &sc2api.Response_Action{Action: &sc2api.ResponseAction{}}
	case *sc2api.Request_Debug:
		y.change(r.Debug)
		resp.Response = &sc2api.Response_Debug{Debug: &sc2api.ResponseDebug{}}
	case *sc2api.Request_Step:
		y.step(r.Step.GetCount())
		resp.Response = &sc2api.Response_Step{Step: &sc2api.ResponseStep{SimulationLoop: &y.loop}}
	case *sc2api.Request_Quit:
		resp.Status = sc2api.Status_quit.Enum()
		resp.Response = &sc2api.Response_Quit{Quit: &sc2api.ResponseQuit{}}
	default:
		return nil, fmt.Errorf("an unknown kind of request")
	}
	return proto.Marshal(resp)
}

func (y *Yard) open(r *sc2api.RequestCreateGame) {
	y.playing, y.units, y.created, y.loop = true, nil, nil, 0
	for _, p := range r.GetPlayerSetup() {
		if p.GetType() == sc2api.PlayerType_Computer {
			y.Races = append(y.Races, p.GetRace())
		}
	}
}

// change records the units to create at the next step and removes units.
func (y *Yard) change(r *sc2api.RequestDebug) {
	for _, d := range r.GetDebug() {
		if c := d.GetCreateUnit(); c != nil {
			y.created, y.age = append(y.created, c), 0
		}
		kill := d.GetKillUnit().GetTag()
		y.units = slices.DeleteFunc(y.units, func(u *sc2api.Unit) bool { return slices.Contains(kill, u.GetTag()) })
	}
}

func (y *Yard) step(loops uint32) {
	y.loop += loops
	y.age += loops
	var born []*sc2api.DebugCreateUnit
	if y.age > y.Delay {
		born, y.created = y.created, nil
	}
	if y.Live != nil {
		y.units = y.Live(born, y.orders, loops)
	} else {
		for _, c := range born {
			y.tag++
			y.units = append(y.units, &sc2api.Unit{
				Tag: proto.Uint64(y.tag), UnitType: c.UnitType, Owner: c.Owner, Health: proto.Float32(45),
				HealthMax: proto.Float32(45),
				Pos:       &sc2api.Point{X: c.GetPos().X, Y: c.GetPos().Y},
			})
		}
	}
	y.orders = nil
}

func (y *Yard) data() *sc2api.ResponseData {
	d := &sc2api.ResponseData{}
	for id := range y.Types {
		d.Units = append(d.Units, &sc2api.UnitTypeData{UnitId: proto.Uint32(uint32(id))})
	}
	return d
}

// ground is the map in the answer to game_info.
func (y *Yard) ground() *sc2api.StartRaw {
	side := int32(y.Side)
	path, level := make([]byte, (y.Side*y.Side*y.Bits+7)/8), make([]byte, y.Side*y.Side)
	for at := range y.Side * y.Side {
		cellX, cellY := at%y.Side, at/y.Side
		above := (y.Side-1-cellY)*y.Side + cellX
		free := y.Blocked == nil || !y.Blocked(cellX, cellY)
		switch {
		case y.Bits == 8 && !free:
			path[above] = 255
		case y.Bits == 1 && free:
			path[at/8] |= 1 << (7 - at%8)
		}
		if y.Height != nil {
			level[above] = y.Height(cellX, cellY)
		}
	}
	size := &sc2api.Size2DI{X: &side, Y: &side}
	return &sc2api.StartRaw{
		MapSize: size, PathingGrid: &sc2api.ImageData{BitsPerPixel: proto.Int32(int32(y.Bits)), Size: size, Data: path},
		TerrainHeight: &sc2api.ImageData{BitsPerPixel: proto.Int32(8), Size: size, Data: level},
		PlayableArea: &sc2api.RectangleI{
			P0: &sc2api.PointI{X: proto.Int32(0), Y: proto.Int32(0)}, P1: &sc2api.PointI{X: &side, Y: &side},
		},
	}
}
