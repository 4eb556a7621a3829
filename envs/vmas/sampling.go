// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"cermic/envs"
	"cermic/envs/rng"
)

// Sampling is the task vmas/sampling: agents explore a field of Gaussians cut into cells. An agent gets the field's
// density at its position as reward, once per cell.
type Sampling struct {
	envs.Common
	Settings
	Agents       int       `json:"n_agents" range:"1..100" help:"number of agents"`
	SharedReward bool      `json:"shared_rew" help:"each agent is rewarded for the samples of all; else for its own"`
	Gaussians    int       `json:"n_gaussians" range:"1..100" help:"number of Gaussians that make up the sampled field"`
	LidarRange   float32   `json:"lidar_range" range:"0..1000" help:"range of the lidar, in world units"`
	Variances    []float32 `json:"cov" conf:"scalar" help:"variance of the Gaussians in square world units; one number for all, or one each"`
	Collisions   bool      `json:"collisions" help:"agents collide and observe a lidar; must be true"`
	SpawnSamePos bool      `json:"spawn_same_pos" help:"all agents start at one place; must be false"`

	XDim        float64 `json:"xdim" conf:"omitdefault" range:"0.001..1000" help:"half width of the field along x, in world units"`
	YDim        float64 `json:"ydim" conf:"omitdefault" range:"0.001..1000" help:"half width of the field along y, in world units"`
	GridSpacing float64 `json:"grid_spacing" conf:"omitdefault" range:"0.001..1000" help:"side of a cell of the field, in world units; each cell is rewarded once"`
	AgentRadius float64 `json:"agent_radius" conf:"omitdefault" range:"0.001..1000" help:"radius of an agent, in world units"`
	Norm        bool    `json:"norm" conf:"omitdefault" help:"rewards and observations are relative to the field's peak; else densities"`
	CommsRange  float32 `json:"comms_range,omitzero" range:"0..1000" help:"largest distance of agents joined by a line in images, in world units; no effect on the task"`
}

// DefaultSampling returns the settings of BenchMARL 1.5.2 (conf/task/vmas/sampling.yaml).
func DefaultSampling() Sampling {
	return Sampling{
		Common: envs.DefaultCommon(), Settings: DefaultSettings(),
		Agents: 3, Gaussians: 3, LidarRange: 0.2, Variances: []float32{0.05}, Collisions: true,
		XDim: 1, YDim: 1, GridSpacing: 0.05, AgentRadius: 0.025, Norm: true,
	}
}

func init() { envs.Register(DefaultSampling()) }

// Kind, WithShared and WithDiscrete implement envs.Config and envs.Discretiser.
func (Sampling) Kind() string                           { return "vmas/sampling" }
func (s Sampling) WithShared(c envs.Common) envs.Config { s.Common = c; return s }
func (s Sampling) WithDiscrete(d Discrete) envs.Config  { s.Discrete = d; return s }

// Build makes the environment.
func (s Sampling) Build(seed uint64, workers int) (envs.Env, error) {
	return New(s.Kind(), s.Common, s.Settings, &sampling{Sampling: s}, seed, workers)
}

// samplingMost keeps the memory of an environment below one megabyte.
const samplingMost = 250_000

// sampling implements Task.
type sampling struct {
	Sampling
	nx, ny   int       // cells along x and y
	size     Vec       // the field is |x| ≤ size.X, |y| ≤ size.Y
	limit    Vec       // limit of agents' centres
	cell     float32   // side of a cell
	double   []float32 // [G] twice the variance of each Gaussian
	weight   []float32 // [G] density of each Gaussian at its centre, relative to the first one's
	visiting float32   // squared distance at which an agent has visited a centre
}

func (s *sampling) Validate() error {
	if n := len(s.Variances); n != 1 && n != s.Gaussians {
		return fmt.Errorf("cov has %d entries, want 1 or as many as n_gaussians, %d", n, s.Gaussians)
	}
	for _, v := range s.Variances {
		if !(v >= 1e-3 && v <= 1e3) {
			return fmt.Errorf("cov contains %g, want 0.001 to 1000", v)
		}
	}
	columns, rows := s.XDim/s.GridSpacing, s.YDim/s.GridSpacing
	switch {
	case columns != math.Trunc(columns):
		return fmt.Errorf("xdim is %g, want a multiple of grid_spacing %g in double precision", s.XDim, s.GridSpacing)
	case rows != math.Trunc(rows):
		return fmt.Errorf("ydim is %g, want a multiple of grid_spacing %g in double precision", s.YDim, s.GridSpacing)
	case 4*s.XDim/s.GridSpacing*s.YDim/s.GridSpacing > samplingMost:
		return fmt.Errorf("grid_spacing is %g, which cuts the field into more than %d cells; want more",
			s.GridSpacing, samplingMost)
	case s.AgentRadius >= min(s.XDim, s.YDim):
		return fmt.Errorf("agent_radius is %g, want less than xdim %g and ydim %g", s.AgentRadius, s.XDim, s.YDim)
	case !s.Collisions:
		return errors.New("collisions is false, which leaves agents without a lidar; want true")
	case s.SpawnSamePos:
		return errors.New("spawn_same_pos is true, which the original does not support; want false")
	}
	s.derive()
	return nil
}

// derive computes the numbers that follow from the settings. Sums and quotients are rounded once, as in the original.
func (s *sampling) derive() {
	s.nx, s.ny, s.cell = int(2*s.XDim/s.GridSpacing), int(2*s.YDim/s.GridSpacing), float32(s.GridSpacing)
	s.size = Vec{float32(s.XDim), float32(s.YDim)}
	s.limit = Vec{float32(s.XDim - s.AgentRadius), float32(s.YDim - s.AgentRadius)}
	// Reading: the distance is 1.5 cells, or the nearest that an agent gets to a centre in a corner.
	near := 1.5 * max(s.GridSpacing, s.AgentRadius)
	s.visiting = float32(near * near)
	for k := range s.Gaussians {
		v := s.Variances[k%len(s.Variances)]
		s.double, s.weight = append(s.double, 2*v), append(s.weight, s.Variances[0]/v)
	}
}

// samplingRays is the number of rays of an agent's lidar.
// Source: specification of VMAS 1.5.2; equal to its recordings (testdata/golden).
const samplingRays = 12

// samplingAround lists the neighbouring cells in the order of an observation.
var samplingAround = [8]Vec{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}}

func (s *sampling) World() WorldSpec {
	w := DefaultWorld()
	w.XLimit, w.YLimit, w.HalfSize = s.limit.X, s.limit.Y, max(s.size.X, s.size.Y)
	w.addAgents(s.Agents, float32(s.AgentRadius), func(i int, a *Agent) {
		const first = 0.05 // first angle, in radians
		others := slices.Delete(numbers(0, s.Agents), i, i+1)
		a.Lidar = Lidar{Angles: Rays(samplingRays, first, first+2*math.Pi), Range: s.LidarRange, Sees: others}
	})
	w.Obs = 4 + samplingRays + len(samplingAround)
	// rays and cells have no entity of their own
	w.Entities = []envs.Entity{{Name: "agent", Kind: envs.Own, From: 0, To: w.Obs}}
	w.Memory = []Slot{
		{"locs", 2 * s.Gaussians}, {"max_pdf", 1}, {"sampled", s.nx * s.ny}, {"agent_sample", s.Agents},
		{"visited", s.Gaussians},
	}
	return w
}

// samplingMemory is the memory of one environment.
type samplingMemory struct {
	centres []float32 // [G,2] of the Gaussians
	peak    *float32  // largest density of the field, which normalises observations and rewards
	sampled []float32 // [nx,ny], x-major: 1 for rewarded cells
	samples []float32 // [N] reward terms of the last step
	visited []float32 // [G] 1 for visited centres
}

func (s *sampling) memory(w *World, c int) samplingMemory {
	m, g := w.Memory(c), s.Gaussians
	grid := 2*g + 1
	samples := grid + s.nx*s.ny
	return samplingMemory{m[:2*g], &m[2*g], m[grid:samples], m[samples : samples+s.Agents], m[samples+s.Agents:]}
}

func (s *sampling) Reset(w *World, c int, r *rng.Rand) {
	m := s.memory(w, c)
	for k := 0; k < len(m.centres); k += 2 {
		put(m.centres[k:], s.anywhere(r))
	}
	for i := range s.Agents {
		w.Place(c, w.Agent(i), s.inside(s.anywhere(r)))
	}
	*m.peak = s.peak(m.centres)
}

// anywhere draws a uniform position in the field.
func (s *sampling) anywhere(r *rng.Rand) Vec {
	x := r.Uniform(-s.size.X, s.size.X)
	return Vec{x, r.Uniform(-s.size.Y, s.size.Y)}
}

// inside clamps a position to the limits of agents' centres.
func (s *sampling) inside(p Vec) Vec { return Vec{clamp(p.X, s.limit.X), clamp(p.Y, s.limit.Y)} }

// peak returns the largest density of the field at the lower left corners of the cells. Each Gaussian is a product of
// one along x and one along y.
//
// Deviation: if all corners are too far from all Gaussians, the original divides by 0; here the peak is at least
// 1e-30.
func (s *sampling) peak(centres []float32) (top float32) {
	along, across := make([]float32, s.Gaussians*s.nx), make([]float32, s.Gaussians*s.ny)
	for k := range s.Gaussians {
		for i := range s.nx {
			x := clamp(-s.size.X+s.cell*float32(i), s.limit.X) - centres[2*k]
			along[k*s.nx+i] = s.weight[k] * float32(math.Exp(float64(-x*x/s.double[k])))
		}
		for j := range s.ny {
			y := clamp(-s.size.Y+s.cell*float32(j), s.limit.Y) - centres[2*k+1]
			across[k*s.ny+j] = float32(math.Exp(float64(-y * y / s.double[k])))
		}
	}
	for i := range s.nx {
		for j := range s.ny {
			sum := float32(0)
			for k := range s.Gaussians {
				sum += along[k*s.nx+i] * across[k*s.ny+j]
			}
			top = max(top, sum)
		}
	}
	return max(s.density(top), 1e-30)
}

// density converts a weighted sum of Gaussians of height 1 into a density.
func (s *sampling) density(sum float32) float32 { return sum / (2 * math.Pi * s.Variances[0]) }

// value returns the density of the field at p.
func (s *sampling) value(m *samplingMemory, p Vec) float32 {
	sum := float32(0)
	for k, double := range s.double {
		d := p.Sub(Vec{m.centres[2*k], m.centres[2*k+1]})
		sum += s.weight[k] * float32(math.Exp(float64(-square(d)/double)))
	}
	return s.density(sum)
}

// index returns the cell of a position within the limits, and an arbitrary cell for NaN.
func (s *sampling) index(p Vec) int {
	x, y := int(p.X/s.cell+float32(s.nx)/2), int(p.Y/s.cell+float32(s.ny)/2)
	return min(max(x, 0), s.nx-1)*s.ny + min(max(y, 0), s.ny-1)
}

func (s *sampling) Observe(w *World, c, agent int, dst []float32) {
	m := s.memory(w, c)
	self := w.Agent(agent)
	pos := w.Pos(c, self)
	at := put(dst, pos, w.Vel(c, self))
	at += w.Lidar(c, agent, dst[at:])
	for i, side := range samplingAround {
		dst[at+i] = s.unsampled(&m, pos.Add(side.Mul(s.cell))) / *m.peak
	}
}

// unsampled returns the density of the field at p, or 0 outside the field or in a rewarded cell.
func (s *sampling) unsampled(m *samplingMemory, p Vec) float32 {
	if !(abs(p.X) <= s.size.X && abs(p.Y) <= s.size.Y) {
		return 0
	}
	p = s.inside(p)
	if m.sampled[s.index(p)] != 0 {
		return 0
	}
	return s.value(m, p)
}

// Reward rewards the agents in order for their cells: of two agents in one cell, only the first gets the reward.
func (s *sampling) Reward(w *World, c int, dst []float32) {
	m := s.memory(w, c)
	sum := float32(0)
	for i := range dst {
		p := s.inside(w.Pos(c, w.Agent(i)))
		m.samples[i] = s.unsampled(&m, p)
		if s.Norm {
			m.samples[i] /= *m.peak
		}
		m.sampled[s.index(p)] = 1
		sum += m.samples[i]
	}
	copy(dst, m.samples)
	if s.SharedReward {
		for i := range dst {
			dst[i] = sum
		}
	}
}

// Outcome: success is that every centre has been visited.
func (s *sampling) Outcome(w *World, c int) (success, over bool) {
	m := s.memory(w, c)
	success = true
	for k := range m.visited {
		centre := Vec{m.centres[2*k], m.centres[2*k+1]}
		for i := range s.Agents {
			if square(w.Pos(c, w.Agent(i)).Sub(centre)) <= s.visiting {
				m.visited[k] = 1
			}
		}
		success = success && m.visited[k] != 0
	}
	return success, false
}

// Progress is the fraction of visited centres.
func (s *sampling) Progress(w *World, c int) float32 {
	m := s.memory(w, c)
	count := float32(0)
	for _, visited := range m.visited {
		count += visited
	}
	return count / float32(s.Gaussians)
}

// Paint draws the rewarded cells, the Gaussians out to one standard deviation, and the centres not visited yet.
func (s *sampling) Paint(w *World, c int, scene *envs.Scene) {
	m := s.memory(w, c)
	for k, taken := range m.sampled {
		if middle := s.middle(k/s.ny, k%s.ny); taken != 0 {
			scene.Shapes = append(scene.Shapes, envs.Shape{
				Role: envs.RoleObstacle, Agent: -1, X: float64(middle.X), Y: float64(middle.Y), Width: s.GridSpacing,
				Height: s.GridSpacing,
			})
		}
	}
	for k, visited := range m.visited {
		ring := envs.Shape{
			Role: envs.RoleTarget, Agent: -1, X: float64(m.centres[2*k]), Y: float64(m.centres[2*k+1]),
			Radius: math.Sqrt(float64(s.Variances[k%len(s.Variances)])), Hollow: true,
		}
		scene.Shapes = append(scene.Shapes, ring)
		if ring.Hollow, ring.Radius = false, s.AgentRadius; visited == 0 {
			scene.Shapes = append(scene.Shapes, ring)
		}
	}
	w.link(c, s.CommsRange, scene)
}

// middle returns the centre of a cell.
func (s *sampling) middle(x, y int) Vec {
	return Vec{float32((float64(x)+0.5)*s.GridSpacing - s.XDim), float32((float64(y)+0.5)*s.GridSpacing - s.YDim)}
}

// Script visits the agent's share of the centres, then the nearby cells with the largest reward per distance.
func (s *sampling) Script(w *World, c, agent int) Vec {
	m := s.memory(w, c)
	self := w.Pos(c, w.Agent(agent))
	target, found := Vec{}, false
	for k := agent; k < s.Gaussians && !found; k += s.Agents {
		if m.visited[k] == 0 {
			target, found = Vec{m.centres[2*k], m.centres[2*k+1]}, true
		}
	}
	if !found {
		target = s.bestCell(&m, self)
	}
	return w.spring(c, agent, target, 10, 2)
}

// bestCell returns the centre of the best cell near p.
func (s *sampling) bestCell(m *samplingMemory, p Vec) Vec {
	const view = 4 // cells to each side
	index := s.index(p)
	x, y := index/s.ny, index%s.ny
	best, most := p, float32(-1)
	for i := max(0, x-view); i <= min(s.nx-1, x+view); i++ {
		for j := max(0, y-view); j <= min(s.ny-1, y+view); j++ {
			middle := s.middle(i, j)
			worth := s.unsampled(m, middle) / *m.peak / (s.cell + middle.Sub(p).Norm())
			if worth > most {
				best, most = middle, worth
			}
		}
	}
	return best
}
