// SPDX-License-Identifier: Apache-2.0

// Package explore implements small exact tasks that need exploration. They are a combination lock, rooms with doors
// that only two agents can open, and matrix games with the best joint action among bad ones. Dynamics are integers, the
// optimum is known (envs.Spec.Optimum) and a script reaches it. Each task is one file.
//
// An agent observes, in this order:
//
//	own     the agent's own features and its index, one-hot, so that agents with a shared policy can act differently
//	screen  8 random numbers while the agent watches the screen, else zeros; only with tv=screen
//	ally    features of each peer, in order
//	ally    the same of the random peer, which has no effect on the task; only with tv=peer
//
// The central state is the own features of all agents, without their indices. Sparse is the reward of success alone.
// Dense adds potential-based shaping (Ng, Harada and Russell 1999, without discount), except in matrix games, where
// both are the payoff.
package explore

import (
	"fmt"

	"cermic/envs"
	"cermic/envs/internal/pool"
	"cermic/envs/rng"
)

// game is the exact rules of one task. The state of an environment is a short row of numbers that only game
// interprets; the last one belongs to the random peer.
type game interface {
	shape() shape
	// reset starts an episode in s. It draws nothing if shape.deterministic.
	reset(s []int32, r *rng.Rand)
	// step applies the agents' actions; the action watching only watches the screen.
	step(s []int32, act []int32) result
	// own writes the observation of agent i about itself.
	own(s []int32, i int, dst []float32)
	// ally writes the observation of agent i about peer j; j = N is the random peer. It returns whether i perceives j,
	// and j's position relative to i in units of half the world's size.
	ally(s []int32, i, j int, dst []float32) (seen bool, dx, dy float32)
	// wander moves the random peer.
	wander(s []int32, r *rng.Rand)
	// script writes the actions of an optimal policy.
	script(s, act []int32)
	// cell is the coverage cell of agent i, or -1.
	cell(s []int32, i int) int32
	// scene draws s, and the distraction.
	scene(s []int32, tv TV) envs.Scene
}

// shape holds the constants of a game.
type shape struct {
	agents, words int   // N, length of a state
	own, ally     int   // lengths of spans
	choices       int   // K without the screen
	watch         bool  // watching is an action, because the task has no positions
	screen        int32 // without watch: the cell of the screen
	horizon       int
	metric        string
	solved        float32
	optimum       float32
	deterministic bool // reset draws nothing
	cover         envs.Projection
}

// result is the outcome of a step, equal for all agents.
type result struct {
	sparse, dense, score float32
	over                 bool
}

// watching is the action of an agent that only watches the screen.
const watching = -1

// env steps environments of a game.
type env struct {
	spec    envs.Spec
	game    game
	shape   shape
	tv      TV
	print   string // all settings as text
	seed    uint64
	state   []int32    // [E,words]
	frame   []int32    // [E] steps of the current episode
	episode []uint32   // [E] resets so far
	chosen  []int32    // [E,N] the actions of the last step, including watching
	dice    []rng.Rand // [E] seeded anew before each use
	choices []int32    // of the Step in progress
	out     *envs.Step
	job     *pool.Job
}

// grain is the smallest number of environments worth a task of its own on another core: about 20 µs of work.
const grain = 128

// newEnv makes the environment of a game with valid settings.
func newEnv(cfg envs.Config, tv TV, g game, seed uint64, workers int) envs.Env {
	common, h := cfg.Shared(), g.shape()
	n, numEnvs := h.agents, common.NumEnvs
	e := &env{
		game: g, shape: h, tv: tv, print: fmt.Sprintf("%+v", cfg), seed: seed,
		state: make([]int32, numEnvs*h.words), frame: make([]int32, numEnvs), episode: make([]uint32, numEnvs),
		chosen: make([]int32, numEnvs*n), dice: make([]rng.Rand, numEnvs),
		spec: envs.Spec{
			Name: cfg.Kind(), NumEnvs: numEnvs, Agents: n, Teams: make([]int, n), State: n * h.own,
			Act: envs.ActSpec{Choices: h.choices}, Horizon: h.horizon, EvalHorizon: h.horizon, Metric: h.metric,
			Sparse: common.Reward == envs.Sparse, Solved: h.solved, Optimum: h.optimum,
			Deterministic: h.deterministic && tv == Off,
		},
	}
	length := 0
	span := func(name string, kind envs.EntityKind, n int) {
		e.spec.Entities = append(e.spec.Entities, envs.Entity{Name: name, Kind: kind, From: length, To: length + n})
		length += n
	}
	span("own", envs.Own, h.own+n)
	if tv == Screen {
		span(envs.ScreenSpan, envs.Object, screenLen)
		if h.watch {
			e.spec.Act.Choices++
		}
	}
	for j := 1; j < n; j++ {
		span(fmt.Sprintf("ally %d", j), envs.Ally, h.ally)
	}
	if tv == Peer {
		span("random peer", envs.Ally, h.ally)
	}
	e.spec.Obs = []int{length}
	e.job = pool.New(numEnvs, grain, workers, e.advance)
	return e
}

// Spec describes the shapes of actions, observations and rewards.
func (e *env) Spec() *envs.Spec { return &e.spec }

// words is the state of environment c.
func (e *env) words(c int) []int32 { return e.state[c*e.shape.words : (c+1)*e.shape.words] }

// Reset starts new episodes. The start of the k-th episode of environment c depends on the seed, c and k alone.
func (e *env) Reset(mask []uint8, out *envs.Step) {
	e.spec.CheckReset(mask, out)
	n := e.spec.Agents
	for c := range e.frame {
		if mask != nil && mask[c] == 0 {
			continue
		}
		e.episode[c]++
		e.frame[c] = 0
		r := &e.dice[c]
		r.Seed(e.seed, "start", uint64(c), uint64(e.episode[c]))
		e.game.reset(e.words(c), r)
		e.wander(c)
		clear(e.chosen[c*n : (c+1)*n])
		e.writeObs(c, out)
		e.write(c, result{}, out)
		out.Terminated[c], out.Truncated[c] = 0, 0
	}
}

// Step advances every environment.
func (e *env) Step(act *envs.Actions, out *envs.Step) {
	e.spec.CheckActions(act, out)
	e.choices, e.out = act.Discrete, out
	e.job.Run()
	e.choices, e.out = nil, nil
}

// advance steps environments [from, to). It runs on several cores at once.
func (e *env) advance(from, to int) {
	n, out := e.spec.Agents, e.out
	for c := from; c < to; c++ {
		s, chosen := e.words(c), e.chosen[c*n:(c+1)*n]
		for i, k := range e.choices[c*n : (c+1)*n] {
			if int(k) >= e.shape.choices {
				k = watching
			}
			chosen[i] = k
		}
		e.frame[c]++
		e.wander(c)
		res := e.game.step(s, chosen)
		e.writeObs(c, out)
		e.write(c, res, out)
		out.Terminated[c], out.Truncated[c] = 0, 0
		if res.over {
			out.Terminated[c] = 1
		} else if int(e.frame[c]) >= e.spec.Horizon {
			out.Truncated[c] = 1
		}
	}
}

// wander moves the random peer, if environment c has one; also at the start of an episode.
func (e *env) wander(c int) {
	if e.tv != Peer {
		return
	}
	r := &e.dice[c]
	r.Seed(e.seed, "random peer", uint64(c), uint64(e.episode[c]), uint64(e.frame[c]))
	e.game.wander(e.words(c), r)
}

// write writes one result for all agents of environment c.
func (e *env) write(c int, r result, out *envs.Step) {
	out.Score[c] = r.score
	for row := c * e.spec.Agents; row < (c+1)*e.spec.Agents; row++ {
		out.Dense[row], out.Sparse[row] = r.dense, r.sparse
	}
}

// writeObs writes the observations of environment c and its labels.
func (e *env) writeObs(c int, out *envs.Step) {
	n, o, own := e.spec.Agents, e.spec.Obs[0], e.shape.own
	s := e.words(c)
	for i := range n {
		row := c*n + i
		obs := out.Obs[row*o : (row+1)*o]
		clear(obs)
		e.game.own(s, i, obs[:own])
		copy(out.State[row*own:(row+1)*own], obs)
		obs[own+i] = 1
		at := own + n
		if e.tv == Screen {
			if e.chosen[row] == watching || !e.shape.watch && e.game.cell(s, i) == e.shape.screen {
				e.picture(c, i, obs[at:at+screenLen])
			}
			at += screenLen
		}
		for j := range n {
			label := row*n + j
			if j == i {
				out.Visible[label], out.RelPos[2*label], out.RelPos[2*label+1] = 0, 0, 0
				continue
			}
			seen, dx, dy := e.game.ally(s, i, j, obs[at:at+e.shape.ally])
			out.Visible[label], out.RelPos[2*label], out.RelPos[2*label+1] = 0, dx, dy
			if seen {
				out.Visible[label] = 1
			}
			at += e.shape.ally
		}
		if e.tv == Peer {
			e.game.ally(s, i, n, obs[at:])
		}
		out.Alive[row] = 1
	}
}

// Script fills act with an optimal policy's actions.
func (e *env) Script(act *envs.Actions) bool {
	n := e.spec.Agents
	for c := range e.frame {
		e.game.script(e.words(c), act.Discrete[c*n:(c+1)*n])
	}
	return true
}

// Scene draws environment c.
func (e *env) Scene(c int) envs.Scene { return e.game.scene(e.words(c), e.tv) }

// Coverage describes the projection for coverage.
func (e *env) Coverage() envs.Projection { return e.shape.cover }

// Cover writes the cell of every agent, [E,N].
func (e *env) Cover(dst []int32) {
	n := e.spec.Agents
	for c := range e.frame {
		for i := range n {
			dst[c*n+i] = e.game.cell(e.words(c), i)
		}
	}
}

// Save appends the complete state that later steps and resets depend on.
func (e *env) Save(dst []byte) []byte { return envs.SaveParts(dst, e.fingerprint(), e.saved()...) }

// Load restores a state written by Save.
func (e *env) Load(state []byte) error {
	return envs.LoadParts(e.spec.Name, state, e.fingerprint(), e.saved()...)
}

// saved lists the state variables.
func (e *env) saved() []any {
	parts := []any{&e.seed}
	for c := range e.frame {
		parts = append(parts, &e.episode[c], &e.frame[c], e.words(c))
	}
	return parts
}

// fingerprint identifies the configuration, so that a state loads only into an equally configured environment.
func (e *env) fingerprint() uint64 { return envs.Fingerprint(fmt.Sprint(e.spec.Name, e.print)) }

// TV is a distraction, a source of unpredictable but worthless observations: the noisy-TV problem (Burda et al.
// 2019).
type TV string

// The distractions.
const (
	Off    TV = "off"
	Screen TV = "screen" // an agent that watches it, or stands on its cell, observes random numbers
	Peer   TV = "peer"   // one more peer in all observations acts at random, without effect on the task
)

// screenLen is the number of random numbers on the screen, each uniform in [-1, 1).
const screenLen = 8

// box is a rectangle to draw that belongs to no agent.
func box(role envs.Role, x, y, width, height float64) envs.Shape {
	return envs.Shape{Role: role, Agent: -1, X: x, Y: y, Width: width, Height: height}
}

// picture writes agent i's view of the screen in environment c at this step.
func (e *env) picture(c, i int, dst []float32) {
	var r rng.Rand
	r.Seed(e.seed, "screen", uint64(c), uint64(e.episode[c]), uint64(e.frame[c]), uint64(i))
	for k := range dst {
		dst[k] = r.Uniform(-1, 1)
	}
}

// validate returns an error for the first impossible setting common to all tasks of the package.
func validate(cfg envs.Config) error {
	if err := envs.Check(cfg); err != nil {
		return err
	}
	if cfg.Shared().Noise != (envs.Noise{}) {
		return fmt.Errorf("%s has no noise region; set tv=screen or tv=peer for random observations", cfg.Kind())
	}
	return nil
}
