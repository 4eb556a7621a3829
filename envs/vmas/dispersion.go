// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"

	"cermic/envs"
	"cermic/envs/rng"
)

// Dispersion is the task vmas/dispersion: agents start at the centre and eat scattered food, ideally one piece each.
type Dispersion struct {
	envs.Common
	Settings
	Agents         int     `json:"n_agents" range:"1..100" help:"number of agents"`
	Food           int     `json:"n_food" range:"1..100" help:"number of pieces of food"`
	SharedReward   bool    `json:"share_reward" help:"each agent is rewarded for every eaten piece; else the touching agents share 1"`
	FoodRadius     float32 `json:"food_radius" range:"0.001..1000" help:"radius of a piece of food, in world units"`
	PenaliseByTime bool    `json:"penalise_by_time" help:"a step without reward costs 0.01; success is then undefined"`
	PosRange       float32 `json:"pos_range" conf:"omitdefault" range:"0.001..1000" help:"half side of the square in which food lies, in world units"`
}

// DefaultDispersion returns the settings of BenchMARL 1.5.2 (conf/task/vmas/dispersion.yaml).
func DefaultDispersion() Dispersion {
	return Dispersion{
		Common: envs.DefaultCommon(), Settings: DefaultSettings(),
		Agents: 4, Food: 4, SharedReward: true, FoodRadius: 0.02, PosRange: 1,
	}
}

func init() { envs.Register(DefaultDispersion()) }

// Kind, WithShared and WithDiscrete implement envs.Config and envs.Discretiser.
func (Dispersion) Kind() string                            { return "vmas/dispersion" }
func (d Dispersion) WithShared(s envs.Common) envs.Config  { d.Common = s; return d }
func (d Dispersion) WithDiscrete(set Discrete) envs.Config { d.Discrete = set; return d }

// Build makes the environment.
func (d Dispersion) Build(seed uint64, workers int) (envs.Env, error) {
	return New(d.Kind(), d.Common, d.Settings, &dispersion{d}, seed, workers)
}

// dispersion implements Task. The pieces of food are the first bodies; memory stores for each piece whether it is
// eaten (0 or 1).
type dispersion struct{ Dispersion }

// Source: specification of VMAS 1.5.2; equal to its recordings (testdata/golden).
const (
	dispersionAgentRadius = 0.035
	dispersionTimeCost    = -0.01
)

func (d *dispersion) World() WorldSpec {
	s := DefaultWorld()
	s.XLimit, s.YLimit, s.HalfSize = d.PosRange, d.PosRange, d.PosRange
	s.Entities = []envs.Entity{{Name: "agent", Kind: envs.Own, From: 0, To: 4}}
	for i := range d.Food {
		name := fmt.Sprintf("food_%d", i)
		s.Landmarks = append(s.Landmarks, Body{Name: name, Shape: Sphere(d.FoodRadius), Mass: 1})
		s.Entities = append(s.Entities, envs.Entity{Name: name, Kind: envs.Object, From: 4 + 3*i, To: 7 + 3*i})
	}
	s.addAgents(d.Agents, dispersionAgentRadius, func(_ int, a *Agent) { a.Collides = false })
	s.Obs = 4 + 3*d.Food
	s.Memory = []Slot{{"eaten", d.Food}}
	s.SparseIsDense = true
	if !d.PenaliseByTime {
		s.Solved = d.fullReturn()
	}
	return s
}

// fullReturn is an agent's average return when all food is eaten; agents that eat a piece together share a reward of
// 1.
func (d *dispersion) fullReturn() float32 {
	if d.SharedReward {
		return float32(d.Food)
	}
	return float32(d.Food) / float32(d.Agents)
}

// Reset scatters the food and leaves the agents at the centre.
func (d *dispersion) Reset(w *World, c int, r *rng.Rand) {
	for food := range d.Food {
		w.Place(c, food, Vec{r.Uniform(-d.PosRange, d.PosRange), r.Uniform(-d.PosRange, d.PosRange)})
	}
}

func (d *dispersion) Observe(w *World, c, agent int, dst []float32) {
	self := w.Agent(agent)
	pos := w.Pos(c, self)
	at := put(dst, pos, w.Vel(c, self))
	for food, eaten := range w.Memory(c) {
		at += put(dst[at:], w.Pos(c, food).Sub(pos))
		dst[at] = eaten
		at++
	}
}

// Reward rewards food touched for the first time and marks it as eaten.
func (d *dispersion) Reward(w *World, c int, dst []float32) {
	clear(dst)
	for food, eaten := range w.Memory(c) {
		if eaten != 0 {
			continue
		}
		eaters := 0
		for agent := range dst {
			if d.reaches(w, c, agent, food) {
				eaters++
			}
		}
		if eaters > 0 {
			w.Memory(c)[food] = 1
			d.share(w, c, food, eaters, dst)
		}
	}
	if !d.PenaliseByTime {
		return
	}
	for i := range dst {
		if dst[i] == 0 {
			dst[i] = dispersionTimeCost
		}
	}
}

// share adds the reward for one piece of food.
func (d *dispersion) share(w *World, c, food, eaters int, dst []float32) {
	for agent := range dst {
		switch {
		case d.SharedReward:
			dst[agent]++
		case d.reaches(w, c, agent, food):
			dst[agent] += 1 / float32(eaters)
		}
	}
}

func (d *dispersion) reaches(w *World, c, agent, food int) bool {
	return w.Pos(c, w.Agent(agent)).Sub(w.Pos(c, food)).Norm() < dispersionAgentRadius+d.FoodRadius
}

// Outcome: success is that all food is eaten.
func (d *dispersion) Outcome(w *World, c int) (success, over bool) {
	for _, eaten := range w.Memory(c) {
		if eaten == 0 {
			return false, false
		}
	}
	return true, true
}

// Script sends each agent to its own piece of food, then to the nearest remaining one.
func (d *dispersion) Script(w *World, c, agent int) Vec {
	self := w.Agent(agent)
	eaten, target := w.Memory(c), agent%d.Food
	if eaten[target] != 0 {
		for food := range d.Food {
			if eaten[food] == 0 && (eaten[target] != 0 || d.nearer(w, c, self, food, target)) {
				target = food
			}
		}
	}
	return w.spring(c, agent, w.Pos(c, target), 10, 3)
}

func (d *dispersion) nearer(w *World, c, to, a, b int) bool {
	return square(w.Pos(c, a).Sub(w.Pos(c, to))) < square(w.Pos(c, b).Sub(w.Pos(c, to)))
}

// Paint removes the eaten food from the scene.
func (d *dispersion) Paint(w *World, c int, scene *envs.Scene) {
	kept := scene.Shapes[:0]
	for food, eaten := range w.Memory(c) {
		if eaten == 0 {
			kept = append(kept, scene.Shapes[food])
		}
	}
	scene.Shapes = kept
}
