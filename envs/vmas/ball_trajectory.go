// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"

	"cermic/envs"
	"cermic/envs/rng"
)

// BallTrajectory is the task vmas/ball_trajectory: two agents, joined by rods to a ball between them, keep it rolling
// at a given speed. Optional reward terms keep it on a circle and the agents close to it.
type BallTrajectory struct {
	envs.Common
	Settings
	Joints bool `json:"joints" help:"rods join the agents to the ball; else agents can only push it"`

	SpeedShaping float32 `json:"speed_shaping_factor" conf:"omitdefault" range:"-1000000..1000000" help:"reward per unit decrease of the error of the ball's speed"`
	PosShaping   float32 `json:"pos_shaping_factor,omitzero" range:"-1000000..1000000" help:"reward per unit decrease of the root of the ball's distance from the circle of radius 0.5"`
	DistShaping  float32 `json:"dist_shaping_factor,omitzero" range:"-1000000..1000000" help:"reward per world unit of approach to the ball, summed over agents"`
}

// DefaultBallTrajectory returns the settings of BenchMARL 1.5.2 (conf/task/vmas/ball_trajectory.yaml).
func DefaultBallTrajectory() BallTrajectory {
	b := BallTrajectory{Common: envs.DefaultCommon(), Settings: DefaultSettings(), Joints: true, SpeedShaping: 1}
	b.Reward = envs.Dense
	return b
}

func init() { envs.Register(DefaultBallTrajectory()) }

// Kind, WithShared and WithDiscrete implement envs.Config and envs.Discretiser.
func (BallTrajectory) Kind() string                           { return "vmas/ball_trajectory" }
func (b BallTrajectory) WithShared(s envs.Common) envs.Config { b.Common = s; return b }
func (b BallTrajectory) WithDiscrete(d Discrete) envs.Config  { b.Discrete = d; return b }

// Build makes the environment.
func (b BallTrajectory) Build(seed uint64, workers int) (envs.Env, error) {
	return New(b.Kind(), b.Common, b.Settings, &ballTrajectory{b}, seed, workers)
}

// ballTrajectory implements Task. Body 0 is the ball; the rods, if any, follow in the order of the agents.
type ballTrajectory struct{ BallTrajectory }

// Source: specification of VMAS 1.5.2; equal to its recordings (testdata/golden).
const (
	ballRadius      = 0.06
	ballAgents      = 2
	ballAgentRadius = 0.03
	ballRodLength   = 0.2
	ballSpeed       = 1   // desired speed
	ballCircle      = 0.5 // radius of the circle
)

// Offsets into an environment's memory, in the order of WorldSpec.Memory: each error times its factor after the last
// step.
const (
	ballSpeedShaping = iota
	ballPosShaping
	ballDistShaping
)

func (b *ballTrajectory) World() WorldSpec {
	s := DefaultWorld()
	s.Drag, s.Substeps, s.CollisionForce = 0, 5, 400
	ballFriction, agentDrag := float32(0.04), float32(0.25)
	s.Landmarks = []Body{{
		Name: "ball", Shape: Sphere(ballRadius), Mass: 1, Movable: true, Collides: true, LinearFriction: &ballFriction,
	}}
	s.addAgents(ballAgents, ballAgentRadius, func(_ int, a *Agent) { a.Drag = &agentDrag })
	if b.Joints {
		s.Substeps, s.JointForce, s.CollisionForce = 15, 900, 1500
		for i := range ballAgents {
			s.Landmarks = append(s.Landmarks, Rod(fmt.Sprintf("joint agent_%d ball", i), ballRodLength))
		}
		for i := range ballAgents {
			s.Hinge(1+i, len(s.Landmarks)+i, 0)
		}
	}
	s.Cover = []int{0}
	s.Obs = 8
	s.Entities = []envs.Entity{
		{Name: "agent", Kind: envs.Own, From: 0, To: 4},
		{Name: "ball", Kind: envs.Object, From: 4, To: 6},
	}
	s.Memory = []Slot{{"speed_shaping", 1}, {"pos_shaping", 1}, {"dist_shaping", 1}}
	// Reading: neither the paper nor the benchmark defines success for this task, so there is no sparse reward.
	s.SparseIsDense = true
	return s
}

func (b *ballTrajectory) Reset(w *World, c int, r *rng.Rand) {
	ball := Vec{r.Uniform(-0.5, 0.5), r.Uniform(-0.5, 0.5)}
	w.Place(c, 0, ball)
	side := float32(1)
	if r.IntN(2) == 0 {
		side = -1
	}
	for i := range ballAgents {
		w.Place(c, w.Agent(i), ball.Add(Vec{side * ballRodLength, 0}))
		side = -side
		if b.Joints {
			w.PlaceRod(c, 1+i, w.Agent(i), 0)
		}
	}
	b.updateErrors(w, c)
}

func (b *ballTrajectory) Observe(w *World, c, agent int, dst []float32) {
	self := w.Agent(agent)
	pos := w.Pos(c, self)
	put(dst, pos, w.Vel(c, self), pos.Sub(w.Pos(c, 0)), pos) // the position twice, as in the original
}

// Reward gives the whole decrease of the errors to the first agent. The original computes the reward agent by agent
// and updates the stored errors at the first one, which leaves 0 for the second.
func (b *ballTrajectory) Reward(w *World, c int, dst []float32) {
	dst[0], dst[1] = b.updateErrors(w, c), 0
}

// updateErrors stores the current errors times their factors and returns by how much their sum has decreased.
//
// Deviation: in the original, resetting one environment overwrites the stored circle distance of all environments.
func (b *ballTrajectory) updateErrors(w *World, c int) (decrease float32) {
	m := w.Memory(c)
	now := [3]float32{ballSpeedShaping: b.SpeedShaping * abs(w.Vel(c, 0).Norm()-ballSpeed)}
	ball := w.Pos(c, 0)
	if b.PosShaping != 0 && ball != (Vec{}) {
		now[ballPosShaping] = b.PosShaping * sqrt(abs(ball.Norm()-ballCircle))
	}
	if b.DistShaping != 0 {
		for i := range ballAgents {
			now[ballDistShaping] += b.DistShaping * w.Pos(c, w.Agent(i)).Sub(ball).Norm()
		}
	}
	for k, x := range now {
		decrease += m[k] - x
		m[k] = x
	}
	return decrease
}

// Outcome: the task has neither success nor end.
func (b *ballTrajectory) Outcome(*World, int) (success, over bool) { return false, false }

// Script pulls the ball along a diagonal, where the force limits are largest. Without rods, the left agent pushes the
// ball along their starting line and the right one moves out of its way.
func (b *ballTrajectory) Script(w *World, c, agent int) Vec {
	if b.Joints {
		return Vec{1, 1}
	}
	const aside = 0.2
	ball, self := w.Pos(c, 0), w.Pos(c, w.Agent(agent))
	if other := w.Pos(c, w.Agent(1-agent)); self.X > other.X || self.X == other.X && agent == 1 {
		return w.spring(c, agent, ball.Add(Vec{0, aside}), 10, 1)
	}
	return Vec{1, 10*(ball.Y-self.Y) - 3*w.Vel(c, w.Agent(agent)).Y}
}
