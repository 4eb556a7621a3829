// SPDX-License-Identifier: Apache-2.0

// Package smac implements the StarCraft battles of SMACv2: five agents, with one unit each, against five enemies
// controlled by a script. Unit types and starting positions are drawn anew for every episode.
//
// The package has two parts. One is the benchmark's interface (observations, actions and rewards), tested against
// recordings of the original. The other is the engine of the battle, behind Field: a built-in simulator or the real
// game.
//
// From: oxwhirl/smacv2, 577ab5a (MIT), as behaviour
package smac

import (
	_ "embed"
	"fmt"

	"cermic/envs"
	"cermic/envs/internal/pool"
	"cermic/envs/rng"
)

// env implements envs.Env.
type env struct {
	*rules
	spec   envs.Spec
	common envs.Common
	seed   uint64
	arenas []arena // [E]

	stepping, resetting *pool.Job
	actions             *envs.Actions // of the Step in progress
	mask                []uint8       // of the Reset in progress
	out                 *envs.Step    // of the Step or Reset in progress
}

// arena is one of the parallel environments.
type arena struct {
	*battle
	field  Field
	chance rng.Rand // for teams, positions, observation order, sightings, and the simulator
	lineup *Lineup
	seen   []Sighting
	orders []Command
	err    error // of the last failed Deploy
	arenaClock
}

// arenaClock holds an arena's counters.
type arenaClock struct {
	Episode uint32 // resets so far
	Over    ending // how the episode ended; later steps change nothing
}

// grain is the smallest number of environments worth a task of its own on another core. One step takes 5 µs in the
// simulator and much longer in the game.
const grain = 1

func build(name string, common envs.Common, s Settings, r *race, seed uint64, workers int) (envs.Env, error) {
	if err := common.Validate(name); err != nil {
		return nil, err
	}
	if err := s.validate(name, r); err != nil {
		return nil, err
	}
	e := newEnv(name, common, newRules(s, r), seed, workers)
	if s.Engine == SC2 {
		for c := range e.arenas {
			e.arenas[c].field = newRealField(e.rules)
		}
		return realEnv{e}, nil
	}
	for c := range e.arenas {
		a := &e.arenas[c]
		a.field = newSimulator(e.rules, &a.chance)
	}
	return e, nil
}

// newEnv makes an env without its fields.
func newEnv(name string, common envs.Common, k *rules, seed uint64, workers int) *env {
	e := &env{rules: k, common: common, seed: seed, arenas: make([]arena, common.NumEnvs)}
	for c := range e.arenas {
		e.arenas[c] = arena{
			battle: newBattle(k), lineup: newLineup(k), seen: make([]Sighting, 0, k.n+k.m), orders: make([]Command, k.n),
		}
	}
	e.spec = envs.Spec{
		Name: name, NumEnvs: common.NumEnvs, Agents: k.n, Teams: make([]int, k.n), Obs: []int{k.obs}, Entities: k.entities(),
		State: k.state, Act: envs.ActSpec{Choices: k.choices, Targets: k.m}, Masked: true, Horizon: k.MaxSteps,
		EvalHorizon: k.MaxSteps,
		Metric:      "win rate", Sparse: common.Reward == envs.Sparse, Solved: k.SparseWin,
	}
	e.stepping = pool.New(common.NumEnvs, grain, workers, e.advance)
	e.resetting = pool.New(common.NumEnvs, grain, workers, e.restart)
	return e
}

// Spec describes the shapes of actions, observations and rewards.
func (e *env) Spec() *envs.Spec { return &e.spec }

// Reset starts new episodes. The k-th episode of an environment depends on the seed, the environment's index, k and
// the actions alone.
func (e *env) Reset(mask []uint8, out *envs.Step) {
	e.spec.CheckReset(mask, out)
	e.mask, e.out = mask, out
	e.resetting.Run()
	e.mask, e.out = nil, nil
}

// restart resets the masked environments in [from, to). It runs on several cores at once.
func (e *env) restart(from, to int) {
	for c := from; c < to; c++ {
		if e.mask != nil && e.mask[c] == 0 {
			continue
		}
		e.deploy(c)
		e.writeObs(c, e.out)
		e.write(c, 0, goesOn, e.out)
		e.end(c, goesOn, e.out)
	}
}

// deploy draws and starts the next episode of environment c.
func (e *env) deploy(c int) {
	a := &e.arenas[c]
	a.chance.Seed(e.seed, "smac episode", uint64(c), uint64(a.Episode))
	a.Episode++
	a.Over = goesOn
	a.lineup.draw(e.rules, &a.chance)
	for i := range a.hidden {
		a.hidden[i] = 0
		if e.EnemyMask > 0 && a.chance.Float64() < e.EnemyMask {
			a.hidden[i] = 1
		}
	}
	var seen []Sighting
	if seen, a.err = a.field.Deploy(a.lineup, a.seen); a.err != nil {
		a.Over = aborted
		return
	}
	a.seen, a.ground = seen, a.field.Ground()
	a.begin(seen)
}

// Step advances every environment. It panics if an action is forbidden by its agent's mask.
func (e *env) Step(act *envs.Actions, out *envs.Step) {
	e.spec.CheckActions(act, out)
	for c := range e.arenas {
		if err := e.arenas[c].check(act.Discrete[c*e.n : (c+1)*e.n]); err != nil {
			panic(fmt.Sprintf("smac: environment %d: %v", c, err))
		}
	}
	e.actions, e.out = act, out
	e.stepping.Run()
	e.actions, e.out = nil, nil
}

// advance steps environments [from, to). It runs on several cores at once.
func (e *env) advance(from, to int) {
	for c := from; c < to; c++ {
		a := &e.arenas[c]
		if a.Over != goesOn {
			e.write(c, 0, goesOn, e.out)
			e.end(c, a.Over, e.out)
			continue
		}
		actions := e.actions.Discrete[c*e.n : (c+1)*e.n]
		a.commands(actions, a.orders)
		reward, end := 0.0, aborted
		if seen, err := a.field.Play(a.orders, a.seen); err == nil {
			a.seen = seen
			reward, end = a.step(actions, seen)
		}
		a.Over = end
		e.writeObs(c, e.out)
		e.write(c, reward, end, e.out)
		e.end(c, end, e.out)
	}
}

// write writes the rewards and the score of environment c. All agents get the team's reward, dead ones too.
func (e *env) write(c int, reward float64, end ending, out *envs.Step) {
	sparse := e.sparse(end)
	for i := c * e.n; i < (c+1)*e.n; i++ {
		out.Dense[i], out.Sparse[i] = float32(reward), sparse
	}
	out.Score[c] = float32(count(end == won))
}

// end writes whether the episode of environment c is over. A failed game ends it like a battle does.
func (e *env) end(c int, end ending, out *envs.Step) {
	out.Terminated[c] = uint8(count(end != goesOn && end != timedOut))
	out.Truncated[c] = uint8(count(end == timedOut))
}

// writeObs writes the observations, the state, the masks and the labels of environment c.
func (e *env) writeObs(c int, out *envs.Step) {
	a, n := &e.arenas[c], e.n
	obs := out.Obs[c*n*e.obs : (c+1)*n*e.obs]
	a.observe(&a.chance, obs)
	a.centralised(out.State[c*e.state : (c+1)*e.state])
	copy(out.Mask[c*n*e.choices:(c+1)*n*e.choices], a.mask)
	for i := range n {
		u := &a.units[i]
		out.Alive[c*n+i] = uint8(count(u.Health > 0))
		if e.common.Noise.On() && u.Health > 0 {
			e.common.Noise.Cover(obs[i*e.obs:(i+1)*e.obs], u.X, u.Y, e.seed, uint64(c), uint64(a.Episode),
				uint64(a.Steps), uint64(i))
		}
	}
	a.label(out.Visible[c*n*n:(c+1)*n*n], out.RelPos[2*c*n*n:2*(c+1)*n*n])
}

// label writes which allies each agent observes, and the positions of all allies relative to it, in half sides of the
// map. Labels and positions of dead units are zero.
//
// paper:detector  y_k = 1 if agent k is inside the observer's field of view, or within one body length
// Reading: the field of view is the one of observations. It is the sight range of the observer's type (8 to 10 cells)
// and, with conic_fov, its cone. A label then shows whether the ally's row is filled; a fixed radius of 9 cells would
// disagree with the rows. Without a cone, one body length is always within the sight range. With a cone, a touching
// unit behind the agent is neither shown nor labelled.
func (b *battle) label(seen []uint8, rel []float32) {
	clear(seen)
	clear(rel)
	for i := range b.n {
		for j := range b.n {
			u, x := &b.units[i], &b.units[j]
			if i == j || u.Health == 0 || x.Health == 0 {
				continue
			}
			at := i*b.n + j
			seen[at] = uint8(count(b.visible(i, j)))
			rel[2*at], rel[2*at+1] = (x.X-u.X)/(mapSide/2), (x.Y-u.Y)/(mapSide/2)
		}
	}
}

// measured holds the errors found by TestInterfaceIsThatOfTheOriginal: go test ./envs/smac -run
// TestInterfaceIsThatOfTheOriginal -regen
//
//go:embed agreement.json
var measured []byte

func init() { envs.RegisterAgreements(measured) }

// Field is the engine of a battle: the simulator or a running game. It does not handle observations or rewards.
//
// Both methods append the units observed afterwards to seen[:0] and return it. After an error, only Deploy may be
// called.
type Field interface {
	// Deploy removes all units, creates the units of l and advances by one loop. It returns all of them, including a
	// unit killed by a baneling in that loop.
	Deploy(l *Lineup, seen []Sighting) ([]Sighting, error)
	// Play gives one command per agent, advances by the loops of one step and returns the living units.
	Play(orders []Command, seen []Sighting) ([]Sighting, error)
	// Ground is the terrain, valid after Deploy.
	Ground() *Terrain
}
