// SPDX-License-Identifier: Apache-2.0

// Package sc2 controls an installed StarCraft II. It starts a game or attaches to a running one, opens the
// benchmark's map, creates units, gives orders, advances loops and reads the observed units. It does not contain the
// benchmark's interface.
//
// From: oxwhirl/smacv2, smacv2/env/starcraft2/starcraft2.py, 577ab5a, and google-deepmind/pysc2 4.0.0 (as behaviour)
package sc2

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/proto"

	"cermic/envs/smac/sc2api"
)

// Game is a running game with the map open, for use by one goroutine at a time. After an error, only Discard may be
// called.
type Game struct {
	*conn
	proc    *process // nil if it was running already
	address string
	options *Options
	units   []*sc2api.Unit // of both players, as last observed

	FirstType uint32 // type number of the map's first unit type
	Ground    Ground // terrain of the map
}

// Ground is the terrain of a map, in cells of side 1 with the origin in the lower left corner.
type Ground struct {
	Width, Height         int
	PlayWidth, PlayHeight int     // size of the playable part
	Pathable              []bool  // [Height·Width], row-major in y
	Level                 []uint8 // [Height·Width] height of the terrain in 1/255
}

// The two players.
const (
	me    = 1
	enemy = 2
)

const (
	mapPath = "SMAC_Maps/32x32_flat.SC2Map"
	// mapTypes is the number of unit types that the map adds after the game's own.
	mapTypes = 9
)

// open prepares a connected game: it checks the version, opens the map, joins, and reads constant data.
func (g *Game) open() error {
	pong, err := g.call(&sc2api.Request{Request: &sc2api.Request_Ping{Ping: &sc2api.RequestPing{}}})
	if err != nil {
		return err
	}
	if err := g.checkVersion(pong.GetPing().GetGameVersion()); err != nil {
		return err
	}
	if err := g.create(); err != nil {
		return err
	}
	if err := g.join(); err != nil {
		return err
	}
	info, err := g.call(&sc2api.Request{Request: &sc2api.Request_GameInfo{GameInfo: &sc2api.RequestGameInfo{}}})
	if err != nil {
		return err
	}
	if g.Ground, err = groundOf(info.GetGameInfo().GetStartRaw()); err != nil {
		return err
	}
	if err := g.observe(); err != nil {
		return err
	}
	query := &sc2api.RequestData{UnitTypeId: proto.Bool(true)}
	data, err := g.call(&sc2api.Request{Request: &sc2api.Request_Data{Data: query}})
	if err != nil {
		return err
	}
	ids := map[uint32]bool{}
	for _, u := range data.GetData().GetUnits() {
		ids[u.GetUnitId()] = true
	}
	if len(ids) <= mapTypes {
		return fmt.Errorf("the game has %d unit types, too few for the map %s; check that the map is SMACv2's",
			len(ids), mapPath)
	}
	g.FirstType = uint32(len(ids) - mapTypes)
	return nil
}

// lastingError is an error that a retry would repeat.
type lastingError struct{ error }

func (g *Game) checkVersion(have string) error {
	want := g.options.Version
	if want == "" || have == want || len(have) > len(want) && have[:len(want)+1] == want+"." {
		return nil
	}
	return lastingError{fmt.Errorf("the StarCraft II at %s has version %s, want %s; "+
		"results of different versions do not compare; set task.sc2_version=%s to use it",
		g.address, have, want, short(have))}
}

// create opens the map. The computer player only provides the second side: at every level, the map's script gives its
// units orders.
func (g *Game) create() error {
	local := &sc2api.LocalMap{MapPath: proto.String(mapPath)}
	file := filepath.Join(g.options.Folder, "Maps", filepath.FromSlash(mapPath))
	data, err := os.ReadFile(file)
	switch {
	case err == nil:
		local.MapData = data
	case g.proc != nil || !errors.Is(err, os.ErrNotExist):
		return lastingError{fmt.Errorf("the map is missing: unpack SMACv2's maps so that %s exists: %w", file, err)}
	}
	computer := &sc2api.PlayerSetup{
		Type: sc2api.PlayerType_Computer.Enum(), Race: g.options.Race.Enum(),
		Difficulty: sc2api.Difficulty_VeryHard.Enum(),
	}
	resp, err := g.call(&sc2api.Request{Request: &sc2api.Request_CreateGame{CreateGame: &sc2api.RequestCreateGame{
		LocalMap:    local,
		PlayerSetup: []*sc2api.PlayerSetup{{Type: sc2api.PlayerType_Participant.Enum()}, computer},
		Realtime:    proto.Bool(false),
	}}})
	if err != nil {
		return err
	}
	if created := resp.GetCreateGame(); created.Error != nil {
		return fmt.Errorf("the game does not open the map %s: %v %s", mapPath, created.GetError(), created.GetErrorDetails())
	}
	return nil
}

func (g *Game) join() error {
	resp, err := g.call(&sc2api.Request{Request: &sc2api.Request_JoinGame{JoinGame: &sc2api.RequestJoinGame{
		Race:    g.options.Race.Enum(),
		Options: &sc2api.InterfaceOptions{Raw: proto.Bool(true), Score: proto.Bool(false)},
	}}})
	if err != nil {
		return err
	}
	if joined := resp.GetJoinGame(); joined.Error != nil {
		return fmt.Errorf("the game refuses to let the client join: %v %s", joined.GetError(), joined.GetErrorDetails())
	}
	return nil
}

// groundOf reads the terrain grids. A pathing grid has one bit per cell, set if walkable, in rows from the bottom.
// Old games have one byte per cell, 0 if walkable, in rows from the top, like heights in all games.
func groundOf(raw *sc2api.StartRaw) (Ground, error) {
	w, h, play := int(raw.GetMapSize().GetX()), int(raw.GetMapSize().GetY()), raw.GetPlayableArea()
	g := Ground{
		Width: w, Height: h, PlayWidth: int(play.GetP1().GetX() - play.GetP0().GetX()),
		PlayHeight: int(play.GetP1().GetY() - play.GetP0().GetY()),
	}
	path, level := raw.GetPathingGrid(), raw.GetTerrainHeight().GetData()
	bits := int(path.GetBitsPerPixel())
	if w < 1 || h < 1 || g.PlayWidth < 1 || g.PlayHeight < 1 {
		return g, fmt.Errorf("the game reports a map of %d × %d cells, %d × %d of them playable",
			w, h, g.PlayWidth, g.PlayHeight)
	}
	if bits != 1 && bits != 8 || len(path.GetData())*8 < w*h*bits || len(level) < w*h {
		return g, fmt.Errorf("the game's grids have %d bytes of %d bits and %d bytes, too few for %d × %d cells",
			len(path.GetData()), bits, len(level), w, h)
	}
	g.Pathable, g.Level = make([]bool, w*h), make([]uint8, w*h)
	for at := range w * h {
		above := (h-1-at/w)*w + at%w
		if g.Level[at] = level[above]; bits == 1 {
			g.Pathable[at] = path.GetData()[at/8]>>(7-at%8)&1 == 1
		} else {
			g.Pathable[at] = path.GetData()[above] == 0
		}
	}
	return g, nil
}
