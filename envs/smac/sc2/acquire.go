// SPDX-License-Identifier: Apache-2.0

package sc2

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cermic/envs/smac/sc2api"
)

// Options say which game to play on, and how patient to be with it.
type Options struct {
	Folder    string   // where the game is installed
	Version   string   // "4.10"; "": any
	Race      Race     // of both players
	Addresses []string // "host:port" of games that run already; empty: start some

	Difficulty Difficulty // of the computer player, whose units the map leads; 0: very hard, as in SMACv2

	StartTimeout time.Duration // until a game that was started answers
	RetryEvery   time.Duration // between two attempts to connect
	ReplyTimeout time.Duration // for one answer
}

// Race is a player's race.
type Race = sc2api.Race

// Difficulty is how well a computer player plays.
type Difficulty = sc2api.Difficulty

// The races.
const (
	Protoss = sc2api.Race_Protoss
	Zerg    = sc2api.Race_Zerg
)

// Variables of the surroundings that say where the game is. They are no settings of an experiment: results do not depend on
// them.
const (
	FolderVariable  = "SC2PATH"            // where the game is installed, as in PySC2
	AddressVariable = "CERMIC_SC2_ADDRESS" // host:port of running games, with commas between them
)

// FromEnvironment returns the options that the surroundings give.
func FromEnvironment(version string, race Race) Options {
	o := Options{
		Folder: os.Getenv(FolderVariable), Version: version, Race: race,
		StartTimeout: 6 * time.Minute, RetryEvery: time.Second, ReplyTimeout: 2 * time.Minute,
	}
	if home, err := os.UserHomeDir(); o.Folder == "" && err == nil {
		o.Folder = filepath.Join(home, "StarCraftII")
	}
	for address := range strings.SplitSeq(os.Getenv(AddressVariable), ",") {
		if address = strings.TrimSpace(address); address != "" {
			o.Addresses = append(o.Addresses, address)
		}
	}
	return o
}

// games are the idle games of the program, by what they were opened for, the number of others, the addresses in use, and those whose last
// game failed.
// Starting a game takes long, so that those of an evaluation wait for the next one while training has its own.
var games = struct {
	sync.Mutex
	idle   map[string][]*Game
	busy   int
	leased map[string]bool
	failed map[string]bool
}{idle: map[string][]*Game{}, leased: map[string]bool{}, failed: map[string]bool{}}

// key tells what an idle game can be used for.
func (o *Options) key() string {
	return fmt.Sprintf("%s|%s|%v|%v|%q", o.Folder, o.Version, o.Race, o.Difficulty, o.Addresses)
}

// startTries is how often a game is started before giving up: one that loses its port to somebody, or that dies, is worth
// another.
const startTries = 3

// Acquire returns a game with the map open: an idle one, a running one that nobody uses, or a new one.
func Acquire(o Options) (*Game, error) {
	if g := takeIdle(o.key()); g != nil {
		return g, nil
	}
	get := launchSome
	if len(o.Addresses) > 0 {
		get = attach
	}
	g, err := get(&o)
	if err != nil {
		leave()
	}
	return g, err
}

// launchSome starts games until one works.
func launchSome(o *Options) (g *Game, err error) {
	for range startTries {
		var final bool
		if g, final, err = launchOne(o); err == nil || final {
			return g, err
		}
	}
	return nil, fmt.Errorf("%w (tried %d times)", err, startTries)
}

// takeIdle returns an idle game or nil, and counts one more that is busy.
func takeIdle(key string) *Game {
	games.Lock()
	defer games.Unlock()
	games.busy++
	idle := games.idle[key]
	if len(idle) == 0 {
		return nil
	}
	games.idle[key] = idle[:len(idle)-1]
	return idle[len(idle)-1]
}

// attach connects to a running game that nobody uses, if there is one that has not failed to such a one.
func attach(o *Options) (*Game, error) {
	for _, address := range o.Addresses {
		_, port, err := net.SplitHostPort(address)
		if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
			return nil, fmt.Errorf("%s names %q, want host:port, for example 127.0.0.1:5000", AddressVariable, address)
		}
	}
	games.Lock()
	free := slices.IndexFunc(o.Addresses, func(a string) bool { return !games.leased[a] && !games.failed[a] })
	if free < 0 {
		free = slices.IndexFunc(o.Addresses, func(a string) bool { return !games.leased[a] })
	}
	if free < 0 {
		games.Unlock()
		return nil, fmt.Errorf("all %d games of %s are in use; name one for each copy, and as many again for evaluation", len(o.Addresses), AddressVariable)
	}
	address := o.Addresses[free]
	games.leased[address] = true
	games.Unlock()
	g := &Game{address: address, options: o}
	var err error
	if g.conn, err = dial(o, address, func() error { return nil }); err == nil {
		if err = g.open(); err == nil {
			return g, nil
		}
	}
	g.fail()
	return nil, err
}

// launchOne starts a game and opens the map; final says that another attempt would end alike.
func launchOne(o *Options) (_ *Game, final bool, err error) {
	proc, address, err := start(o)
	if err != nil {
		return nil, true, err
	}
	g := &Game{proc: proc, address: address, options: o}
	if g.conn, err = dial(o, address, proc.ended); err == nil {
		if err = g.open(); err == nil {
			return g, false, nil
		}
	}
	g.fail()
	return nil, errors.As(err, new(lastingError)), err
}

// Release gives a game back that works.
func (g *Game) Release() {
	games.Lock()
	delete(games.failed, g.address)
	games.idle[g.options.key()] = append(games.idle[g.options.key()], g)
	games.Unlock()
	leave()
}

// Discard drops the connection and ends the game if this program started it.
func (g *Game) Discard() {
	g.fail()
	leave()
}

// fail ends a game that does not work. If it was running already, others are tried before its address is used again.
func (g *Game) fail() {
	g.end(0)
	if g.proc == nil {
		games.Lock()
		games.failed[g.address] = true
		games.Unlock()
	}
}

// leave counts one busy game less. Once nobody has one any more, the idle ones are ended.
func leave() {
	games.Lock()
	games.busy--
	last := games.busy == 0
	games.Unlock()
	if last {
		endIdle()
	}
}

// end drops the connection; a game that this program started has a moment to end by itself.
func (g *Game) end(moment time.Duration) {
	if g.proc != nil {
		g.proc.stop(moment)
	}
	if g.conn != nil {
		g.close()
	}
	games.Lock()
	defer games.Unlock()
	delete(games.leased, g.address)
}

// quitWithin is how long a game that was asked to quit may take.
const quitWithin = 5 * time.Second

// endIdle ends the idle games that this program started, and leaves the others to themselves.
func endIdle() {
	games.Lock()
	idle := games.idle
	games.idle = map[string][]*Game{}
	games.Unlock()
	for _, list := range idle {
		for _, g := range list {
			moment := time.Duration(0)
			if g.proc != nil {
				if _, err := g.call(&sc2api.Request{Request: &sc2api.Request_Quit{Quit: &sc2api.RequestQuit{}}}); err == nil {
					moment = quitWithin
				}
			}
			g.end(moment)
		}
	}
}
