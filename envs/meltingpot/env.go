// SPDX-License-Identifier: Apache-2.0

// Package meltingpot implements four substrates of Melting Pot 2 (Agapiou et al., 2022) in parallel environments. They
// are grid worlds with layers, beams and egocentric views, with one file for each substrate.
//
// An agent observes cells: the tile number of each cell of its view. Spec.RGB maps tile numbers to the original's
// exact pixels. The vector observation has the original's further numbers:
//
//	*_in_the_matrix__repeated: INVENTORY (2), READY_TO_SHOOT, INTERACTION_INVENTORIES (4, own first), COLLECTIVE_REWARD
//	clean_up: READY_TO_SHOOT, NUM_OTHERS_WHO_CLEANED_THIS_STEP, COLLECTIVE_REWARD
//
// The central state holds the vector observations of all agents, in order. Both streams have the original rewards:
// the paper counts these tasks among the originally sparse ones, and none defines success. A player that is away,
// after an interaction or a zap, sees black and is not alive; its actions have no effect.
package meltingpot

import (
	_ "embed"
	"math"

	"cermic/envs"
	"cermic/envs/internal/pool"
)

// substrate is the data shared by all environments of one kind.
type substrate struct {
	layout  *layout
	actions int         // K
	scalars int         // length of game.scalars
	end     float64     // probability that an episode ends at a check
	game    func() game // makes an environment
}

// game is one environment of a substrate.
type game interface {
	base() *board
	// reset starts a new episode.
	reset(d draws)
	// scalars writes the vector observation of player i, without the collective reward.
	scalars(i int, dst []float32)
	// state lists pointers to all numbers of the state, except for those of board.state.
	state() []any
	// restore recomputes the data derived from the state.
	restore()
	// script returns the scripted action of player i in the given role.
	script(i int, role Role) int32
}

// env implements envs.Env for a substrate.
type env struct {
	spec      envs.Spec
	settings  Settings
	substrate *substrate
	weight    float64 // weight of each player's reward in Score
	seed      uint64
	games     []game   // [E]
	episode   []uint32 // [E] resets so far
	dice      []dice   // [E]

	job     *pool.Job
	actions []int32 // of the Step in progress
	out     *envs.Step
}

// grain is the smallest number of environments worth a task of its own on another core: about 20 µs of work.
const grain = 8

// From step endFrom on, an episode may end at random at a check every endEvery steps.
//
// From: google-deepmind/meltingpot 2.4.1, meltingpot/lua/modules/component_library.lua,
// StochasticIntervalEpisodeEnding
const (
	endFrom  = 1000
	endEvery = 100
)

// newEnv makes the environment of a valid task; seed and workers are as in Config.Build.
func newEnv(t Task, seed uint64, workers int) envs.Env {
	s, settings, numEnvs := substrates[t.substrate](), t.Settings, t.NumEnvs
	n, view := s.layout.players, s.layout.view
	x := s.scalars + 1
	e := &env{
		settings: settings, substrate: s, weight: 1, seed: seed,
		games: make([]game, numEnvs), episode: make([]uint32, numEnvs), dice: make([]dice, numEnvs),
		spec: envs.Spec{
			Name: t.Kind(), NumEnvs: numEnvs, Agents: n, Teams: make([]int, n), Obs: []int{view.height(), view.width()},
			Pixels: s.layout.palette.pixels, Scalars: x,
			Entities: []envs.Entity{{Name: "player", Kind: envs.Own, To: x}},
			State:    n * x, Act: envs.ActSpec{Choices: s.actions}, Horizon: settings.MaxSteps, EvalHorizon: settings.MaxSteps,
			Metric: settings.metric(), Sparse: t.Reward == envs.Sparse, Solved: float32(math.Inf(1)),
		},
	}
	if settings.Score.short() {
		e.spec.EvalHorizon = min(shortScore, settings.MaxSteps)
	} else if settings.MaxSteps > shortScore {
		e.spec.Early = shortScore
	}
	if settings.Score == ScoreMean || settings.Score == ScoreMean100 {
		e.weight = 1 / float64(n)
	}
	for c := range e.games {
		e.games[c] = s.game()
	}
	e.job = pool.New(numEnvs, grain, workers, e.advance)
	return e
}

// Spec describes the shapes of actions, observations and rewards.
func (e *env) Spec() *envs.Spec { return &e.spec }

// Reset starts new episodes. The state of an environment after its k-th reset depends on the seed, the environment's
// index and k alone.
func (e *env) Reset(mask []uint8, out *envs.Step) {
	e.spec.CheckReset(mask, out)
	for c, g := range e.games {
		if mask != nil && mask[c] == 0 {
			continue
		}
		e.episode[c]++
		g.reset(e.draw(c, 0))
		e.writeObs(c, out)
		out.Score[c], out.Terminated[c], out.Truncated[c] = 0, 0, 0
	}
}

// draw seeds and returns the dice of environment c for a step of its current episode.
func (e *env) draw(c int, frame int32) *dice {
	d := &e.dice[c]
	d.Seed(e.seed, "meltingpot", uint64(c), uint64(e.episode[c]), uint64(frame))
	return d
}

// Step advances every environment.
func (e *env) Step(act *envs.Actions, out *envs.Step) {
	e.spec.CheckActions(act, out)
	e.actions, e.out = act.Discrete, out
	e.job.Run()
	e.actions, e.out = nil, nil
}

// advance steps environments [from, to). It runs on several cores at once.
//
// Deviation: an episode that reaches its horizon is Truncated, unlike one that ends at random. The original gives both
// the discount 0.
func (e *env) advance(from, to int) {
	n, out := e.spec.Agents, e.out
	for c := from; c < to; c++ {
		b := e.games[c].base()
		d := e.draw(c, b.frame+1)
		b.step(e.actions[c*n:(c+1)*n], d)
		e.writeObs(c, out)
		out.Score[c] = e.score(b)
		out.Terminated[c], out.Truncated[c] = 0, 0
		switch late := int(b.frame) >= e.spec.Horizon; {
		case late:
			out.Truncated[c] = 1
		case e.mayEnd(b.frame) && d.chance(ruleEnd, 0, e.substrate.end):
			out.Terminated[c] = 1
		}
	}
}

// mayEnd reports whether an episode can end at random with a step.
func (e *env) mayEnd(frame int32) bool {
	return frame >= endFrom && (frame+1)%endEvery == 0 || int(frame) >= e.spec.Horizon
}

// writeObs writes the observations, rewards and labels of environment c.
func (e *env) writeObs(c int, out *envs.Step) {
	n, x, cells := e.spec.Agents, e.spec.Scalars, e.spec.CellLen()
	g := e.games[c]
	b := g.base()
	b.paint()
	collective := float32(b.collective())
	for i := range n {
		row := c*n + i
		b.look(i, out.Cells[row*cells:(row+1)*cells])
		numbers := out.Obs[row*x : (row+1)*x]
		g.scalars(i, numbers[:x-1])
		numbers[x-1] = collective
		b.labels(i, out.Visible[row*n:(row+1)*n], out.RelPos[2*row*n:2*(row+1)*n])
		out.Alive[row] = 0
		if b.avatars[i].alive {
			out.Alive[row] = 1
		}
		out.Dense[row], out.Sparse[row] = float32(b.reward[i]), float32(b.reward[i])
	}
	copy(out.State[c*n*x:(c+1)*n*x], out.Obs[c*n*x:])
}

// score is the step's contribution to the metric.
func (e *env) score(b *board) float32 {
	if int(b.frame) > e.spec.EvalHorizon {
		return 0
	}
	return float32(e.weight * b.collective())
}

// collective is the sum of all players' rewards in the last step.
func (b *board) collective() float64 {
	sum := 0.0
	for _, r := range b.reward {
		sum += r
	}
	return sum
}

// measured holds the errors found by TestStepsFollowRecordings: go test ./envs/meltingpot -run
// TestStepsFollowRecordings -regen
//
//go:embed agreement.json
var measured []byte

func init() { envs.RegisterAgreements(measured) }
