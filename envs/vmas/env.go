// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"encoding/json"
	"fmt"
	"math"
	"sync/atomic"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/internal/pool"
	"cermic/envs/rng"
)

// env makes an envs.Env of a Task.
type env struct {
	spec       envs.Spec
	settings   Settings
	noise      envs.Noise
	task       Task
	config     []byte     // JSON of task: tells saved states of different settings apart
	controller Controller // nil if the task has none
	progresser Progresser // nil if the task has none
	world      *World
	policy     []int     // [N] agent numbers of those that an external policy drives
	choices    []Vec     // [K] of discrete actions, else nil
	reach      []float32 // [N,N] square of the distance at which agent i perceives agent j
	weight     []float32 // [N] of each agent's reward in Score: 1/(teams · size of the agent's team)

	seed    uint64
	streams []rng.Rand // [E] of resets
	steps   []int32    // [E] since the last reset
	episode []uint32   // [E] resets so far
	given   []int32    // [E] partial rewards given in this episode

	job     *pool.Job
	actions *envs.Actions // of the Step in progress
	out     *envs.Step

	mistake atomic.Pointer[error] // in the task's Observe
}

// grain is the least number of environments worth handing to another core: about 20 µs of work.
const grain = 8

// New makes the environment of a task. Authors of tasks call it from Config.Build with the settings that their config
// embeds; seed and workers are Build's.
func New(name string, common envs.Common, settings Settings, task Task, seed uint64, workers int) (envs.Env, error) {
	if err := common.Validate(name); err != nil {
		return nil, err
	}
	if err := conf.Check(settings); err != nil {
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
	e := &env{settings: settings, noise: common.Noise, task: task, config: config, world: newWorld(world, common.NumEnvs), seed: seed}
	e.controller, _ = task.(Controller)
	e.progresser, _ = task.(Progresser)
	if settings.Milestones > 1 && (e.progresser == nil || world.SparseIsDense) {
		return nil, fmt.Errorf("%s: milestones is %d, but this task is rewarded in one part only; want 1", name, settings.Milestones)
	}
	e.choices = actionSets[settings.Discrete]
	e.describe(name, common)
	e.streams = make([]rng.Rand, common.NumEnvs)
	e.steps, e.given = make([]int32, common.NumEnvs), make([]int32, common.NumEnvs)
	e.episode = make([]uint32, common.NumEnvs)
	e.job = pool.New(common.NumEnvs, grain, workers, e.advance)
	return e, nil
}

// describe fills the spec and what follows from the list of agents.
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
		Name: name, NumEnvs: common.NumEnvs, Agents: len(e.policy), Teams: teams, Groups: w.Groups, PeersAcross: w.Across, Obs: []int{w.Obs},
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

// Spec describes the shapes.
func (e *env) Spec() *envs.Spec { return &e.spec }

// Reset starts new episodes. The state of an environment after its k-th reset depends on the seed, the environment's number and k alone,
// but for what the task keeps (WorldSpec.Kept).
func (e *env) Reset(mask []uint8, out *envs.Step) {
	e.check(out)
	if mask != nil && len(mask) != e.spec.NumEnvs {
		panic(fmt.Sprintf("vmas: Reset of a mask of %d environments, want %d", len(mask), e.spec.NumEnvs))
	}
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
		e.show(c, out)
		clear(out.Dense[c*n : (c+1)*n])
		clear(out.Sparse[c*n : (c+1)*n])
		out.Score[c], out.Terminated[c], out.Truncated[c] = 0, 0, 0
	}
}

// Step advances every environment.
func (e *env) Step(act *envs.Actions, out *envs.Step) {
	e.check(out)
	rows := e.spec.NumEnvs * e.spec.Agents
	if e.choices != nil && len(act.Discrete) != rows {
		panic(fmt.Sprintf("vmas: Step with %d choices, want %d", len(act.Discrete), rows))
	}
	if e.choices == nil && len(act.Continuous) != 2*rows {
		panic(fmt.Sprintf("vmas: Step with %d force components, want %d", len(act.Continuous), 2*rows))
	}
	for row, k := range act.Discrete {
		if uint32(k) >= uint32(len(e.choices)) { // here rather than on a worker, where nobody could recover from it
			panic(fmt.Sprintf("vmas: choice %d in row %d, want 0 to %d", k, row, len(e.choices)-1))
		}
	}
	e.actions, e.out = act, out
	e.job.Run()
	e.actions, e.out = nil, nil
}

// advance steps environments [from, to); it runs on several cores at once.
func (e *env) advance(from, to int) {
	n, out := e.spec.Agents, e.out
	for c := from; c < to; c++ {
		e.act(c)
		e.world.step(c)
		e.steps[c]++
		dense := out.Dense[c*n : (c+1)*n]
		clear(dense)
		e.task.Reward(e.world, c, dense)
		e.show(c, out)
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

// show writes what the agents of environment c perceive, and the labels.
func (e *env) show(c int, out *envs.Step) {
	defer e.explain(c)
	n, o := e.spec.Agents, e.spec.Obs[0]
	rows := out.Obs[c*n*o : (c+1)*n*o]
	clear(rows)
	for i, agent := range e.policy {
		row := rows[i*o : (i+1)*o : (i+1)*o]
		e.task.Observe(e.world, c, agent, row)
		if e.world.spec.ObsNoise > 0 {
			e.disturb(c, i, row)
		}
		if e.noise.On() {
			pos := e.world.Pos(c, e.world.Agent(agent))
			e.noise.Cover(row[:e.own(i)], pos.X, pos.Y, e.seed, uint64(c), uint64(e.episode[c]), uint64(e.steps[c]), uint64(i))
		}
		out.Alive[c*n+i] = 1
	}
	copy(out.State[c*n*o:(c+1)*n*o], rows)
	e.label(c, out)
}

// own is the length of what policy agent i observes; its row may be longer, up to the longest of another group.
func (e *env) own(i int) int {
	if len(e.spec.Groups) == 0 {
		return e.spec.Obs[0]
	}
	return e.spec.Groups[e.spec.Teams[i]].Obs
}

// disturb adds the task's own noise to what policy agent i of environment c observes. It depends on nothing but the seed and the
// moment.
func (e *env) disturb(c, i int, row []float32) {
	var r rng.Rand
	r.Seed(e.seed, "vmas observation noise", uint64(c), uint64(e.episode[c]), uint64(e.steps[c]), uint64(i))
	n := e.world.spec.ObsNoise
	for k := range row {
		row[k] += r.Uniform(-n, n)
	}
}

// score is the step's share of BenchMARL's metric: the dense reward, averaged over the agents of a team and then over
// teams, within the benchmark's horizon.
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

// check panics on buffers of another shape: everything behind it indexes without looking.
func (e *env) check(out *envs.Step) {
	rows := e.spec.NumEnvs * e.spec.Agents
	if len(out.Obs) != rows*e.spec.Obs[0] || len(out.State) != rows*e.spec.Obs[0] || len(out.Dense) != rows {
		panic(fmt.Sprintf("vmas: a Step of other shapes than those of %s; make it with envs.NewStep", e.spec.Name))
	}
}
