// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"

	"cermic/envs"
	"cermic/envs/rng"
)

// Balance is the task vmas/balance: agents below a line lift it, with a loose package on top, to a goal against
// gravity.
type Balance struct {
	envs.Common
	Settings
	Agents                 int     `json:"n_agents" range:"2..100" help:"number of agents that carry the line"`
	RandomPackagePosOnLine bool    `json:"random_package_pos_on_line" help:"the package starts anywhere on the line; else at its centre"`
	PackageMass            float32 `json:"package_mass" range:"0.001..1000" help:"mass of the package; an agent has mass 1"`
}

// DefaultBalance returns the settings of BenchMARL 1.5.2 (conf/task/vmas/balance.yaml).
func DefaultBalance() Balance {
	return Balance{
		Common: envs.DefaultCommon(), Settings: DefaultSettings(),
		Agents: 4, RandomPackagePosOnLine: true, PackageMass: 5,
	}
}

func init() { envs.Register(DefaultBalance()) }

// Kind, WithShared and WithDiscrete implement envs.Config and envs.Discretiser.
func (Balance) Kind() string                           { return "vmas/balance" }
func (b Balance) WithShared(s envs.Common) envs.Config { b.Common = s; return b }
func (b Balance) WithDiscrete(d Discrete) envs.Config  { b.Discrete = d; return b }

// Build makes the environment.
func (b Balance) Build(seed uint64, workers int) (envs.Env, error) {
	return New(b.Kind(), b.Common, b.Settings, &balance{b}, seed, workers)
}

// lift is the upward acceleration of agents, line and package under full force, in world units per second squared.
func (b Balance) lift() float64 {
	n := float64(b.Agents)
	mass := n + balanceLineMass + float64(b.PackageMass)
	return (balanceForce*n - balanceGravity*mass) / mass
}

// balance implements Task.
type balance struct{ Balance }

func (b *balance) Validate() error {
	if b.Common.Reward == envs.Sparse && b.lift() <= 0 {
		return fmt.Errorf("%d agents cannot lift a package of mass %g, and reward is sparse; "+
			"increase n_agents, decrease package_mass, or set reward=dense", b.Agents, b.PackageMass)
	}
	return nil
}

// Body numbers; agents follow.
const (
	balanceGoal = iota
	balancePackage
	balanceLine
	balanceFloor
)

// Offsets into an environment's memory, in the order of WorldSpec.Memory.
const (
	balanceShaping   = iota // 100 × distance between package and goal after the last step
	balanceFallen           // 1 if the package or the line is on the floor
	balancePosReward        // reward terms of the last step
	balanceGroundReward
	balanceStart // distance between package and goal at the start of the episode
	balanceSlots
)

// Source: specification of VMAS 1.5.2; equal to its recordings (testdata/golden).
const (
	balanceRadius      = 0.05 // of the package and the goal
	balanceLineLength  = 0.8
	balanceAgentRadius = 0.03
	balanceShapingGain = 100
	balanceFallReward  = -10
	balanceForce       = 0.7  // an agent's maximum
	balanceGravity     = 0.05 // downwards
	balanceLineMass    = 5
	balanceLift        = 0.15 // lift with four agents and the benchmark's package
)

func (b *balance) World() WorldSpec {
	s := DefaultWorld()
	s.Gravity = Vec{0, -balanceGravity}
	s.YLimit = 1
	s.Landmarks = []Body{
		{Name: "goal", Shape: Sphere(balanceRadius), Mass: 1},
		{Name: "package", Shape: Sphere(balanceRadius), Mass: b.PackageMass, Movable: true, Collides: true},
		{Name: "line", Shape: Line(balanceLineLength), Mass: balanceLineMass, Movable: true, Rotatable: true, Collides: true},
		{Name: "floor", Shape: Box(10, 1), Mass: 1, Collides: true},
	}
	s.addAgents(b.Agents, balanceAgentRadius, func(_ int, a *Agent) { a.Gain = balanceForce })
	s.Obs = 16
	s.Entities = []envs.Entity{
		// the velocities and angles of the objects have no entity of their own
		{Name: "agent", Kind: envs.Own, From: 0, To: 16},
		{Name: "package", Kind: envs.Object, From: 4, To: 6},
		{Name: "line", Kind: envs.Object, From: 6, To: 8},
	}
	s.Cover = []int{balancePackage}
	s.Memory = []Slot{{"global_shaping", 1}, {"on_the_ground", 1}, {"pos_rew", 1}, {"ground_rew", 1}, {"start", 1}}
	// Four agents lift the package by 0.58 within the benchmark's 100 steps, less than any goal needs. Agents with
	// less acceleration get proportionally more steps.
	s.SparseMax = 300
	if lift := b.lift(); lift > 0 {
		s.SparseMax = max(300, int(min(300*balanceLift/lift, horizonLimit)))
	}
	return s
}

func (b *balance) Reset(w *World, c int, r *rng.Rand) {
	goal := Vec{r.Uniform(-1, 1), r.Uniform(0, 1)}
	line := Vec{r.Uniform(-0.6, 0.6), -1 + 2*balanceAgentRadius}
	offset := float32(0)
	if reach := float32(balanceLineLength/2 - balanceRadius); b.RandomPackagePosOnLine {
		offset = r.Uniform(-reach, reach)
	}
	w.Place(c, balanceGoal, goal)
	w.Place(c, balanceLine, line)
	w.Place(c, balancePackage, line.Add(Vec{offset, balanceRadius}))
	w.Place(c, balanceFloor, Vec{0, -1.5 - balanceAgentRadius})
	const spread = balanceLineLength - balanceAgentRadius
	for i := range b.Agents {
		x := -spread/2 + spread*float32(i)/float32(b.Agents-1)
		w.Place(c, w.Agent(i), line.Add(Vec{x, -2 * balanceAgentRadius}))
	}
	m, d := w.Memory(c), b.toGoal(w, c)
	m[balanceShaping], m[balanceStart] = balanceShapingGain*d, d
}

func (b *balance) Observe(w *World, c, agent int, dst []float32) {
	self := w.Agent(agent)
	pos, load, line := w.Pos(c, self), w.Pos(c, balancePackage), w.Pos(c, balanceLine)
	put(dst, pos, w.Vel(c, self), pos.Sub(load), pos.Sub(line), load.Sub(w.Pos(c, balanceGoal)),
		w.Vel(c, balancePackage), w.Vel(c, balanceLine))
	dst[14], dst[15] = w.Spin(c, balanceLine), wrap(w.Rot(c, balanceLine), math.Pi)
}

func (b *balance) Reward(w *World, c int, dst []float32) {
	m := w.Memory(c)
	shaping := balanceShapingGain * b.toGoal(w, c)
	m[balancePosReward] = m[balanceShaping] - shaping
	m[balanceShaping] = shaping
	m[balanceFallen], m[balanceGroundReward] = 0, 0
	if w.Overlap(c, balanceLine, balanceFloor) || w.Overlap(c, balancePackage, balanceFloor) {
		m[balanceFallen], m[balanceGroundReward] = 1, balanceFallReward
	}
	for i := range dst {
		dst[i] = m[balancePosReward] + m[balanceGroundReward]
	}
}

// Outcome: success is the package at the goal with nothing on the floor; a fall ends the episode, too.
func (b *balance) Outcome(w *World, c int) (success, over bool) {
	fallen := w.Memory(c)[balanceFallen] != 0
	arrived := w.Overlap(c, balancePackage, balanceGoal)
	return arrived && !fallen, arrived || fallen
}

// Progress is the fraction of the distance covered until the package touches the goal.
func (b *balance) Progress(w *World, c int) float32 {
	start := w.Memory(c)[balanceStart] - 2*balanceRadius
	return 1 - (b.toGoal(w, c)-2*balanceRadius)/start
}

func (b *balance) toGoal(w *World, c int) float32 {
	return w.Pos(c, balancePackage).Sub(w.Pos(c, balanceGoal)).Norm()
}

// Script lifts with full force and eases off on the side of the line that is too high. The target tilt lets the
// package slide back to the middle of the line and makes the load drift slowly to the goal.
func (b *balance) Script(w *World, c, agent int) Vec {
	line, load, goal := w.Pos(c, balanceLine), w.Pos(c, balancePackage), w.Pos(c, balanceGoal)
	self := w.Pos(c, w.Agent(agent))
	offset := load.X - line.X
	sliding := w.Vel(c, balancePackage).X - w.Vel(c, balanceLine).X
	level := clamp(0.8*offset+sliding, 0.2)
	tilt := w.Rot(c, balanceLine) - level + w.Spin(c, balanceLine)
	const spread = balanceLineLength - balanceAgentRadius
	slot := -spread/2 + spread*float32(agent)/float32(b.Agents-1) // the agent's place under the line
	lift := 1 - max(0, 3*tilt*slot/(spread/2))
	drift := clamp(goal.X-load.X, 0.05)
	return Vec{4*(line.X+slot-self.X) + drift, lift}
}
