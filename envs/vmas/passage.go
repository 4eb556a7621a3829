// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"slices"

	"cermic/envs"
	"cermic/envs/rng"
)

// Passage is the task vmas/passage: five agents in formation pass a wall of boxes. The wall's holes fit one agent, and
// a formation of goals lies on the other side.
type Passage struct {
	envs.Common
	Settings
	Passages     int  `json:"n_passages" range:"1..20" help:"number of holes in the wall"`
	SharedReward bool `json:"shared_reward" help:"each agent is rewarded and penalised for all agents; else for itself"`
}

// DefaultPassage returns the settings of BenchMARL 1.5.2 (conf/task/vmas/passage.yaml).
func DefaultPassage() Passage {
	p := Passage{Common: envs.DefaultCommon(), Settings: DefaultSettings(), Passages: 1, SharedReward: true}
	p.MaxSteps = 500
	return p
}

func init() { envs.Register(DefaultPassage()) }

// Kind, WithShared and WithDiscrete implement envs.Config and envs.Discretiser.
func (Passage) Kind() string                           { return "vmas/passage" }
func (p Passage) WithShared(s envs.Common) envs.Config { p.Common = s; return p }
func (p Passage) WithDiscrete(d Discrete) envs.Config  { p.Discrete = d; return p }

// Build makes the environment.
func (p Passage) Build(seed uint64, workers int) (envs.Env, error) {
	return New(p.Kind(), p.Common, p.Settings, &passage{p}, seed, workers)
}

// passage implements Task.
type passage struct{ Passage }

// Source: specification of VMAS 1.5.2; equal to its recordings (testdata/golden).
const (
	passageAgents      = 5
	passageRadius      = 0.03333 // of agents and goals
	passageSpacing     = 0.1     // within the formation
	passageBoxes       = 20      // including the holes
	passageBoxLength   = 0.103
	passageBoxWidth    = 0.2
	passageShapingGain = 100
	passagePenalty     = -10 // per touched agent or box
)

// Body numbers; agents follow.
const (
	passageGoal = 0
	passageBox  = passageAgents // the holes come first
)

// Offsets into an environment's memory, in the order of WorldSpec.Memory.
const (
	passageShaping = 0             // 100 × distance of each agent to its goal after the last step
	passageStart   = passageAgents // distance from success at the start of the episode
)

// passageFormation lists the positions of a formation relative to its centre.
var passageFormation = [passageAgents]Vec{
	{passageSpacing, 0}, {0, passageSpacing}, {-passageSpacing, 0}, {0, -passageSpacing}, {0, 0},
}

func (p *passage) World() WorldSpec {
	s := DefaultWorld()
	s.XLimit, s.YLimit = 1, 1
	for i := range passageAgents {
		s.Landmarks = append(s.Landmarks, Body{Name: fmt.Sprintf("goal %d", i), Shape: Sphere(passageRadius), Mass: 1})
	}
	for i := range passageBoxes {
		box := Body{Name: fmt.Sprintf("passage %d", i), Shape: Box(passageBoxLength, passageBoxWidth), Mass: 1}
		box.Collides = i >= p.Passages
		s.Landmarks = append(s.Landmarks, box)
	}
	s.addAgents(passageAgents, passageRadius, func(_ int, a *Agent) { a.Gain = 0.7 })
	s.Obs = 6 + 2*p.Passages
	s.Entities = []envs.Entity{
		{Name: "agent", Kind: envs.Own, From: 0, To: 4},
		{Name: "goal", Kind: envs.Object, From: 4, To: 6},
	}
	for i := range p.Passages {
		name := fmt.Sprintf("passage %d", i)
		s.Entities = append(s.Entities, envs.Entity{Name: name, Kind: envs.Object, From: 6 + 2*i, To: 8 + 2*i})
	}
	s.Memory = []Slot{{"global_shaping", passageAgents}, {"start", 1}}
	return s
}

func (p *passage) Reset(w *World, c int, r *rng.Rand) {
	agents := Vec{r.Uniform(-0.8, 0.8), r.Uniform(-0.8, -0.3)}
	goals := Vec{r.Uniform(-0.8, 0.8), r.Uniform(0.3, 0.8)}
	var order [passageAgents]int32
	r.Perm(order[:])
	for i, k := range order {
		w.Place(c, w.Agent(i), agents.Add(passageFormation[k]))
		w.Place(c, passageGoal+i, goals.Add(passageFormation[k]))
	}
	var places [passageBoxes]int32
	r.Perm(places[:])
	for i, k := range places {
		w.Place(c, passageBox+i, Vec{-1 - passageRadius + passageBoxLength/2 + passageBoxLength*float32(k), 0})
	}
	m := w.Memory(c)
	for i := range passageAgents {
		m[passageShaping+i] = passageShapingGain * p.toGoal(w, c, i)
	}
	m[passageStart] = p.missing(w, c)
}

func (p *passage) Observe(w *World, c, agent int, dst []float32) {
	self := w.Agent(agent)
	pos := w.Pos(c, self)
	put(dst, pos, w.Vel(c, self), w.Pos(c, passageGoal+agent).Sub(pos))
	for i := range p.Passages {
		put(dst[6+2*i:], w.Pos(c, passageBox+i).Sub(pos))
	}
}

// Reward rewards progress and penalises contacts. With a shared reward, each agent also gets the penalties of the
// agents before it, because the original keeps one running sum.
func (p *passage) Reward(w *World, c int, dst []float32) {
	shaping := w.Memory(c)[passageShaping:passageStart]
	sum := float32(0)
	for i := range dst {
		now := passageShapingGain * p.toGoal(w, c, i)
		dst[i] = shaping[i] - now
		shaping[i] = now
		sum += dst[i]
	}
	for i := range dst {
		charge := passagePenalty * float32(p.touched(w, c, i))
		if p.SharedReward {
			sum += charge
			dst[i] = sum
		} else {
			dst[i] += charge
		}
	}
}

// touched counts the agents and wall boxes that an agent overlaps.
func (p *passage) touched(w *World, c, agent int) (count int) {
	self := w.Agent(agent)
	for b := passageBox + p.Passages; b < w.count; b++ {
		if b != self && w.Overlap(c, self, b) {
			count++
		}
	}
	return count
}

// Outcome: success is every agent within half a radius of its goal.
func (p *passage) Outcome(w *World, c int) (success, over bool) {
	for i := range passageAgents {
		if p.toGoal(w, c, i) > passageRadius/2 {
			return false, false
		}
	}
	return true, true
}

// Progress is the fraction of all agents' total distance to their goals that is covered.
func (p *passage) Progress(w *World, c int) float32 {
	return 1 - p.missing(w, c)/w.Memory(c)[passageStart]
}

func (p *passage) missing(w *World, c int) (sum float32) {
	for i := range passageAgents {
		sum += max(0, p.toGoal(w, c, i)-passageRadius/2)
	}
	return sum
}

func (p *passage) toGoal(w *World, c, agent int) float32 {
	return w.Pos(c, w.Agent(agent)).Sub(w.Pos(c, passageGoal+agent)).Norm()
}

// Paint removes the boxes at the holes from the scene.
func (p *passage) Paint(_ *World, _ int, scene *envs.Scene) {
	scene.Shapes = slices.Delete(scene.Shapes, passageBox, passageBox+p.Passages)
}

// Script queues the agents in front of a hole, nearest first, and lets them through one by one. Above the wall they
// gather in a wide formation, which closes over the goals when all have arrived.
func (p *passage) Script(w *World, c, agent int) Vec {
	const (
		speed = 0.28 // that full force sustains
		gain  = 3    // metres to metres per second
	)
	self := w.Agent(agent)
	pos := w.Pos(c, self)
	target := p.gathering(w, c, agent)
	if pos.Y < passageClear {
		target = p.nextInQueue(w, c, agent)
	}
	v := target.Sub(pos).Mul(gain).Shorten(speed)
	for i := range passageAgents {
		if other := w.Pos(c, w.Agent(i)); i != agent && (pos.Y > passageClear) == (other.Y > passageClear) {
			v = giveRoom(v, other.Sub(pos))
		}
	}
	// The velocity is v after one step, if the force is within the limit.
	return v.Sub(w.Vel(c, self).Mul(0.75)).Mul(1 / (0.1 * 0.7))
}

// passageClear is the distance from the wall's centre line beyond which an agent does not touch the wall.
const passageClear = passageBoxWidth/2 + passageRadius + lineReach + 0.01

// nextInQueue returns the next position of an agent below the wall: in front of the nearest hole, then straight
// through. The agent waits while an agent ahead of it is close.
func (p *passage) nextInQueue(w *World, c, agent int) Vec {
	pos := w.Pos(c, w.Agent(agent))
	hole := w.Pos(c, passageBox)
	for i := range p.Passages {
		if h := w.Pos(c, passageBox+i); abs(h.X-pos.X) < abs(hole.X-pos.X) {
			hole = h
		}
	}
	gate := Vec{hole.X, -passageClear - 0.05}
	before := func(p Vec) bool { return abs(p.X-hole.X) < 0.01 && p.Y > gate.Y-0.03 }
	ahead := func(p Vec) float32 { // distance to the far side of the hole
		if before(p) {
			return passageClear - p.Y
		}
		return p.Sub(gate).Norm() + 2*passageClear
	}
	for i := range passageAgents {
		other := w.Pos(c, w.Agent(i))
		const gap = 0.13
		if i != agent && other.Y < passageClear+gap-0.03 && ahead(other) < ahead(pos) && square(other.Sub(pos)) < gap*gap {
			return pos
		}
	}
	if before(pos) {
		return Vec{hole.X, 1}
	}
	return gate
}

// gathering returns the target of an agent above the wall: its goal if all agents are in formation, else its place in
// the wide formation. The formation keeps away from the wall until all agents have passed.
func (p *passage) gathering(w *World, c, agent int) Vec {
	const widening = 1.6
	var centre Vec
	for i := range passageAgents {
		centre = centre.Add(w.Pos(c, passageGoal+i).Mul(1.0 / passageAgents))
	}
	passed, gathered := true, true
	for i := range passageAgents {
		passed = passed && w.Pos(c, w.Agent(i)).Y > passageClear
		offset := w.Pos(c, passageGoal+i).Sub(centre)
		gathered = gathered && p.toGoal(w, c, i) < 0.03+0.7*offset.Norm()
	}
	goal := w.Pos(c, passageGoal+agent)
	if gathered {
		return goal
	}
	offset := goal.Sub(centre).Mul(widening)
	if !passed {
		centre.Y = max(centre.Y, 0.52)
	}
	place := centre.Add(offset)
	place.Y = max(place.Y, passageClear+0.02)
	return place
}

// giveRoom deflects a velocity to the left of an obstacle at offset.
func giveRoom(v, offset Vec) Vec {
	const room = 0.1
	d := offset.Norm()
	if d >= room || v.Dot(offset) <= 0 {
		return v
	}
	towards := offset.Mul(1 / d)
	side := Vec{-towards.Y, towards.X}
	return v.Sub(towards.Mul(v.Dot(towards) * (room - d) / 0.02)).Add(side.Mul(v.Norm() / 2))
}
