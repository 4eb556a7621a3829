// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"cermic/envs"
	"cermic/envs/rng"
)

// Sampling is the task vmas/sampling: agents explore a field of Gaussians cut into cells. A cell pays what the field is
// worth where an agent stands, once.
type Sampling struct {
	envs.Common
	Settings
	Agents       int     `json:"n_agents"`
	SharedReward bool    `json:"shared_rew"` // everybody is paid for the samples of all
	Gaussians    int     `json:"n_gaussians"`
	LidarRange   float32 `json:"lidar_range"`
	Variance     float32 `json:"cov"` // of each Gaussian, along both axes
	Collisions   bool    `json:"collisions"`
	SpawnSamePos bool    `json:"spawn_same_pos"` // agents start at one place; not available
}

// DefaultSampling returns the settings of BenchMARL 1.5.2 (conf/task/vmas/sampling.yaml).
func DefaultSampling() Sampling {
	return Sampling{
		Common: envs.DefaultCommon(), Settings: DefaultSettings(),
		Agents: 3, Gaussians: 3, LidarRange: 0.2, Variance: 0.05, Collisions: true,
	}
}

func init() { envs.Register(DefaultSampling()) }

// Kind is the task's name.
func (Sampling) Kind() string { return "vmas/sampling" }

// WithShared returns a copy with the settings that every task has.
func (s Sampling) WithShared(c envs.Common) envs.Config { s.Common = c; return s }

// WithDiscrete returns a copy with another action set.
func (s Sampling) WithDiscrete(d Discrete) envs.Config { s.Discrete = d; return s }

// Build makes the environment.
func (s Sampling) Build(seed uint64, workers int) (envs.Env, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	return New(s.Kind(), s.Common, s.Settings, &sampling{s}, seed, workers)
}

func (s Sampling) validate() error {
	err := cmp.Or(
		wantCount(s.Kind(), "n_agents", s.Agents, 1, 100),
		wantCount(s.Kind(), "n_gaussians", s.Gaussians, 1, 100),
		wantNonNegative(s.Kind(), "lidar_range", s.LidarRange),
		wantPositive(s.Kind(), "cov", s.Variance),
	)
	switch {
	case err != nil:
		return err
	case !s.Collisions:
		return errors.New("vmas/sampling: collisions is false, but agents that do not collide have no lidar to observe; want true")
	case s.SpawnSamePos:
		return errors.New("vmas/sampling: spawn_same_pos is true, but agents start apart; want false")
	}
	return nil
}

// sampling is the task's behaviour.
type sampling struct{ Sampling }

var (
	_ Task       = (*sampling)(nil)
	_ Progresser = (*sampling)(nil)
	_ Scripter   = (*sampling)(nil)
	_ Painter    = (*sampling)(nil)
)

// From: VMAS 1.5.2, scenarios/sampling.py
const (
	samplingRadius = 0.025
	samplingSize   = 1 // the field is |x|, |y| ≤ 1
	samplingLimit  = samplingSize - samplingRadius
	samplingCell   = 0.05
	samplingCells  = 40 // along each axis
	samplingRays   = 12
)

// samplingNear is the distance at which an agent has visited a centre: one and a half cells.
const samplingNear = 1.5 * samplingCell

// samplingAround lists the cells around an agent in the order of its observation.
var samplingAround = [8]Vec{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}}

func (s *sampling) World() WorldSpec {
	w := DefaultWorld()
	w.XLimit, w.YLimit = samplingLimit, samplingLimit
	for i := range s.Agents {
		a := DefaultAgent(fmt.Sprintf("agent_%d", i), samplingRadius)
		others := numbers(0, s.Agents)
		const first = 0.05 // of the angles, in radians
		a.Lidar = Lidar{
			Angles: Rays(samplingRays, first, first+2*math.Pi), Range: s.LidarRange, Sees: append(others[:i:i], others[i+1:]...),
		}
		w.Agents = append(w.Agents, a)
	}
	w.Obs = 4 + samplingRays + len(samplingAround)
	w.Entities = []envs.Entity{{Name: "agent", Kind: envs.Own, From: 0, To: w.Obs}} // rays and cells have no row of their own
	w.Memory = []Slot{
		{"locs", 2 * s.Gaussians}, {"max_pdf", 1}, {"sampled", samplingCells * samplingCells}, {"agent_sample", s.Agents},
		{"visited", s.Gaussians},
	}
	return w
}

// samplingMemory is the task's memory of a copy.
type samplingMemory struct {
	centres []float32 // [G,2] of the Gaussians
	peak    *float32  // what the field is divided by
	sampled []float32 // [40,40] by x, then y: 1 for cells that have paid
	samples []float32 // [N] reward terms of the last step
	visited []float32 // [G] 1 for centres that an agent has been near to
}

func (s *sampling) memory(w *World, c int) samplingMemory {
	m, g := w.Memory(c), s.Gaussians
	grid := 2*g + 1
	samples := grid + samplingCells*samplingCells
	return samplingMemory{m[:2*g], &m[2*g], m[grid:samples], m[samples : samples+s.Agents], m[samples+s.Agents:]}
}

func (s *sampling) Reset(w *World, c int, r *rng.Rand) {
	m := s.memory(w, c)
	for i := range m.centres {
		m.centres[i] = r.Uniform(-samplingSize, samplingSize)
	}
	for i := range s.Agents {
		p := Vec{r.Uniform(-samplingSize, samplingSize), r.Uniform(-samplingSize, samplingSize)}
		w.Place(c, w.Agent(i), p.Clamp(samplingLimit))
	}
	*m.peak = s.peak(m.centres)
}

// peak returns the largest value of the field at the lower left corners of the cells. A Gaussian is the product of one
// along x and one along y.
func (s *sampling) peak(centres []float32) (top float32) {
	var field [samplingCells][samplingCells]float32
	for k := 0; k < len(centres); k += 2 {
		var along [2][samplingCells]float32
		for axis := range along {
			for i := range along[axis] {
				x := clamp(-samplingSize+samplingCell*float32(i), samplingLimit) - centres[k+axis]
				along[axis][i] = float32(math.Exp(float64(-x * x / (2 * s.Variance))))
			}
		}
		for i, x := range along[0] {
			for j, y := range along[1] {
				field[i][j] += x * y
			}
		}
	}
	for i := range field {
		for _, v := range field[i] {
			top = max(top, v)
		}
	}
	return top / (2 * math.Pi * s.Variance)
}

// value returns the field at p as a share of its peak.
func (s *sampling) value(m *samplingMemory, p Vec) float32 {
	sum := float32(0)
	for k := 0; k < len(m.centres); k += 2 {
		d := p.Sub(Vec{m.centres[k], m.centres[k+1]})
		sum += float32(math.Exp(float64(-square(d) / (2 * s.Variance))))
	}
	return sum / (2 * math.Pi * s.Variance) / *m.peak
}

// samplingIndex returns the cell of a position within the limits, and some cell for one that is not a number.
func samplingIndex(p Vec) int {
	x, y := int(p.X/samplingCell+samplingCells/2), int(p.Y/samplingCell+samplingCells/2)
	return min(max(x, 0), samplingCells-1)*samplingCells + min(max(y, 0), samplingCells-1)
}

func (s *sampling) Observe(w *World, c, agent int, dst []float32) {
	m := s.memory(w, c)
	self := w.Agent(agent)
	pos := w.Pos(c, self)
	at := put(dst, pos, w.Vel(c, self))
	at += w.Lidar(c, agent, dst[at:])
	for i, side := range samplingAround {
		dst[at+i] = s.unsampled(&m, pos.Add(side.Mul(samplingCell)))
	}
}

// unsampled returns the value of the field at p, 0 where it is outside of the field or in a cell that has paid.
func (s *sampling) unsampled(m *samplingMemory, p Vec) float32 {
	if !(max(abs(p.X), abs(p.Y)) <= samplingSize) {
		return 0
	}
	p = p.Clamp(samplingLimit)
	if m.sampled[samplingIndex(p)] != 0 {
		return 0
	}
	return s.value(m, p)
}

// Reward pays every agent for its cell, in order: of two agents in one cell, the first one is paid.
func (s *sampling) Reward(w *World, c int, dst []float32) {
	m := s.memory(w, c)
	sum := float32(0)
	for i := range dst {
		p := w.Pos(c, w.Agent(i)).Clamp(samplingLimit)
		m.samples[i] = s.unsampled(&m, p)
		m.sampled[samplingIndex(p)] = 1
		sum += m.samples[i]
	}
	copy(dst, m.samples)
	if s.SharedReward {
		for i := range dst {
			dst[i] = sum
		}
	}
}

// Outcome: a success is that every centre has been visited.
func (s *sampling) Outcome(w *World, c int) (success, over bool) {
	m := s.memory(w, c)
	success = true
	for k := range m.visited {
		centre := Vec{m.centres[2*k], m.centres[2*k+1]}
		for i := range s.Agents {
			if square(w.Pos(c, w.Agent(i)).Sub(centre)) <= samplingNear*samplingNear {
				m.visited[k] = 1
			}
		}
		success = success && m.visited[k] != 0
	}
	return success, false
}

// Progress is the share of centres that have been visited.
func (s *sampling) Progress(w *World, c int) float32 {
	m := s.memory(w, c)
	count := float32(0)
	for _, visited := range m.visited {
		count += visited
	}
	return count / float32(s.Gaussians)
}

// Paint shows the cells that have paid, the Gaussians out to one standard deviation, and the centres that are still to be
// visited.
func (s *sampling) Paint(w *World, c int, scene *envs.Scene) {
	m := s.memory(w, c)
	for k, paid := range m.sampled {
		if x, y := k/samplingCells, k%samplingCells; paid != 0 {
			scene.Shapes = append(scene.Shapes, envs.Shape{
				Role: envs.RoleObstacle, Agent: -1, X: samplingMiddle(x), Y: samplingMiddle(y), Width: samplingCell, Height: samplingCell,
			})
		}
	}
	for k, visited := range m.visited {
		ring := envs.Shape{
			Role: envs.RoleTarget, Agent: -1, X: float64(m.centres[2*k]), Y: float64(m.centres[2*k+1]),
			Radius: math.Sqrt(float64(s.Variance)), Hollow: true,
		}
		scene.Shapes = append(scene.Shapes, ring)
		if ring.Hollow, ring.Radius = false, samplingRadius; visited == 0 {
			scene.Shapes = append(scene.Shapes, ring)
		}
	}
}

func samplingMiddle(cell int) float64 { return (float64(cell)+0.5)*samplingCell - samplingSize }
