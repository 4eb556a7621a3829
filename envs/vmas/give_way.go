// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"

	"cermic/envs"
	"cermic/envs/rng"
)

// GiveWay is the task vmas/give_way: two agents swap sides of a corridor that fits one. A niche in the middle lets
// one of them give way. Actions are velocities for a controller, or forces.
type GiveWay struct {
	envs.Common
	Settings
	MirrorPassage    bool    `json:"mirror_passage" help:"the corridor has a second niche below"`
	ObserveRelPos    bool    `json:"observe_rel_pos" help:"agents observe the position of the other agent"`
	DoneOnCompletion bool    `json:"done_on_completion" help:"the episode ends when both agents have arrived"`
	FinalReward      float32 `json:"final_reward" range:"-1000000..1000000" help:"reward of each step with both agents at their goals"`

	BoxAgents      bool    `json:"box_agents,omitzero" help:"agents are boxes that do not rotate; else circles"`
	SpeedLimit     float32 `json:"v_range" conf:"omitdefault" range:"0.001..1000" help:"limit of each component of actual and commanded velocities, in metres a second"`
	Acceleration   float64 `json:"a_range" conf:"omitdefault" range:"0.001..1000" help:"limit of each force component, in newtons; with linear_friction"`
	LinearFriction float64 `json:"linear_friction" conf:"omitdefault" range:"0..1000" help:"friction of agents with the floor, as VMAS defines it"`
	ObsNoise       float32 `json:"obs_noise,omitzero" range:"0..1000" help:"bound of the uniform noise on each observed number; 0: none"`
	PosShaping     float32 `json:"pos_shaping_factor" conf:"omitdefault" range:"-1000000..1000000" help:"reward per world unit of approach to an agent's goal"`

	// The velocity controller. Without it, actions are forces, and SlowestInput and Delay have no effect.
	UseController bool    `json:"use_velocity_controller" conf:"omitdefault" help:"actions are velocities for a controller; else forces"`
	SlowestInput  float32 `json:"min_input_norm" conf:"omitdefault" range:"0..1000" help:"smallest commanded speed, in metres a second; slower counts as 0; with use_velocity_controller"`
	Delay         int     `json:"dt_delay,omitzero" range:"0..1000" help:"steps until a command takes effect; with use_velocity_controller"`

	// Rewards per step (negative to penalise) and the energy coefficient (positive to penalise).
	EnergyCost      float32 `json:"energy_rew_coeff,omitzero" range:"-1000000..1000000" help:"cost of a step at full force along both axes; a reward if negative"`
	AgentPenalty    float32 `json:"agent_collision_penalty,omitzero" range:"-1000000..1000000" help:"reward (negative) of both agents for each step in which they touch"`
	PassagePenalty  float32 `json:"passage_collision_penalty,omitzero" range:"-1000000..1000000" help:"reward (negative) per step and touched wall of a niche"`
	ObstaclePenalty float32 `json:"obstacle_collision_penalty,omitzero" range:"-1000000..1000000" help:"reward (negative) per step and touched wall, except the niche's"`
}

// DefaultGiveWay returns the settings of BenchMARL 1.5.2 (conf/task/vmas/give_way.yaml).
func DefaultGiveWay() GiveWay {
	return GiveWay{
		Common: envs.DefaultCommon(), Settings: DefaultSettings(), FinalReward: 0.01,
		SpeedLimit: 0.5, Acceleration: 1, LinearFriction: 0.1, PosShaping: 1, UseController: true, SlowestInput: 0.08,
	}
}

func init() { envs.Register(DefaultGiveWay()) }

// Kind, WithShared and WithDiscrete implement envs.Config and envs.Discretiser.
func (GiveWay) Kind() string                           { return "vmas/give_way" }
func (g GiveWay) WithShared(s envs.Common) envs.Config { g.Common = s; return g }
func (g GiveWay) WithDiscrete(d Discrete) envs.Config  { g.Discrete = d; return g }

// Build makes the environment.
func (g GiveWay) Build(seed uint64, workers int) (envs.Env, error) {
	return New(g.Kind(), g.Common, g.Settings, &giveWay{g, float32(g.force()), float32(30 * g.force())}, seed, workers)
}

// force is the limit of each component of an agent's force, in newtons.
func (g GiveWay) force() float64 { return g.Acceleration + g.LinearFriction }

// giveWay implements Task.
type giveWay struct {
	GiveWay
	strongest float32 // limit of each force component
	windUp    float32 // limit of each component of the controller's integral
}

func (g *giveWay) Validate() error {
	if g.Common.Reward == envs.Sparse && g.UseController && g.SlowestInput > g.SpeedLimit {
		return fmt.Errorf("min_input_norm is %g and v_range %g, so every command counts as 0; "+
			"set min_input_norm to at most v_range, or reward=dense", g.SlowestInput, g.SpeedLimit)
	}
	return nil
}

// Body numbers; agents follow. The goal of agent i is body giveWayGoal + i.
const (
	giveWayGoal     = 0
	giveWayWall     = 2 // at both ends
	giveWayCeiling  = 4 // left and right of the niche
	giveWaySide     = 6 // of the niche
	giveWayNicheTop = 8
	giveWayFloor    = 9 // with one niche
	giveWayMirror   = 9 // with two niches: the five lines of the lower one, in the order of the upper one's
)

// Offsets into an environment's memory, in the order of WorldSpec.Memory.
const (
	giveWayShaping    = 0 // pos_shaping_factor × distance of each agent to its goal after the last step
	giveWayArrived    = 2 // 1 if both agents are at their goals
	giveWaySumErrors  = 3 // of each agent's controller: integral of velocity errors, as a vector
	giveWayLastError  = 7 // of each agent's controller: previous velocity error, as a vector
	giveWayPosReward  = 11
	giveWayGoalReward = 12
	giveWayStart      = 13 // summed distance of both agents to their goals' edges at the start of the episode
	giveWayEnergy     = 14 // of each agent: reward terms of the last step
	giveWayAgents     = 16
	giveWayObstacles  = 18
	giveWayQueue      = 20 // of each agent: the actions of the last dt_delay steps, oldest first, as vectors
)

// Source: specification of VMAS 1.5.2; equal to its recordings (testdata/golden).
const (
	giveWayRadius     = 0.16
	giveWayGoalRadius = 0.08
	giveWayDt         = 0.05
	giveWayTouch      = 0.005 // largest gap between surfaces that counts as a contact
)

// giveWayBox is the shape of box agents.
// Source: specification of VMAS 1.5.2; equal to its recordings (testdata/golden).
var giveWayBox = Box(0.32, 0.24)

// Velocity controller with the task's parameters.
const (
	giveWayGain           = 2
	giveWayIntegralTime   = 6     // seconds
	giveWayDerivativeTime = 0.002 // seconds
	giveWayRest           = 1e-3  // smaller commands reset the controller
)

func (g *giveWay) World() WorldSpec {
	s := DefaultWorld()
	s.Dt, s.Substeps, s.Drag, s.LinearFriction, s.CollisionForce = giveWayDt, 5, 0, float32(g.LinearFriction), 500
	if g.BoxAgents {
		s.Substeps, s.CollisionForce = 16, 10000
	}
	s.HalfSize = 2.5
	for i := range 2 {
		s.Landmarks = append(s.Landmarks, Body{Name: fmt.Sprintf("goal_%d", i), Shape: Sphere(giveWayGoalRadius), Mass: 1})
	}
	g.addLines(&s)
	friction := float32(g.LinearFriction)
	s.addAgents(2, giveWayRadius, func(_ int, a *Agent) {
		if g.BoxAgents {
			a.Shape = giveWayBox
		}
		a.Rotatable, a.Range, a.MaxForceXY = false, g.SpeedLimit, g.strongest
		if !g.UseController {
			a.Range = g.strongest
		}
		a.LinearFriction, a.MaxVelocity = &friction, g.SpeedLimit
	})
	s.Obs, s.ObsNoise = 4, g.ObsNoise
	s.Entities = []envs.Entity{{Name: "agent", Kind: envs.Own, From: 0, To: 4}}
	if g.ObserveRelPos {
		s.Obs = 6
		s.Entities = append(s.Entities, envs.Entity{Name: "other", Kind: envs.Ally, From: 4, To: 6})
	}
	s.Memory = []Slot{
		{"shaping", 2}, {"goal_reached", 1}, {"ctrl_accum_errs", 4}, {"ctrl_prev_err", 4}, {"pos_rew", 1}, {"final_rew", 1},
		{"start", 1}, {"energy_rew", 2}, {"agent_collision_rew", 2}, {"obstacle_collision_rew", 2},
	}
	if g.UseController && g.Delay > 0 {
		s.Memory = append(s.Memory, Slot{"input_queue", 4 * g.Delay})
		s.Kept = 4 * g.Delay
	}
	// At 0.5 m/s the goals, 4.21 m away, are out of reach within the benchmark's 100 steps of 0.05 s. Slower agents
	// get proportionally more steps.
	s.SparseMax = int(500 * max(1, 0.5/g.SpeedLimit))
	return s
}

// addLines adds the lines that bound the corridor and its niches, in the order of their body numbers.
func (g *giveWay) addLines(s *WorldSpec) {
	add := func(name string, length float32) {
		s.Landmarks = append(s.Landmarks, Body{Name: name, Shape: Line(length), Mass: 1, Collides: true})
	}
	addNiche := func(ceiling, niche string) {
		add(ceiling+" 0", 2.3)
		add(ceiling+" 1", 2.3)
		add(niche+" 0", 0.48)
		add(niche+" 1", 0.48)
		add(niche+" 2", 0.4)
	}
	add("wall 0", 0.4)
	add("wall 1", 0.4)
	addNiche("ceil 1", "ceil 2")
	if g.MirrorPassage {
		addNiche("ceil 12", "ceil 22")
	} else {
		add("floor", 5)
	}
}

func (g *giveWay) Reset(w *World, c int, r *rng.Rand) {
	const noise = 0.02
	for i, side := range [2]float32{-1, 1} {
		w.Place(c, w.Agent(i), Vec{side*2 + r.Uniform(-noise, noise), r.Uniform(-noise, noise)})
		w.Place(c, giveWayGoal+i, Vec{-side * 2.29, 0})
		w.Place(c, giveWayWall+i, Vec{side * 2.5, 0})
		w.Rotate(c, giveWayWall+i, math.Pi/2)
	}
	g.placeNiche(w, c, giveWayCeiling, 1)
	if g.MirrorPassage {
		g.placeNiche(w, c, giveWayMirror, -1)
	} else {
		w.Place(c, giveWayFloor, Vec{0, -0.2})
	}
	m := w.Memory(c)
	for i := range 2 {
		m[giveWayShaping+i] = g.PosShaping * g.toGoal(w, c, i)
	}
	m[giveWayStart] = g.way(w, c)
}

// placeNiche places the five lines of a niche, starting at body first, above (up = 1) or below (−1) the corridor.
func (g *giveWay) placeNiche(w *World, c, first int, up float32) {
	for i, side := range [2]float32{-1, 1} {
		w.Place(c, first+i, Vec{-side * 1.35, up * 0.2})
		w.Place(c, first+2+i, Vec{side * 0.2, up * 0.44})
		w.Rotate(c, first+2+i, math.Pi/2)
	}
	w.Place(c, first+4, Vec{0, up * 0.68})
}

// Control is a PID velocity controller in standard form, F = K·(e + ∫e/Ti + Td·ė) per unit of mass. Without it, the
// action is the force.
func (g *giveWay) Control(w *World, c, agent int, u Vec) Vec {
	if !g.UseController {
		return u
	}
	m := w.Memory(c)
	if g.Delay > 0 {
		u = g.delayed(m, agent, u)
	}
	u = u.Shorten(g.SpeedLimit)
	if u.Norm() < g.SlowestInput {
		u = Vec{}
	}
	sum, last := m[giveWaySumErrors+2*agent:][:2], m[giveWayLastError+2*agent:][:2]
	if u.Norm() < giveWayRest {
		clear(sum)
		clear(last)
	}
	e := u.Sub(w.Vel(c, w.Agent(agent)))
	area := Vec{sum[0], sum[1]}.Add(e.Mul(giveWayDt)).Clamp(g.windUp)
	slope := e.Sub(Vec{last[0], last[1]}).Mul(1 / float32(giveWayDt))
	put(sum, area)
	put(last, e)
	return e.Add(area.Mul(1 / float32(giveWayIntegralTime))).Add(slope.Mul(giveWayDerivativeTime)).Mul(giveWayGain)
}

// delayed returns the action of dt_delay steps ago and stores u. An episode starts with the last actions of the
// previous one, as in the original; only the very first starts with none.
func (g *giveWay) delayed(m []float32, agent int, u Vec) Vec {
	queue := m[giveWayQueue+2*g.Delay*agent:][:2*g.Delay]
	oldest := Vec{queue[0], queue[1]}
	copy(queue, queue[2:])
	put(queue[len(queue)-2:], u)
	return oldest
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
		now := g.PosShaping * d
		m[giveWayPosReward] += m[giveWayShaping+i] - now
		m[giveWayShaping+i] = now
		if !(d < giveWayGoalRadius) {
			m[giveWayArrived], m[giveWayGoalReward] = 0, 0
		}
	}
	g.charge(w, c)
	for i := range dst {
		dst[i] = m[giveWayPosReward] + m[giveWayGoalReward] + m[giveWayAgents+i] + m[giveWayObstacles+i] + m[giveWayEnergy+i]
	}
}

// charge stores each agent's energy and collision terms.
func (g *giveWay) charge(w *World, c int) {
	m := w.Memory(c)
	clear(m[giveWayEnergy:giveWayQueue])
	if g.AgentPenalty != 0 && w.Distance(c, w.Agent(0), w.Agent(1)) <= giveWayTouch {
		m[giveWayAgents], m[giveWayAgents+1] = g.AgentPenalty, g.AgentPenalty
	}
	for i := range 2 {
		if g.EnergyCost != 0 {
			m[giveWayEnergy+i] = -g.EnergyCost * w.Control(c, i).Norm() / (math.Sqrt2 * g.strongest)
		}
		if g.PassagePenalty == 0 && g.ObstaclePenalty == 0 {
			continue
		}
		for b := giveWayWall; b < w.landmarks; b++ {
			penalty := g.ObstaclePenalty
			if g.ofNiche(b) {
				penalty = g.PassagePenalty
			}
			if penalty != 0 && w.Near(c, w.Agent(i), b) && w.Distance(c, w.Agent(i), b) <= giveWayTouch {
				m[giveWayObstacles+i] += penalty
			}
		}
	}
}

// ofNiche reports whether a line is a side or the end of a niche.
func (g *giveWay) ofNiche(b int) bool {
	return giveWaySide <= b && b <= giveWayNicheTop || g.MirrorPassage && b >= giveWayMirror+2
}

// Outcome: success is both agents at their goals.
func (g *giveWay) Outcome(w *World, c int) (success, over bool) {
	arrived := w.Memory(c)[giveWayArrived] != 0
	return arrived, arrived && g.DoneOnCompletion
}

// Progress is the fraction of both agents' total distance to the edges of their goals that is covered.
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

// Paint crops the scene to the height of the corridor and its niches.
func (g *giveWay) Paint(_ *World, _ int, scene *envs.Scene) {
	scene.MinY, scene.MaxY = -0.35, 0.85
	if g.MirrorPassage {
		scene.MinY = -0.85
	}
}

// Script parks agent 0 in the upper niche until agent 1, which waits outside, has passed below. Its actions are
// velocities for the controller.
func (g *giveWay) Script(w *World, c, agent int) Vec {
	const (
		gain    = 4    // the slowest command corresponds to 0.02 m
		niche   = 0.45 // height at which the other agent fits below
		waiting = 0.4  // distance from the middle that leaves room to enter the niche
	)
	yielding, passing := w.Pos(c, w.Agent(0)), w.Pos(c, w.Agent(1))
	passed := passing.X < yielding.X-2*giveWayRadius
	self, target := w.Pos(c, w.Agent(agent)), w.Pos(c, giveWayGoal+agent)
	switch {
	case agent == 1 && !passed && yielding.Y < niche-0.1:
		target.X = waiting
	case agent == 0 && !passed && abs(self.X) < 0.15:
		target = Vec{0, niche}
	case agent == 0 && !passed:
		target.X = 0
	case agent == 0 && self.Y > 0.1:
		target = Vec{0, 0}
	}
	return target.Sub(self).Mul(gain)
}
