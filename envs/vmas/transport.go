// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"

	"cermic/envs"
	"cermic/envs/rng"
)

// Transport is the task vmas/transport: agents jointly push heavy packages to a goal.
type Transport struct {
	envs.Common
	Settings
	Agents        int     `json:"n_agents" range:"1..100" help:"number of agents"`
	Packages      int     `json:"n_packages" range:"1..100" help:"number of packages to push to the goal"`
	PackageWidth  float64 `json:"package_width" range:"0.001..1000" help:"width of a package along y, in world units"`
	PackageLength float64 `json:"package_length" range:"0.001..1000" help:"length of a package along x, in world units"`
	PackageMass   float32 `json:"package_mass" range:"0.001..1000" help:"mass of a package; an agent has mass 1"`
}

// DefaultTransport returns the settings of BenchMARL 1.5.2 (conf/task/vmas/transport.yaml).
func DefaultTransport() Transport {
	return Transport{
		Common: envs.DefaultCommon(), Settings: DefaultSettings(),
		Agents: 4, Packages: 1, PackageWidth: 0.15, PackageLength: 0.15, PackageMass: 50,
	}
}

func init() { envs.Register(DefaultTransport()) }

// Kind, WithShared and WithDiscrete implement envs.Config and envs.Discretiser.
func (Transport) Kind() string                           { return "vmas/transport" }
func (t Transport) WithShared(s envs.Common) envs.Config { t.Common = s; return t }
func (t Transport) WithDiscrete(d Discrete) envs.Config  { t.Discrete = d; return t }

// Build makes the environment.
func (t Transport) Build(seed uint64, workers int) (envs.Env, error) {
	return New(t.Kind(), t.Common, t.Settings, &transport{Transport: t}, seed, workers)
}

func (t Transport) shape() Shape { return Box(float32(t.PackageLength), float32(t.PackageWidth)) }

// halfSize is the limit of centres. The sum is rounded once, as in the original.
func (t Transport) halfSize() float32 {
	return float32(1 + 2*transportAgentRadius + max(t.PackageLength, t.PackageWidth))
}

// transport implements Task. The goal is body 0; the packages follow.
type transport struct {
	Transport
	order []Spawn // of placement: agents, goal, packages
}

func (t *transport) Validate() error {
	room := t.shape().Bound() + transportGoalRadius + 0.01
	t.order = append(spawns(1+t.Packages, t.Agents, 2*transportAgentRadius), spawns(0, 1+t.Packages, room)...)
	return crowded("n_agents, n_packages, package_width or package_length", transportField, t.order)
}

// Source: specification of VMAS 1.5.2; equal to its recordings (testdata/golden).
const (
	transportGoalRadius  = 0.15
	transportAgentRadius = 0.03
	transportShapingGain = 100
)

// transportField is the area where all bodies start: |x|, |y| ≤ 1.
var transportField = Vec{1, 1}

func (t *transport) World() WorldSpec {
	s := DefaultWorld()
	half := t.halfSize()
	s.XLimit, s.YLimit, s.HalfSize = half, half, half
	s.Landmarks = []Body{{Name: "goal", Shape: Sphere(transportGoalRadius), Mass: 1}}
	s.Entities = []envs.Entity{{Name: "agent", Kind: envs.Own, From: 0, To: 4}}
	for i := range t.Packages {
		name := fmt.Sprintf("package %d", i)
		load := Body{Name: name, Shape: t.shape(), Mass: t.PackageMass, Movable: true, Collides: true}
		s.Cover = append(s.Cover, len(s.Landmarks))
		s.Landmarks = append(s.Landmarks, load)
		s.Entities = append(s.Entities, envs.Entity{Name: name, Kind: envs.Object, From: 4 + 7*i, To: 11 + 7*i})
	}
	s.addAgents(t.Agents, transportAgentRadius, func(_ int, a *Agent) { a.Gain = 0.6 })
	s.Obs = 4 + 7*t.Packages
	s.Memory = []Slot{{"global_shaping", t.Packages}, {"on_goal", t.Packages}, {"start", 1}}
	// Four agents push the package by 0.002 per step over an average distance of 0.9.
	s.SparseMax = 500
	return s
}

// memory returns views into an environment's memory after the last step. They hold 100 × each package's distance to the
// goal, and whether it was at the goal (0 or 1). start is the packages' total distance at the start of the episode.
func (t *transport) memory(w *World, c int) (shaping, onGoal []float32, start *float32) {
	m := w.Memory(c)
	return m[:t.Packages], m[t.Packages : 2*t.Packages], &m[2*t.Packages]
}

func (t *transport) Reset(w *World, c int, r *rng.Rand) {
	w.Scatter(c, r, transportField, t.order, 0)
	shaping, _, start := t.memory(w, c)
	for i := range shaping {
		shaping[i] = transportShapingGain * t.toGoal(w, c, i)
	}
	*start = t.missing(w, c)
}

func (t *transport) Observe(w *World, c, agent int, dst []float32) {
	self := w.Agent(agent)
	pos, goal := w.Pos(c, self), w.Pos(c, 0)
	_, onGoal, _ := t.memory(w, c)
	at := put(dst, pos, w.Vel(c, self))
	for i := range t.Packages {
		load := w.Pos(c, 1+i)
		at += put(dst[at:], load.Sub(goal), load.Sub(pos), w.Vel(c, 1+i))
		dst[at] = onGoal[i]
		at++
	}
}

// Reward rewards all agents for the progress of the packages that are not at the goal yet.
func (t *transport) Reward(w *World, c int, dst []float32) {
	shaping, onGoal, _ := t.memory(w, c)
	sum := float32(0)
	for i := range shaping {
		now := transportShapingGain * t.toGoal(w, c, i)
		onGoal[i] = 1
		if !w.Overlap(c, 1+i, 0) {
			onGoal[i] = 0
			sum += shaping[i] - now
		}
		shaping[i] = now
	}
	for i := range dst {
		dst[i] = sum
	}
}

// Outcome: success is every package at the goal.
func (t *transport) Outcome(w *World, c int) (success, over bool) {
	_, onGoal, _ := t.memory(w, c)
	for _, there := range onGoal {
		if there == 0 {
			return false, false
		}
	}
	return true, true
}

// Progress is the fraction of all packages' total distance to the goal that is covered.
func (t *transport) Progress(w *World, c int) float32 {
	_, _, start := t.memory(w, c)
	return 1 - t.missing(w, c)/(*start)
}

func (t *transport) missing(w *World, c int) float32 {
	sum := float32(0)
	for i := range t.Packages {
		sum += max(0, w.Distance(c, 1+i, 0))
	}
	return sum
}

func (t *transport) toGoal(w *World, c, load int) float32 {
	return w.Pos(c, 1+load).Sub(w.Pos(c, 0)).Norm()
}

// Script pushes the first package that is not at the goal. A push acts across a face only. The agents split over the
// two faces behind the direction to the goal, in proportion to the direction's components. Agents take the face that
// they are further behind, and keep their order along it.
func (t *transport) Script(w *World, c, agent int) Vec {
	_, onGoal, _ := t.memory(w, c)
	load := 1
	for load < t.Packages && onGoal[load-1] != 0 {
		load++
	}
	way := w.Pos(c, 0).Sub(w.Pos(c, load))
	aheadX, aheadY := Vec{side(way.X), 0}, Vec{0, side(way.Y)}
	onX := int(math.Round(float64(float32(t.Agents) * abs(way.X) / (abs(way.X) + abs(way.Y)))))
	preference := aheadX.Sub(aheadY)
	takesX := func(i int) bool { return t.rank(w, c, i, preference, nil) < onX }
	size := t.shape()
	f := face{load, aheadX, size.Length / 2, size.Width / 2}
	if !takesX(agent) {
		f = face{load, aheadY, size.Width / 2, size.Length / 2}
	}
	mates, mine := 0, takesX(agent)
	for i := range t.Agents {
		if takesX(i) == mine {
			mates++
		}
	}
	place := t.rank(w, c, agent, f.ahead.Left(), func(i int) bool { return takesX(i) == mine })
	return t.shove(w, c, agent, f, place, mates)
}

// rank counts the agents that are less far in a direction than the given one; among, if not nil, selects them.
func (t *transport) rank(w *World, c, agent int, direction Vec, among func(int) bool) int {
	own, n := w.Pos(c, w.Agent(agent)).Dot(direction), 0
	for i := range t.Agents {
		x := w.Pos(c, w.Agent(i)).Dot(direction)
		if (x < own || x == own && i < agent) && (among == nil || among(i)) {
			n++
		}
	}
	return n
}

// face is a side of a package that faces away from the direction to push.
type face struct {
	load        int     // the package
	ahead       Vec     // direction of the push
	depth, half float32 // distance from the package's centre, half the width
}

// shove moves an agent around the package to its place among mates at a face, and pushes there.
func (t *transport) shove(w *World, c, agent int, f face, place, mates int) Vec {
	const r = transportAgentRadius
	self := w.Agent(agent)
	offset, vel := w.Pos(c, self).Sub(w.Pos(c, f.load)), w.Vel(c, self)
	along, across := offset.Dot(f.ahead), offset.Dot(f.ahead.Left())
	contact := -f.depth - r
	lateral := (float32(place) - float32(mates-1)/2) * 2.05 * r
	goal := Vec{contact, lateral}
	behind := along < contact+r/2 // pushing presses it a little into the package
	switch {
	case !behind && abs(across) < f.half+r:
		goal = Vec{along, (f.half + 3*r) * side(across)} // sideways, from in front of or beside the package
	case !behind:
		goal = Vec{contact - 2*r, (f.half + 3*r) * side(across)} // along its side
	case abs(across) < f.half || abs(across-lateral) < r/2:
		goal.X++ // push
	}
	u := goal.Sub(Vec{along, across}).Mul(10).Sub(Vec{vel.Dot(f.ahead), vel.Dot(f.ahead.Left())}.Mul(3))
	return f.ahead.Mul(u.X).Add(f.ahead.Left().Mul(u.Y))
}

// side is 1 or −1.
func side(x float32) float32 {
	if x < 0 {
		return -1
	}
	return 1
}
