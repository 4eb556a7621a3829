// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"errors"
	"fmt"
	"math"

	"cermic/envs"
	"cermic/envs/rng"
)

// GiveWay is the task vmas/give_way: two agents swap sides of a corridor that fits one of them. In its middle a niche
// lets one give way. Actions are velocities, which a controller follows.
type GiveWay struct {
	envs.Common
	Settings
	MirrorPassage    bool    `json:"mirror_passage"`     // a second niche below the corridor; not available
	ObserveRelPos    bool    `json:"observe_rel_pos"`    // agents perceive where the other one is
	DoneOnCompletion bool    `json:"done_on_completion"` // the episode ends when both have arrived
	FinalReward      float32 `json:"final_reward"`       // of each step in which both are at their goals
}

// DefaultGiveWay returns the settings of BenchMARL 1.5.2 (conf/task/vmas/give_way.yaml).
func DefaultGiveWay() GiveWay {
	return GiveWay{Common: envs.DefaultCommon(), Settings: DefaultSettings(), FinalReward: 0.01}
}

func init() { envs.Register(DefaultGiveWay()) }

// Kind is the task's name.
func (GiveWay) Kind() string { return "vmas/give_way" }

// WithShared returns a copy with the settings that every task has.
func (g GiveWay) WithShared(s envs.Common) envs.Config { g.Common = s; return g }

// WithDiscrete returns a copy with another action set.
func (g GiveWay) WithDiscrete(d Discrete) envs.Config { g.Discrete = d; return g }

// Build makes the environment.
func (g GiveWay) Build(seed uint64, workers int) (envs.Env, error) {
	if g.MirrorPassage {
		return nil, errors.New("vmas/give_way: mirror_passage is true, but this corridor has one niche only; want false")
	}
	if err := wantReward(g.Kind(), "final_reward", g.FinalReward); err != nil {
		return nil, err
	}
	return New(g.Kind(), g.Common, g.Settings, &giveWay{g}, seed, workers)
}

// giveWay is the task's behaviour.
type giveWay struct{ GiveWay }

var (
	_ Task       = (*giveWay)(nil)
	_ Controller = (*giveWay)(nil)
	_ Progresser = (*giveWay)(nil)
	_ Scripter   = (*giveWay)(nil)
	_ Painter    = (*giveWay)(nil)
)

// Bodies, before the agents. The goal of agent i is body giveWayGoal + i.
const (
	giveWayGoal     = 0
	giveWayWall     = 2 // at both ends
	giveWayCeiling  = 4 // left and right of the niche
	giveWaySide     = 6 // of the niche
	giveWayNicheTop = 8
	giveWayFloor    = 9
)

// Memory, in the order of WorldSpec.Memory.
const (
	giveWayShaping    = 0 // distance of each agent to its goal after the last step
	giveWayArrived    = 2 // 1 if both are at their goals
	giveWaySumErrors  = 3 // of each agent's controller: sum of velocity errors over time, as a vector
	giveWayLastError  = 7 // of each agent's controller: velocity error in the step before, as a vector
	giveWayPosReward  = 11
	giveWayGoalReward = 12
	giveWayStart      = 13 // of both agents together at the start of the episode: distance to the goals' edges
)

// From: VMAS 1.5.2, scenarios/give_way.py
const (
	giveWayRadius     = 0.16
	giveWayGoalRadius = 0.08
	giveWaySpeed      = 0.5  // fastest command
	giveWaySlowest    = 0.08 // commands below it count as 0
	giveWayDt         = 0.05
)

// From: VMAS 1.5.2, the velocity controller with the parameters of the task
const (
	giveWayGain           = 2
	giveWayIntegralTime   = 6     // seconds
	giveWayDerivativeTime = 0.002 // seconds
	giveWayWindUp         = 33    // limit of the sum of errors
	giveWayRest           = 1e-3  // commands below it make the controller forget
)

func (g *giveWay) World() WorldSpec {
	s := DefaultWorld()
	s.Dt, s.Substeps, s.Drag, s.LinearFriction, s.CollisionForce = giveWayDt, 5, 0, 0.1, 500
	s.HalfSize = 2.5
	for i := range 2 {
		s.Landmarks = append(s.Landmarks, Body{Name: fmt.Sprintf("goal_%d", i), Shape: Sphere(giveWayGoalRadius), Mass: 1})
	}
	for _, wall := range []struct {
		name   string
		length float32
	}{
		{"wall 0", 0.4}, {"wall 1", 0.4}, {"ceil 1 0", 2.3}, {"ceil 1 1", 2.3},
		{"ceil 2 0", 0.48}, {"ceil 2 1", 0.48}, {"ceil 2 2", 0.4}, {"floor", 5},
	} {
		s.Landmarks = append(s.Landmarks, Body{Name: wall.name, Shape: Line(wall.length), Mass: 1, Collides: true})
	}
	friction := float32(0.1)
	for i := range 2 {
		a := DefaultAgent(fmt.Sprintf("agent_%d", i), giveWayRadius)
		a.Rotatable, a.Range, a.MaxForceXY = false, giveWaySpeed, 1.1
		a.LinearFriction, a.MaxVelocity = &friction, giveWaySpeed
		s.Agents = append(s.Agents, a)
	}
	s.Obs = 4
	s.Entities = []envs.Entity{{Name: "agent", Kind: envs.Own, From: 0, To: 4}}
	if g.ObserveRelPos {
		s.Obs = 6
		s.Entities = append(s.Entities, envs.Entity{Name: "other", Kind: envs.Ally, From: 4, To: 6})
	}
	s.Memory = []Slot{
		{"shaping", 2}, {"goal_reached", 1}, {"ctrl_accum_errs", 4}, {"ctrl_prev_err", 4}, {"pos_rew", 1}, {"final_rew", 1},
		{"start", 1},
	}
	// The goals are 4.21 m away, at most 0.5 m/s: out of reach within the benchmark's 100 steps of 0.05 s.
	s.SparseMax = 500
	return s
}

func (g *giveWay) Reset(w *World, c int, r *rng.Rand) {
	const noise = 0.02
	for i, side := range [2]float32{-1, 1} {
		w.Place(c, w.Agent(i), Vec{side*2 + r.Uniform(-noise, noise), r.Uniform(-noise, noise)})
		w.Place(c, giveWayGoal+i, Vec{-side * 2.29, 0})
		w.Place(c, giveWayWall+i, Vec{side * 2.5, 0})
		w.Rotate(c, giveWayWall+i, math.Pi/2)
		w.Place(c, giveWayCeiling+i, Vec{-side * 1.35, 0.2})
		w.Place(c, giveWaySide+i, Vec{side * 0.2, 0.44})
		w.Rotate(c, giveWaySide+i, math.Pi/2)
	}
	w.Place(c, giveWayNicheTop, Vec{0, 0.68})
	w.Place(c, giveWayFloor, Vec{0, -0.2})
	m := w.Memory(c)
	for i := range 2 {
		m[giveWayShaping+i] = g.toGoal(w, c, i)
	}
	m[giveWayStart] = g.way(w, c)
}

// Control is a velocity controller in the standard form of PID: F = K·(e + ∫e/Ti + Td·ė), per unit of mass.
func (g *giveWay) Control(w *World, c, agent int, u Vec) Vec {
	u = u.Shorten(giveWaySpeed)
	if u.Norm() < giveWaySlowest {
		u = Vec{}
	}
	m := w.Memory(c)
	sum, last := m[giveWaySumErrors+2*agent:][:2], m[giveWayLastError+2*agent:][:2]
	if u.Norm() < giveWayRest {
		clear(sum)
		clear(last)
	}
	e := u.Sub(w.Vel(c, w.Agent(agent)))
	area := Vec{sum[0], sum[1]}.Add(e.Mul(giveWayDt)).Clamp(giveWayWindUp)
	slope := e.Sub(Vec{last[0], last[1]}).Mul(1 / float32(giveWayDt))
	put(sum, area)
	put(last, e)
	return e.Add(area.Mul(1 / float32(giveWayIntegralTime))).Add(slope.Mul(giveWayDerivativeTime)).Mul(giveWayGain)
}

func (g *giveWay) Observe(w *World, c, agent int, dst []float32) {
	self := w.Agent(agent)
	pos := w.Pos(c, self)
	put(dst, pos, w.Vel(c, self))
	if g.ObserveRelPos {
		put(dst[4:], pos.Sub(w.Pos(c, w.Agent(1-agent))))
	}
}

func (g *giveWay) Reward(w *World, c int, dst []float32) {
	m := w.Memory(c)
	m[giveWayPosReward], m[giveWayArrived], m[giveWayGoalReward] = 0, 1, g.FinalReward
	for i := range 2 {
		d := g.toGoal(w, c, i)
		m[giveWayPosReward] += m[giveWayShaping+i] - d
		m[giveWayShaping+i] = d
		if !(d < giveWayGoalRadius) {
			m[giveWayArrived], m[giveWayGoalReward] = 0, 0
		}
	}
	for i := range dst {
		dst[i] = m[giveWayPosReward] + m[giveWayGoalReward]
	}
}

// Outcome: a success is both agents at their goals.
func (g *giveWay) Outcome(w *World, c int) (success, over bool) {
	arrived := w.Memory(c)[giveWayArrived] != 0
	return arrived, arrived && g.DoneOnCompletion
}

// Progress is the share of both agents' ways, together, to the edges of their goals.
func (g *giveWay) Progress(w *World, c int) float32 { return 1 - g.way(w, c)/w.Memory(c)[giveWayStart] }

func (g *giveWay) way(w *World, c int) (sum float32) {
	for i := range 2 {
		sum += max(0, g.toGoal(w, c, i)-giveWayGoalRadius)
	}
	return sum
}

func (g *giveWay) toGoal(w *World, c, agent int) float32 {
	return w.Pos(c, w.Agent(agent)).Sub(w.Pos(c, giveWayGoal+agent)).Norm()
}

// Paint cuts the picture to the height of the corridor with its niche.
func (g *giveWay) Paint(_ *World, _ int, scene *envs.Scene) { scene.MinY, scene.MaxY = -0.35, 0.85 }
