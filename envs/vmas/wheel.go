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
	if err := envs.Check(w); err != nil {
		return nil, err
	}
	if w.Reward == envs.Sparse && w.DesiredVelocity < wheelTolerance {
		return nil, fmt.Errorf("%s: desired_velocity is %g and reward is sparse, so a line at rest would be a success; "+
			"set desired_velocity to %g or more, or reward=dense",
			w.Kind(), w.DesiredVelocity, wheelTolerance)
	}
	return New(w.Kind(), w.Common, w.Settings, &wheel{w}, seed, workers)
}

// wheel implements Task.
type wheel struct{ Wheel }

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
	for i := range t.Agents {
		a := DefaultAgent(fmt.Sprintf("agent_%d", i), wheelAgentRadius)
		a.Gain = 0.6
		s.Agents = append(s.Agents, a)
	}
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
