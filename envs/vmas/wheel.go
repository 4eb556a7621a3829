// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"

	"cermic/envs"
	"cermic/envs/rng"
)

// Wheel is the task vmas/wheel: agents rotate a heavy line, fixed at its centre, at a given speed.
type Wheel struct {
	envs.Common
	Settings
	Agents          int     `json:"n_agents" range:"1..100" help:"number of agents that turn the line"`
	LineLength      float32 `json:"line_length" range:"0.001..1000" help:"length of the line, in world units"`
	LineMass        float32 `json:"line_mass" range:"0.001..1000" help:"mass of the line; an agent has mass 1"`
	DesiredVelocity float32 `json:"desired_velocity" range:"0..1000" help:"angular speed to keep, in radians per second, in either direction"`
}

// DefaultWheel returns the settings of BenchMARL 1.5.2 (conf/task/vmas/wheel.yaml).
func DefaultWheel() Wheel {
	return Wheel{
		Common: envs.DefaultCommon(), Settings: DefaultSettings(),
		Agents: 4, LineLength: 1, LineMass: 30, DesiredVelocity: 0.05,
	}
}

func init() { envs.Register(DefaultWheel()) }

// Kind, WithShared and WithDiscrete implement envs.Config and envs.Discretiser.
func (Wheel) Kind() string                           { return "vmas/wheel" }
func (w Wheel) WithShared(s envs.Common) envs.Config { w.Common = s; return w }
func (w Wheel) WithDiscrete(d Discrete) envs.Config  { w.Discrete = d; return w }

// Build makes the environment.
func (w Wheel) Build(seed uint64, workers int) (envs.Env, error) {
	return New(w.Kind(), w.Common, w.Settings, &wheel{w}, seed, workers)
}

// wheel implements Task.
type wheel struct{ Wheel }

func (t *wheel) Validate() error {
	if t.Common.Reward == envs.Sparse && t.DesiredVelocity < wheelTolerance {
		return fmt.Errorf("desired_velocity is %g and reward is sparse, so a line at rest would be a success; "+
			"set desired_velocity to %g or more, or reward=dense", t.DesiredVelocity, wheelTolerance)
	}
	return nil
}

// Body numbers; agents follow.
const (
	wheelLine = iota
	wheelCentre
)

// wheelHeld is the only memory: the number of consecutive steps at the right speed.
const wheelHeld = 0

// Source: specification of VMAS 1.5.2; equal to its recordings (testdata/golden).
const (
	wheelCentreRadius = 0.02
	wheelAgentRadius  = 0.03
)

// The success predicate. The original has no success and never ends.
// Reading: the paper defines none; this one cannot be met by passing through the right speed.
const (
	wheelTolerance = 0.01 // radians per second
	wheelHold      = 10   // steps
)

func (t *wheel) World() WorldSpec {
	s := DefaultWorld()
	s.Landmarks = []Body{
		{Name: "line", Shape: Line(t.LineLength), Mass: t.LineMass, Rotatable: true, Collides: true},
		{Name: "center", Shape: Sphere(wheelCentreRadius), Mass: 1},
	}
	s.addAgents(t.Agents, wheelAgentRadius, func(_ int, a *Agent) { a.Gain = 0.6 })
	s.Obs = 13
	s.Entities = []envs.Entity{
		{Name: "agent", Kind: envs.Own, From: 0, To: 4}, {Name: "line", Kind: envs.Object, From: 4, To: 13},
	}
	s.Memory = []Slot{{"held", 1}}
	return s
}

func (t *wheel) Reset(w *World, c int, r *rng.Rand) {
	w.Rotate(c, wheelLine, r.Uniform(-math.Pi/2, math.Pi/2))
	for i := range t.Agents {
		w.Place(c, w.Agent(i), Vec{r.Uniform(-1, 1), r.Uniform(-1, 1)})
	}
}

func (t *wheel) Observe(w *World, c, agent int, dst []float32) {
	self := w.Agent(agent)
	pos, line := w.Pos(c, self), w.Pos(c, wheelLine)
	arm := w.Heading(c, wheelLine).Mul(t.LineLength / 2)
	put(dst, pos, w.Vel(c, self), line.Sub(pos), line.Add(arm).Sub(pos), line.Sub(arm).Sub(pos))
	dst[10], dst[11], dst[12] = wrap(w.Rot(c, wheelLine), math.Pi), abs(w.Spin(c, wheelLine)), t.off(w, c)
}

// Reward is the negative error of the speed. It also counts the steps at the right speed.
func (t *wheel) Reward(w *World, c int, dst []float32) {
	held, off := &w.Memory(c)[wheelHeld], t.off(w, c)
	*held++
	if off >= wheelTolerance {
		*held = 0
	}
	for i := range dst {
		dst[i] = -off
	}
}

// Outcome: success is the right speed for wheelHold steps. The episode goes on.
func (t *wheel) Outcome(w *World, c int) (success, over bool) {
	return w.Memory(c)[wheelHeld] >= wheelHold, false
}

// Progress is half for reaching the right speed and half for the steps it is held.
func (t *wheel) Progress(w *World, c int) float32 {
	reached := float32(0)
	if start := t.DesiredVelocity - wheelTolerance; start > 0 {
		reached = 1 - max(0, t.off(w, c)-wheelTolerance)/start
	}
	return reached/2 + w.Memory(c)[wheelHeld]/(2*wheelHold)
}

// off is the error of the line's speed.
func (t *wheel) off(w *World, c int) float32 {
	return abs(abs(w.Spin(c, wheelLine)) - t.DesiredVelocity)
}

// Paint draws the centre as a joint.
func (t *wheel) Paint(_ *World, _ int, scene *envs.Scene) {
	scene.Shapes[wheelCentre].Role = envs.RoleJoint
}

// Script makes every agent push from its own side of the line, near the end where this turns the line in its current
// direction. Together they exert the torque lost to drag at the desired speed, corrected for the speed error.
func (t *wheel) Script(w *World, c, agent int) Vec {
	along, across := t.inLine(w, c, w.Pos(c, w.Agent(agent)))
	fast, slow := t.inLine(w, c, w.Vel(c, w.Agent(agent)))
	turn := t.direction(w, c)
	rank, arms := 0, float32(0)
	for i := range t.Agents {
		_, y := t.inLine(w, c, w.Pos(c, w.Agent(i)))
		if i < agent && side(y) == side(across) {
			rank++
		}
		arms += t.arm(i / 2) // about half of them on each side
	}
	place := -turn * side(across) * t.arm(rank)
	const near = 0.03
	u := Vec{10*(place-along) - 3*fast, 0}
	if abs(place-along) < near {
		gap := max(0, abs(across)-wheelAgentRadius-lineReach)
		speed := t.DesiredVelocity*t.arm(rank) + 2*gap
		loss := (1 - w.body[wheelLine].keep) / w.spec.Dt // fraction of velocity lost to drag per second
		press := loss * t.DesiredVelocity * w.body[wheelLine].inertia / arms
		miss := t.DesiredVelocity - turn*w.Spin(c, wheelLine)
		push := (press+loss*speed)/0.6 + 5*(speed+side(across)*slow) + 5*miss
		u.Y = -side(across) * push
	} else {
		const clearance = 3 * wheelAgentRadius
		u.Y = 10*(side(across)*clearance-across) - 3*slow
	}
	heading := w.Heading(c, wheelLine)
	return Vec{clamp(u.X, 1), clamp(u.Y, 1)}.Turn(heading)
}

// arm is the distance from the centre at which the k-th agent on one side of the line pushes.
func (t *wheel) arm(k int) float32 {
	return max(0.1*t.LineLength, 0.45*t.LineLength-2.2*wheelAgentRadius*float32(k))
}

// direction is the line's direction of rotation or, at rest, the one that sends agents to their nearest ends.
func (t *wheel) direction(w *World, c int) float32 {
	if spin := w.Spin(c, wheelLine); abs(spin) > t.DesiredVelocity/10 {
		return side(spin)
	}
	votes := float32(0)
	for i := range t.Agents {
		x, y := t.inLine(w, c, w.Pos(c, w.Agent(i)))
		votes -= x * side(y)
	}
	return side(votes)
}

// inLine returns the components of v along and across the line, relative to its centre.
func (t *wheel) inLine(w *World, c int, v Vec) (along, across float32) {
	heading := w.Heading(c, wheelLine)
	return v.Dot(heading), v.Dot(heading.Left())
}
