// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"
	"slices"

	"cermic/envs"
	"cermic/envs/rng"
)

// Navigation is the task vmas/navigation: every agent reaches its own goal without touching the others, which it
// perceives by lidar only.
type Navigation struct {
	envs.Common
	Settings
	Agents             int     `json:"n_agents" range:"1..100" help:"number of agents, each with a goal"`
	Collisions         bool    `json:"collisions" help:"agents collide, pay a penalty and observe a lidar"`
	AgentsWithSameGoal int     `json:"agents_with_same_goal" range:"1..100" help:"number of agents in a group with one goal; 1: each agent has its own"`
	SplitGoals         bool    `json:"split_goals" help:"all agents are in goal groups; else the first agents_with_same_goal only"`
	ObserveAllGoals    bool    `json:"observe_all_goals" help:"agents observe the goals of all agents; else their own"`
	SharedReward       bool    `json:"shared_rew" help:"each agent is rewarded for the progress of all; else for its own"`
	LidarRange         float32 `json:"lidar_range" range:"0..1000" help:"range of the lidar, in world units"`
	AgentRadius        float32 `json:"agent_radius" range:"0.001..1000" help:"radius of an agent and arrival distance from its goal, in world units"`

	SpawningX        float32 `json:"world_spawning_x" conf:"omitdefault" range:"0.001..1000" help:"largest |x| of starts and goals, in world units"`
	SpawningY        float32 `json:"world_spawning_y" conf:"omitdefault" range:"0.001..1000" help:"largest |y| of starts and goals, in world units"`
	EnforceBounds    bool    `json:"enforce_bounds,omitzero" help:"agents cannot leave the field of their start"`
	LidarRays        int     `json:"n_lidar_rays" conf:"omitdefault" range:"0..1000" help:"number of equally spaced lidar rays of an agent"`
	CommsRange       float32 `json:"comms_range,omitzero" range:"0..1000" help:"largest distance of agents joined by a line in images, in world units; no effect on the task"`
	PosShaping       float32 `json:"pos_shaping_factor" conf:"omitdefault" range:"-1000000..1000000" help:"reward per world unit of approach to an agent's goal"`
	FinalReward      float32 `json:"final_reward" conf:"omitdefault" range:"-1000000..1000000" help:"reward of each step with all agents within 0.05 of their goals"`
	CollisionPenalty float32 `json:"agent_collision_penalty" conf:"omitdefault" range:"-1000000..1000000" help:"reward (negative) per step and touched agent"`
}

// DefaultNavigation returns the settings of BenchMARL 1.5.2 (conf/task/vmas/navigation.yaml).
func DefaultNavigation() Navigation {
	return Navigation{
		Common: envs.DefaultCommon(), Settings: DefaultSettings(),
		Agents: 3, Collisions: true, AgentsWithSameGoal: 1, LidarRange: 0.35, AgentRadius: 0.1,
		SpawningX: 1, SpawningY: 1, LidarRays: 12, PosShaping: 1, FinalReward: 0.01, CollisionPenalty: -1,
	}
}

func init() { envs.Register(DefaultNavigation()) }

// Kind, WithShared and WithDiscrete implement envs.Config and envs.Discretiser.
func (Navigation) Kind() string                           { return "vmas/navigation" }
func (n Navigation) WithShared(s envs.Common) envs.Config { n.Common = s; return n }
func (n Navigation) WithDiscrete(d Discrete) envs.Config  { n.Discrete = d; return n }

// Build makes the environment.
func (n Navigation) Build(seed uint64, workers int) (envs.Env, error) {
	return New(n.Kind(), n.Common, n.Settings, &navigation{Navigation: n}, seed, workers)
}

// place returns the agent whose goal position agent's goal shares: all goals of a group lie at one place.
func (n Navigation) place(agent int) int {
	switch {
	case n.SplitGoals:
		return agent / n.AgentsWithSameGoal
	case agent < n.AgentsWithSameGoal:
		return 0
	}
	return agent
}

// navigation implements Task. The goal of agent i is body i.
type navigation struct {
	Navigation
	field Vec     // area where agents and goals start
	order []Spawn // of placement: agents, then goals
}

func (n *navigation) Validate() error {
	if n.AgentsWithSameGoal > 1 && n.Collisions {
		return fmt.Errorf("agents_with_same_goal is %d, but colliding agents cannot share a goal; set collisions=false",
			n.AgentsWithSameGoal)
	}
	if n.AgentsWithSameGoal > n.Agents {
		return fmt.Errorf("agents_with_same_goal is %d, want at most n_agents, %d", n.AgentsWithSameGoal, n.Agents)
	}
	if n.SplitGoals && 2*n.AgentsWithSameGoal != n.Agents {
		return fmt.Errorf("split_goals is true, but agents_with_same_goal is %d of n_agents %d; want half of them",
			n.AgentsWithSameGoal, n.Agents)
	}
	gap := 2*n.AgentRadius + navigationGoalRadius
	n.field = Vec{n.SpawningX, n.SpawningY}
	n.order = append(spawns(n.Agents, n.Agents, gap), spawns(0, n.Agents, gap)...)
	return crowded("n_agents or agent_radius, or increase world_spawning_x or world_spawning_y", n.field, n.order)
}

// Source: specification of VMAS 1.5.2; equal to its recordings (testdata/golden).
const navigationGoalRadius = 0.05

func (n *navigation) World() WorldSpec {
	s := DefaultWorld()
	s.Substeps, s.HalfSize = 2, max(n.SpawningX, n.SpawningY)
	if n.EnforceBounds {
		s.XLimit, s.YLimit = n.SpawningX, n.SpawningY
	}
	for i := range n.Agents {
		goal := Body{Name: fmt.Sprintf("goal %d", i), Shape: Sphere(navigationGoalRadius), Mass: 1}
		s.Landmarks = append(s.Landmarks, goal)
	}
	s.addAgents(n.Agents, n.AgentRadius, func(i int, a *Agent) {
		a.Collides = n.Collisions
		if n.Collisions {
			others := slices.Delete(numbers(n.Agents, n.Agents), i, i+1)
			a.Lidar = Lidar{Angles: Rays(n.LidarRays, 0, 2*math.Pi), Range: n.LidarRange, Sees: others}
		}
	})
	goals := 1
	if n.ObserveAllGoals {
		goals = n.Agents
	}
	s.Obs = 4 + 2*goals
	if n.Collisions {
		s.Obs += n.LidarRays
	}
	s.Entities = []envs.Entity{{Name: "agent", Kind: envs.Own, From: 0, To: s.Obs}} // the rays have no entity of their own
	for i := range goals {
		name := fmt.Sprintf("goal %d", i)
		s.Entities = append(s.Entities, envs.Entity{Name: name, Kind: envs.Object, From: 4 + 2*i, To: 6 + 2*i})
	}
	s.Memory = []Slot{
		{"pos_shaping", n.Agents}, {"pos_rew", n.Agents}, {"agent_collisions", n.Agents}, {"final_rew", 1}, {"start", 1},
	}
	return s
}

// navigationMemory is the memory of one environment.
type navigationMemory struct {
	shaping    []float32 // pos_shaping_factor × distance to the goal after the last step
	progress   []float32 // reward terms of the last step
	collisions []float32 // [N]
	final      *float32
	start      *float32 // sum over agents of the distance from success at the start of the episode
}

func (n *navigation) memory(w *World, c int) navigationMemory {
	m, k := w.Memory(c), n.Agents
	return navigationMemory{m[:k], m[k : 2*k], m[2*k : 3*k], &m[3*k], &m[3*k+1]}
}

func (n *navigation) Reset(w *World, c int, r *rng.Rand) {
	w.Scatter(c, r, n.field, n.order, 0)
	for i := n.Agents - 1; i >= 0; i-- { // backwards, because a group's place is its first goal's
		w.Place(c, i, w.Pos(c, n.place(i)))
	}
	m := n.memory(w, c)
	for i := range m.shaping {
		m.shaping[i] = n.PosShaping * n.toGoal(w, c, i)
	}
	*m.start = n.missing(w, c)
}

func (n *navigation) Observe(w *World, c, agent int, dst []float32) {
	self := w.Agent(agent)
	pos := w.Pos(c, self)
	at := put(dst, pos, w.Vel(c, self))
	if n.ObserveAllGoals {
		for i := range n.Agents {
			at += put(dst[at:], pos.Sub(w.Pos(c, i)))
		}
	} else {
		at += put(dst[at:], pos.Sub(w.Pos(c, agent)))
	}
	if n.Collisions {
		w.Lidar(c, agent, dst[at:])
		for i := range dst[at:] {
			dst[at+i] = n.LidarRange - dst[at+i]
		}
	}
}

// Reward rewards progress and joint arrival, and penalises collisions.
func (n *navigation) Reward(w *World, c int, dst []float32) {
	m := n.memory(w, c)
	sum, arrived := float32(0), true
	for i := range dst {
		d := n.toGoal(w, c, i)
		now := n.PosShaping * d
		m.progress[i], m.shaping[i] = m.shaping[i]-now, now
		sum += m.progress[i]
		arrived = arrived && d < navigationGoalRadius
	}
	*m.final = 0
	if arrived {
		*m.final = n.FinalReward
	}
	n.countCollisions(w, c, m.collisions)
	for i := range dst {
		if n.SharedReward {
			m.progress[i] = sum
		}
		dst[i] = m.progress[i] + *m.final + m.collisions[i]
	}
}

// countCollisions fills dst [N] with each agent's penalties.
//
// Deviation: the original counts a pair from a gap of 0.005 on, but only while their bounding circles overlap in any
// environment of the batch. Here they must overlap in environment c, as in a batch of one. In random play this counts
// 0.95 times the collisions of a batch of 64; counting every gap below 0.005 would give 1.4 times.
func (n *navigation) countCollisions(w *World, c int, dst []float32) {
	clear(dst)
	if !n.Collisions {
		return
	}
	for i := range dst {
		for j := range i {
			if w.Distance(c, w.Agent(i), w.Agent(j)) <= 0 {
				dst[i] += n.CollisionPenalty
				dst[j] += n.CollisionPenalty
			}
		}
	}
}

// Outcome: success is every agent within its own radius of its goal.
func (n *navigation) Outcome(w *World, c int) (success, over bool) {
	for i := range n.Agents {
		if n.toGoal(w, c, i) >= n.AgentRadius {
			return false, false
		}
	}
	return true, true
}

// Progress is the fraction of all agents' total distance to their goals that is covered.
func (n *navigation) Progress(w *World, c int) float32 {
	return 1 - n.missing(w, c)/(*n.memory(w, c).start)
}

func (n *navigation) missing(w *World, c int) float32 {
	sum := float32(0)
	for i := range n.Agents {
		sum += max(0, n.toGoal(w, c, i)-n.AgentRadius)
	}
	return sum
}

func (n *navigation) toGoal(w *World, c, agent int) float32 {
	return w.Pos(c, w.Agent(agent)).Sub(w.Pos(c, agent)).Norm()
}

// Script steers to the goal and avoids the other agents, except for agents without a lidar.
func (n *navigation) Script(w *World, c, agent int) Vec {
	return w.steer(c, agent, w.Pos(c, agent), Vec{}, w.spec.Agents[agent].Lidar.Sees, 0.05)
}

// Paint draws a line between agents within communication range.
func (n *navigation) Paint(w *World, c int, scene *envs.Scene) { w.link(c, n.CommsRange, scene) }
