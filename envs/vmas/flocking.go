// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"
	"slices"

	"cermic/envs"
	"cermic/envs/rng"
)

// Flocking is the task vmas/flocking: agents keep close to each other and to a target that moves in a circle. They
// must not touch each other or the obstacles, which they perceive by lidar.
type Flocking struct {
	envs.Common
	Settings
	Agents          int     `json:"n_agents" range:"1..100" help:"number of agents"`
	Obstacles       int     `json:"n_obstacles" range:"0..100" help:"number of obstacles"`
	CollisionReward float32 `json:"collision_reward" range:"-1000000..1000000" help:"reward (negative) per step and touched agent"`
	MinDistance     float32 `json:"min_dist_between_entities" conf:"omitdefault" range:"0..1000" help:"least distance of two centres at the start of an episode, in world units"`
	LidarRays       int     `json:"n_lidar_rays" conf:"omitdefault" range:"1..1000" help:"number of equally spaced lidar rays of an agent"`
	DistShaping     float32 `json:"dist_shaping_factor" conf:"omitdefault" range:"-1000000..1000000" help:"reward per unit decrease of the agents' distances from each other"`
}

// DefaultFlocking returns the settings of BenchMARL 1.5.2 (conf/task/vmas/flocking.yaml).
func DefaultFlocking() Flocking {
	return Flocking{
		Common: envs.DefaultCommon(), Settings: DefaultSettings(),
		Agents: 4, Obstacles: 5, CollisionReward: -0.1, MinDistance: 0.15, LidarRays: 12, DistShaping: 1,
	}
}

func init() { envs.Register(DefaultFlocking()) }

// Kind, WithShared and WithDiscrete implement envs.Config and envs.Discretiser.
func (Flocking) Kind() string                           { return "vmas/flocking" }
func (f Flocking) WithShared(s envs.Common) envs.Config { f.Common = s; return f }
func (f Flocking) WithDiscrete(d Discrete) envs.Config  { f.Discrete = d; return f }

// Build makes the environment.
func (f Flocking) Build(seed uint64, workers int) (envs.Env, error) {
	return New(f.Kind(), f.Common, f.Settings, &flocking{Flocking: f}, seed, workers)
}

// flocking implements Task. The obstacles are the first bodies; the target is the first agent.
type flocking struct {
	Flocking
	order []Spawn // of placement: target, obstacles, agents
}

func (f *flocking) Validate() error {
	if f.Common.Reward == envs.Sparse && f.Agents > flockingMost {
		return fmt.Errorf("n_agents is %d and reward is sparse, but at most %d agents can form a flock; "+
			"set reward=dense, or n_agents to 1 to %d", f.Agents, flockingMost, flockingMost)
	}
	f.order = slices.Concat(spawns(f.Obstacles, 1, 0), spawns(0, f.Obstacles, f.MinDistance),
		spawns(f.Obstacles+1, f.Agents, f.MinDistance))
	return crowded("n_agents, n_obstacles or min_dist_between_entities", flockingField, f.order)
}

// Source: specification of VMAS 1.5.2; equal to its recordings (testdata/golden).
const (
	flockingAgentRadius    = 0.05
	flockingObstacleRadius = 0.1
	flockingRange          = 0.2
	flockingDistance       = 0.1   // desired distance between centres
	flockingTouch          = 0.005 // largest gap between surfaces that counts as a contact
	flockingPeriod         = 30    // steps in which the target's direction turns by 1 radian
)

// flockingTight is the spread below which an agent counts as in the flock. The original has no success and never
// ends.
// Reading: the paper defines no success; at this spread all five bodies fit into a circle of diameter 0.3.
const flockingTight = 0.02

// flockingMost is the largest possible flock: in the densest packing, the worst agent's spread is 0.018 for 12 agents
// and 0.025 for 14.
const flockingMost = 12

// flockingField is the area where obstacles and agents start: |x|, |y| ≤ 1.
var flockingField = Vec{1, 1}

// flockingTarget is the target's agent number.
const flockingTarget = 0

func (f *flocking) World() WorldSpec {
	s := DefaultWorld()
	s.Substeps, s.CollisionForce = 5, 400
	for i := range f.Obstacles {
		name := fmt.Sprintf("obstacle_%d", i)
		s.Landmarks = append(s.Landmarks, Body{Name: name, Shape: Sphere(flockingObstacleRadius), Mass: 1, Collides: true})
	}
	target := DefaultAgent("target", flockingAgentRadius)
	target.Scripted = true
	s.Agents = []Agent{target}
	s.addAgents(f.Agents, flockingAgentRadius, func(_ int, a *Agent) {
		a.Lidar = Lidar{Angles: Rays(f.LidarRays, 0, 2*math.Pi), Range: flockingRange, Sees: numbers(0, f.Obstacles)}
	})
	s.Obs = 6 + f.LidarRays
	s.Entities = []envs.Entity{
		{Name: "agent", Kind: envs.Own, From: 0, To: s.Obs}, // the rays have no entity of their own
		{Name: "target", Kind: envs.Object, From: 4, To: 6},
	}
	s.Memory = []Slot{
		{"distance_shaping", f.Agents}, {"agent_distance_rew", f.Agents}, {"agent_collision_rew", f.Agents}, {"t", 1},
		{"start", 1}, {"spread", f.Agents},
	}
	return s
}

// flockingMemory is the memory of one environment.
type flockingMemory struct {
	shaping    []float32 // [N] dist_shaping_factor × spread
	closing    []float32 // reward terms of the last step
	collisions []float32 // [N]
	clock      *float32  // steps since the reset
	start      *float32  // excess of the largest spread over flockingTight at the start of the episode
	spread     []float32 // mean squared distance of each agent to all others, less the desired one, after the last step
}

func (f *flocking) memory(w *World, c int) flockingMemory {
	m, k := w.Memory(c), f.Agents
	return flockingMemory{m[:k], m[k : 2*k], m[2*k : 3*k], &m[3*k], &m[3*k+1], m[3*k+2:]}
}

func (f *flocking) Reset(w *World, c int, r *rng.Rand) {
	w.Place(c, w.Agent(flockingTarget), Vec{0, -1})
	w.Scatter(c, r, flockingField, f.order, 1)
	m := f.memory(w, c)
	f.measure(w, c, m.spread, nil)
	for i, spread := range m.spread {
		m.shaping[i] = f.DistShaping * spread
	}
	*m.start = f.missing(w, c)
}

// Control moves the target in a circle.
func (f *flocking) Control(w *World, c, agent int, u Vec) Vec {
	if agent == flockingTarget {
		return headingOf(*f.memory(w, c).clock / flockingPeriod)
	}
	return u
}

func (f *flocking) Observe(w *World, c, agent int, dst []float32) {
	self := w.Agent(agent)
	pos := w.Pos(c, self)
	at := put(dst, pos, w.Vel(c, self), pos.Sub(w.Pos(c, w.Agent(flockingTarget))))
	w.Lidar(c, agent, dst[at:])
}

// Reward rewards each agent for approaching the other agents and the target, and penalises contacts.
func (f *flocking) Reward(w *World, c int, dst []float32) {
	m := f.memory(w, c)
	*m.clock++
	f.measure(w, c, m.spread, m.collisions)
	for i := range dst {
		now := f.DistShaping * m.spread[i]
		m.closing[i], m.shaping[i] = m.shaping[i]-now, now
		dst[i] = m.closing[i] + m.collisions[i]
	}
}

// measure fills spread [N] and, unless it is nil, collisions [N].
func (f *flocking) measure(w *World, c int, spread, collisions []float32) {
	clear(spread)
	clear(collisions)
	for i := range w.agents {
		for j := range i {
			d := w.Pos(c, w.Agent(i)).Sub(w.Pos(c, w.Agent(j))).Norm()
			off := (d - flockingDistance) * (d - flockingDistance)
			touch := d-2*flockingAgentRadius <= flockingTouch
			for _, agent := range [2]int{i, j} {
				if agent == flockingTarget {
					continue
				}
				spread[agent-1] += off
				if touch && collisions != nil {
					collisions[agent-1] += f.CollisionReward
				}
			}
		}
	}
	for i := range spread {
		spread[i] /= float32(f.Agents) // the number of other agents plus the target
	}
}

// Outcome: success is that every agent is in the flock and none touches an obstacle. The episode goes on.
func (f *flocking) Outcome(w *World, c int) (success, over bool) {
	return f.missing(w, c) == 0 && !f.touchesObstacle(w, c), false
}

// touchesObstacle checks the agents only: the target follows its fixed path.
func (f *flocking) touchesObstacle(w *World, c int) bool {
	for i := range f.Agents {
		for obstacle := range f.Obstacles {
			if w.Distance(c, w.Agent(1+i), obstacle) <= flockingTouch {
				return true
			}
		}
	}
	return false
}

// Progress is the relative decrease of the largest excess spread.
func (f *flocking) Progress(w *World, c int) float32 {
	return 1 - f.missing(w, c)/(*f.memory(w, c).start)
}

// missing is the excess of the largest spread over flockingTight.
func (f *flocking) missing(w *World, c int) float32 {
	worst := float32(0)
	for _, spread := range f.memory(w, c).spread {
		worst = max(worst, spread)
	}
	return max(0, worst-flockingTight)
}

// Script steers to the agent's place in a ring around the target and avoids collisions. The target is as fast as the
// agents, so distant agents head for a meeting point.
func (f *flocking) Script(w *World, c, agent int) Vec {
	const room = 0.02
	target, self := w.Agent(flockingTarget), w.Pos(c, w.Agent(agent))
	ring := max(0.125, 0.065/float32(math.Sin(math.Pi/float64(max(2, f.Agents)))))
	place := headingOf(2 * math.Pi * float32(agent) / float32(f.Agents)).Mul(ring).Add(w.Pos(c, target))
	avoid := slices.Delete(numbers(0, w.count), w.Agent(agent), w.Agent(agent)+1)
	if steps := place.Sub(self).Norm() / flockingStride; steps > 10 {
		for range 4 { // converged after four iterations
			steps = place.Add(f.lead(w, c, steps)).Sub(self).Norm() / flockingStride
		}
		return w.steer(c, agent, place.Add(f.lead(w, c, steps)), Vec{}, avoid, room)
	}
	return w.steer(c, agent, place, w.Vel(c, target), avoid, room)
}

// flockingStride is the distance that the target, or an agent at full force along an axis, moves in a step.
const flockingStride = 0.04

// lead is the target's displacement after some steps, if nothing stops it.
func (f *flocking) lead(w *World, c int, steps float32) Vec {
	now := *f.memory(w, c).clock / flockingPeriod
	from, to := headingOf(now), headingOf(now+steps/flockingPeriod)
	return Vec{to.Y - from.Y, from.X - to.X}.Mul(flockingStride * flockingPeriod)
}
