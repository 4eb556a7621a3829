// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/internal/pool"
	"cermic/envs/rng"
)

// env implements envs.Env for a Task.
type env struct {
	spec       envs.Spec
	settings   Settings
	noise      envs.Noise
	task       Task
	config     []byte     // JSON of task, part of the fingerprint of saved states
	controller Controller // nil if the task has none
	progresser Progresser // nil if the task has none
	world      *World
	policy     []int     // [N] agent numbers of the policy agents, without scripted ones
	choices    []Vec     // [K] forces of the discrete actions; nil if continuous
	reach      []float32 // [N,N] squared distance within which agent i perceives agent j
	weight     []float32 // [N] weight of each agent's reward in Score: 1/(teams · size of the agent's team)

	seed    uint64
	streams []rng.Rand // [E] of resets
	steps   []int32    // [E] since the last reset
	episode []uint32   // [E] resets so far
	given   []int32    // [E] partial rewards given in this episode

	job     *pool.Job
	actions *envs.Actions // of the Step in progress
	out     *envs.Step
}

// grain is the smallest number of environments worth a task of its own on another core: about 20 µs of work.
const grain = 8

// New makes the environment of a task. Task authors call it from Config.Build with the settings embedded in their
// config. It checks the tags of the task's fields and calls its method Validate, if it has one.
func New(name string, common envs.Common, settings Settings, task Task, seed uint64, workers int) (envs.Env, error) {
	if err := common.Validate(name); err != nil {
		return nil, err
	}
	if err := cmp.Or(conf.Check(settings), conf.Validate(task)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	world := task.World()
	if err := world.validate(name); err != nil {
		return nil, err
	}
	config, err := json.Marshal(task)
	if err != nil {
		return nil, fmt.Errorf("%s: the task's settings have no JSON form: %w", name, err)
	}
	e := &env{settings: settings, noise: common.Noise, task: task, config: config,
		world: newWorld(world, common.NumEnvs), seed: seed}
	e.controller, _ = task.(Controller)
	e.progresser, _ = task.(Progresser)
	if settings.Milestones > 1 && (e.progresser == nil || world.SparseIsDense) {
		return nil, fmt.Errorf("%s: milestones is %d, but this task is rewarded in one part only; want 1",
			name, settings.Milestones)
	}
	e.choices = actionSets[settings.Discrete]
	e.describe(name, common)
	e.streams = make([]rng.Rand, common.NumEnvs)
	e.steps, e.given = make([]int32, common.NumEnvs), make([]int32, common.NumEnvs)
	e.episode = make([]uint32, common.NumEnvs)
	e.job = pool.New(common.NumEnvs, grain, workers, e.advance)
	return e, e.tryObserve()
}

// describe fills the spec and the fields derived from the list of agents.
func (e *env) describe(name string, common envs.Common) {
	w := &e.world.spec
	var teams []int
	limit := float32(0)
	for agent := range w.Agents {
		a := &w.Agents[agent]
		if a.Scripted {
			continue
		}
		e.policy = append(e.policy, agent)
		teams = append(teams, a.Team)
		limit = max(limit, a.Range)
	}
	e.reaches()
	size := map[int]int{}
	for _, team := range teams {
		size[team]++
	}
	for _, team := range teams {
		e.weight = append(e.weight, 1/float32(len(size)*size[team]))
	}
	e.spec = envs.Spec{
		Name: name, NumEnvs: common.NumEnvs, Agents: len(e.policy), Teams: teams, Groups: w.Groups,
		PeersAcross: w.Across, Obs: []int{w.Obs},
		HidesPeers: true, Entities: w.Entities, State: len(e.policy) * w.Obs, Act: actionSpec(e.choices, limit),
		Horizon: e.settings.MaxSteps, EvalHorizon: e.settings.MaxSteps, Metric: "reward",
		Sparse: common.Reward == envs.Sparse, Solved: e.settings.SuccessReward,
	}
	if w.SparseIsDense {
		e.spec.Solved = w.Solved
		if w.Solved == 0 {
			e.spec.Solved = float32(math.Inf(1))
		}
	}
	if w.SparseMax > e.settings.MaxSteps && e.spec.HasSuccess() {
		e.spec.SolvableIn = w.SparseMax
	}
	if e.spec.Sparse && e.settings.SparseHorizon == Extended {
		e.spec.Horizon = max(e.spec.Horizon, w.SparseMax)
	}
}

// Spec describes the shapes of actions, observations and rewards.
func (e *env) Spec() *envs.Spec { return &e.spec }

// Reset starts new episodes. The state of an environment after its k-th reset depends only on the seed, the
// environment's index and k, except for memory in WorldSpec.Kept.
func (e *env) Reset(mask []uint8, out *envs.Step) {
	e.spec.CheckReset(mask, out)
	n := e.spec.Agents
	for c := range e.spec.NumEnvs {
		if mask != nil && mask[c] == 0 {
			continue
		}
		r := &e.streams[c]
		r.Seed(e.seed, "vmas reset", uint64(c), uint64(e.episode[c]))
		e.world.common.Seed(e.seed, "vmas common", uint64(e.episode[c]))
		e.episode[c]++
		e.steps[c], e.given[c] = 0, 0
		e.world.clear(c)
		e.task.Reset(e.world, c, r)
		e.writeObs(c, out)
		clear(out.Dense[c*n : (c+1)*n])
		clear(out.Sparse[c*n : (c+1)*n])
		out.Score[c], out.Terminated[c], out.Truncated[c] = 0, 0, 0
	}
}

// Step advances every environment.
func (e *env) Step(act *envs.Actions, out *envs.Step) {
	e.spec.CheckActions(act, out)
	e.actions, e.out = act, out
	e.job.Run()
	e.actions, e.out = nil, nil
}

// advance steps environments [from, to). It runs on several cores at once.
func (e *env) advance(from, to int) {
	n, out := e.spec.Agents, e.out
	for c := from; c < to; c++ {
		e.act(c)
		e.world.step(c)
		e.steps[c]++
		dense := out.Dense[c*n : (c+1)*n]
		clear(dense)
		e.task.Reward(e.world, c, dense)
		e.writeObs(c, out)
		success, over := e.task.Outcome(e.world, c)
		e.giveSparse(c, success, dense, out.Sparse[c*n:(c+1)*n])
		out.Score[c] = e.score(c, dense)
		out.Terminated[c], out.Truncated[c] = 0, 0
		if over {
			out.Terminated[c] = 1
		} else if int(e.steps[c]) >= e.spec.Horizon {
			out.Truncated[c] = 1
		}
	}
}

// writeObs writes the observations of environment c and its labels.
func (e *env) writeObs(c int, out *envs.Step) {
	n, o := e.spec.Agents, e.spec.Obs[0]
	rows := out.Obs[c*n*o : (c+1)*n*o]
	clear(rows)
	for i, agent := range e.policy {
		row := rows[i*o : (i+1)*o : (i+1)*o]
		e.task.Observe(e.world, c, agent, row)
		if e.world.spec.ObsNoise > 0 {
			e.addNoise(c, i, row)
		}
		if e.noise.On() {
			pos := e.world.Pos(c, e.world.Agent(agent))
			e.noise.Cover(row[:e.obsLen(i)], pos.X, pos.Y, e.seed, uint64(c), uint64(e.episode[c]), uint64(e.steps[c]),
				uint64(i))
		}
		out.Alive[c*n+i] = 1
	}
	copy(out.State[c*n*o:(c+1)*n*o], rows)
	e.label(c, out)
}

// tryObserve returns an error if the task's Reset fails, or its Observe writes past the end of an observation. Either
// would later be a panic on another goroutine.
func (e *env) tryObserve() (err error) {
	isReset := false
	defer func() {
		if p := recover(); p != nil && !isReset {
			err = fmt.Errorf("%s: Reset fails: %v", e.spec.Name, p)
		} else if p != nil {
			err = fmt.Errorf("%s: Observe fails (%v): set w.Obs in World to the length of an observation, now %d",
				e.spec.Name, p, e.spec.Obs[0])
		}
		clear(e.world.slots)
		e.world.clear(0)
	}()
	e.task.Reset(e.world, 0, rng.New(e.seed, "vmas trial"))
	isReset = true
	row := make([]float32, e.spec.Obs[0])
	for _, agent := range e.policy {
		clear(row)
		e.task.Observe(e.world, 0, agent, row)
	}
	return nil
}

// obsLen is the length of policy agent i's observation; its row has the length of the longest one.
func (e *env) obsLen(i int) int {
	if len(e.spec.Groups) == 0 {
		return e.spec.Obs[0]
	}
	return e.spec.Groups[e.spec.Teams[i]].Obs
}

// addNoise adds the task's observation noise to an observation. The noise depends only on the seed and the time step.
func (e *env) addNoise(c, i int, row []float32) {
	var r rng.Rand
	r.Seed(e.seed, "vmas observation noise", uint64(c), uint64(e.episode[c]), uint64(e.steps[c]), uint64(i))
	n := e.world.spec.ObsNoise
	for k := range row {
		row[k] += r.Uniform(-n, n)
	}
}

// score is the step's contribution to BenchMARL's metric: the dense reward within the benchmark's horizon, averaged
// over the agents of a team, then over teams.
func (e *env) score(c int, dense []float32) float32 {
	if int(e.steps[c]) > e.spec.EvalHorizon {
		return 0
	}
	sum := float32(0)
	for i, r := range dense {
		sum += r * e.weight[i]
	}
	return sum
}

// giveSparse fills sparse [N] with the sparse reward of environment c and updates the number of partial rewards
// given.
//
// paper:sparse  The paper rewards only success in the starred tasks. Every agent gets SuccessReward once per episode,
// at the first successful state. If the original reward is already sparse, it is used instead.
//
// With k milestones, the j-th of k equal parts is given when progress first reaches j/k. Success gives all remaining
// parts.
func (e *env) giveSparse(c int, success bool, dense, sparse []float32) {
	if e.world.spec.SparseIsDense {
		copy(sparse, dense)
		return
	}
	clear(sparse)
	parts, given := int32(e.settings.Milestones), e.given[c]
	if given == parts {
		return
	}
	reached := given
	if success {
		reached = parts
	} else if e.progresser != nil && parts > 1 {
		share := math.Floor(float64(e.progresser.Progress(e.world, c)) * float64(parts))
		reached = max(given, int32(min(share, float64(parts-1)))) // NaN counts as 0
	}
	if reached == given {
		return
	}
	e.given[c] = reached
	bonus := e.settings.SuccessReward * float32(reached-given) / float32(parts)
	for i := range sparse {
		sparse[i] = bonus
	}
}
