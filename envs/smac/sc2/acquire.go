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

// Options select a game and its timeouts.
type Options struct {
	Folder    string   // installation folder of the game
	Version   string   // "4.10"; "": any
	Race      Race     // of both players
	Addresses []string // "host:port" of running games; empty: start new ones

	StartTimeout time.Duration // until a started game answers
	RetryEvery   time.Duration // between two attempts to connect
	ReplyTimeout time.Duration // for one answer
}

// Race is a player's race.
type Race = sc2api.Race

// The races.
const (
	Protoss = sc2api.Race_Protoss
	Zerg    = sc2api.Race_Zerg
)

// Environment variables with the location of the game. They are not settings of an experiment, because results do not
// depend on them.
const (
	FolderVariable  = "SC2PATH"            // installation folder, as in PySC2
	AddressVariable = "CERMIC_SC2_ADDRESS" // host:port of running games, separated by commas
)

// FromEnvironment returns the options given by environment variables.
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

// games is the pool of the program's games. It holds idle games by key, the number of busy ones, the addresses in use,
// and the addresses with a failed game. Starting a game is slow, so evaluations keep their idle games while training
// uses its own.
var games = struct {
	sync.Mutex
	idle   map[string][]*Game
	busy   int
	leased map[string]bool
	failed map[string]bool
}{idle: map[string][]*Game{}, leased: map[string]bool{}, failed: map[string]bool{}}

// key identifies the options for which an idle game can be reused.
func (o *Options) key() string {
	return fmt.Sprintf("%s|%s|%v|%q", o.Folder, o.Version, o.Race, o.Addresses)
}

// startTries is the number of attempts to start a game, because a game may lose its port to another program or crash.
const startTries = 3

// Acquire returns a game with the map open: an idle one, an unused running one, or a new one.
func Acquire(o Options) (*Game, error) {
	if g := takeIdle(o.key()); g != nil {
		return g, nil
	}
	get := launchNew
	if len(o.Addresses) > 0 {
		get = attach
	}
	g, err := get(&o)
	if err != nil {
		leave()
	}
	return g, err
}

// launchNew starts games until one works.
func launchNew(o *Options) (*Game, error) {
	for tries := 1; ; tries++ {
		proc, address, err := start(o)
		if err != nil {
			return nil, err
		}
		g := &Game{proc: proc, address: address, options: o}
		switch err := g.connect(proc.ended); {
		case err == nil:
			return g, nil
		case errors.As(err, new(lastingError)):
			return nil, err
		case tries == startTries:
			return nil, fmt.Errorf("%w (tried %d times)", err, startTries)
		}
	}
}

// connect connects to a game that may still be starting and opens the map.
func (g *Game) connect(ended func() error) (err error) {
	if g.conn, err = dial(g.options, g.address, ended); err == nil {
		err = g.open()
	}
	if err != nil {
		g.fail()
	}
	return err
}

// takeIdle returns an idle game, or nil, and counts it as busy.
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

// attach connects to an unused running game, preferring addresses without a failed game.
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
		return nil, fmt.Errorf("all %d games of %s are in use; list one per parallel environment, "+
			"and as many again for evaluation", len(o.Addresses), AddressVariable)
	}
	address := o.Addresses[free]
	games.leased[address] = true
	games.Unlock()
	g := &Game{address: address, options: o}
	if err := g.connect(func() error { return nil }); err != nil {
		return nil, err
	}
	return g, nil
}

// Release returns a working game to the pool.
func (g *Game) Release() {
	games.Lock()
	delete(games.failed, g.address)
	games.idle[g.options.key()] = append(games.idle[g.options.key()], g)
	games.Unlock()
	leave()
}

// Discard closes the connection and ends the game if this program started it.
func (g *Game) Discard() {
	g.fail()
	leave()
}

// fail ends a game that does not work. For a running game, other addresses are tried first from then on.
func (g *Game) fail() {
	g.end(0)
	if g.proc == nil {
		games.Lock()
		games.failed[g.address] = true
		games.Unlock()
	}
}

// leave counts one busy game less. After the last one, the idle games end.
func leave() {
	games.Lock()
	games.busy--
	last := games.busy == 0
	games.Unlock()
	if last {
		endIdle()
	}
}

// end closes the connection. A game that this program started gets a moment to exit by itself.
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

// quitWithin is the time for a game to quit on request.
const quitWithin = 5 * time.Second

// endIdle ends the idle games that this program started and disconnects from the others.
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
