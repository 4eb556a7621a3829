// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"cermic/envs"
)

// The three error terms add up, each times its factor, as the specification's formulas say.
func TestBallTrajectoryPaysByItsFactors(t *testing.T) {
	for _, joints := range []string{"true", "false"} {
		base := `{"kind":"vmas/ball_trajectory","joints":` + joints + `}`
		var old [16][3]float64
		first := true
		more := `{"speed_shaping_factor":0.5,"pos_shaping_factor":2,"dist_shaping_factor":1.5}`
		twins(t, base, more, 220, func(a, b *env, x, y *envs.Step) {
			if !slices.Equal(x.Obs, y.Obs) {
				t.Fatal("reward factors change the states")
			}
			for c := range old {
				w, want := b.world, 0.0
				ball, dist := w.Pos(c, 0), 0.0
				for i := range 2 {
					p := w.Pos(c, w.Agent(i))
					dist += math.Hypot(float64(p.X-ball.X), float64(p.Y-ball.Y))
				}
				now := [3]float64{
					0.5 * math.Abs(1-math.Hypot(float64(w.Vel(c, 0).X), float64(w.Vel(c, 0).Y))),
					2 * math.Sqrt(math.Abs(math.Hypot(float64(ball.X), float64(ball.Y))-0.5)), 1.5 * dist,
				}
				for k := range now {
					want += old[c][k] - now[k]
				}
				// Near the circle the square root magnifies rounding of positions: √(1e-7) is 3e-4.
				if got := float64(y.Dense[2*c]); !first && b.steps[c] > 1 && math.Abs(got-want) > 1e-3 || y.Dense[2*c+1] != 0 {
					t.Fatalf("the agents get rewards %g and %g, want %g and 0", got, y.Dense[2*c+1], want)
				}
				old[c] = now
			}
			first = false
		})
	}
}

// A ball exactly at the origin has no distance from the circle, as in the original.
func TestBallAtTheOriginIsOnTheCircle(t *testing.T) {
	e := buildNumEnvs(t, configOf(t, `{"kind":"vmas/ball_trajectory","pos_shaping_factor":1,"speed_shaping_factor":0}`), 1)
	task := e.task.(*ballTrajectory)
	for _, c := range []struct {
		at   Vec
		want float32
	}{{Vec{}, 0}, {Vec{0.5, 0}, 0}, {Vec{0.25, 0}, 0.5}, {Vec{0, 0.75}, 0.5}} {
		e.world.Place(0, 0, c.at)
		task.updateErrors(e.world, 0)
		if got := e.term(0, "pos_shaping")[0]; got != c.want {
			t.Errorf("a ball at %v is off by %g, want %g", c.at, got, c.want)
		}
	}
}

// The factor changes the reward for approaching, but neither collisions nor success.
func TestFlockingPaysByItsFactor(t *testing.T) {
	for _, agents := range []int{1, 4} {
		base := fmt.Sprintf(`{"kind":"vmas/flocking","n_agents":%d,"milestones":3}`, agents)
		twins(t, base, `{"dist_shaping_factor":-2.5}`, 150, func(a, b *env, x, y *envs.Step) {
			if !slices.Equal(x.Obs, y.Obs) || !slices.Equal(x.Sparse, y.Sparse) {
				t.Fatal("the factor changes states or successes")
			}
			for row, got := range y.Dense {
				c, i := row/agents, row%agents
				want := -2.5*a.term(c, "agent_distance_rew")[i] + a.term(c, "agent_collision_rew")[i]
				// Differences of numbers up to about 10, rounded to 5e-7.
				if math.Abs(float64(got-want)) > 1e-5 {
					t.Fatalf("agent %d gets reward %g, want %g", i, got, want)
				}
			}
		})
	}
}

// Without norm, rewards are densities, i.e. normalised rewards times the peak. Observations do not change.
func TestSamplingPaysDensitiesIfSoSet(t *testing.T) {
	base := `{"kind":"vmas/sampling","n_gaussians":2,"cov":[0.1,0.02]}`
	paid := 0
	twins(t, base, `{"norm":false}`, 150, func(a, b *env, x, y *envs.Step) {
		if !slices.Equal(x.Obs, y.Obs) {
			t.Fatal("norm changes observations")
		}
		for row, got := range y.Dense {
			if want := x.Dense[row] * a.term(row/3, "max_pdf")[0]; !near(got, want) {
				t.Fatalf("reward %g, want %g", got, want)
			}
			if got > 0 {
				paid++
			}
		}
	})
	if paid == 0 {
		t.Error("no agent gets a reward")
	}
}

// One variance applies to all Gaussians; several apply to one each.
func TestSamplingVariancesAreThoseOfTheirGaussians(t *testing.T) {
	twins(t, `{"kind":"vmas/sampling","cov":0.04}`, `{"cov":[0.04,0.04,0.04]}`, 120, func(_, _ *env, x, y *envs.Step) {
		if !slices.Equal(x.Obs, y.Obs) || !slices.Equal(x.Dense, y.Dense) {
			t.Fatal("three equal variances differ from a single one")
		}
	})
	variances := []float64{0.3, 0.02, 0.005}
	e := buildNumEnvs(t, configOf(t,
		`{"kind":"vmas/sampling","cov":[0.3,0.02,0.005],"xdim":0.5,"ydim":1,"grid_spacing":0.125,"agent_radius":0.03}`), 20)
	s := e.task.(*sampling)
	if s.nx != 8 || s.ny != 16 || e.world.spec.XLimit != float32(0.5-0.03) || e.world.spec.YLimit != float32(1-0.03) {
		t.Fatalf("%d by %d cells with limits %g and %g, want 8 by 16 with limits 0.47 and 0.97",
			s.nx, s.ny, e.world.spec.XLimit, e.world.spec.YLimit)
	}
	for c := range 20 {
		m := s.memory(e.world, c)
		density := func(x, y float64) (sum float64) {
			for k, v := range variances {
				dx, dy := x-float64(m.centres[2*k]), y-float64(m.centres[2*k+1])
				sum += math.Exp(-(dx*dx+dy*dy)/(2*v)) / (2 * math.Pi * v)
			}
			return sum
		}
		top := 0.0
		for i := range 8 {
			for j := range 16 {
				x, y := max(-0.47, -0.5+0.125*float64(i)), max(-0.97, -1+0.125*float64(j))
				top = max(top, density(x, y))
			}
		}
		if got := float64(*m.peak); math.Abs(got-top) > 1e-5*top {
			t.Errorf("environment %d: the peak is %g, want %g", c, got, top)
		}
		p := Vec{0.1, 0.7}
		if got, want := float64(s.value(&m, p)), density(0.1, 0.7); math.Abs(got-want) > 1e-5*(1+want) { // float32 positions
			t.Errorf("environment %d: the density at %v is %g, want %g", c, p, got, want)
		}
	}
}

// Outside the field, observations are 0; cells lie where the specification puts them.
func TestSamplingCellsFillTheField(t *testing.T) {
	e := buildNumEnvs(t, configOf(t,
		`{"kind":"vmas/sampling","xdim":0.5,"ydim":1,"grid_spacing":0.125,"agent_radius":0.03}`), 1)
	s := e.task.(*sampling)
	seen := map[int]bool{}
	for i := range s.nx {
		for j := range s.ny {
			middle := s.middle(i, j)
			if k := s.index(middle); k != i*s.ny+j {
				t.Errorf("the centre of cell (%d, %d) has index %d", i, j, k)
			}
			seen[s.index(middle)] = true
		}
	}
	if len(seen) != 8*16 {
		t.Errorf("%d cells, want 128", len(seen))
	}
	row := make([]float32, e.spec.Obs[0])
	e.world.Place(0, e.world.Agent(0), Vec{0.47, 0.97})
	s.Observe(e.world, 0, 0, row)
	for i, beyond := range []bool{true, false, true, false, false, true, true, true} { // +x −x +y −y −− +− −+ ++
		if x := row[16+i]; (x == 0) != beyond {
			t.Errorf("in the field's corner, neighbour %d has value %g", i, x)
		}
	}
}

// With several adversaries, each gets its own negative distance and good agents get the sum of all. Every agent
// observes A − 1 landmarks.
func TestSimpleAdversaryWithSeveralAdversaries(t *testing.T) {
	e := buildNumEnvs(t, configOf(t, `{"kind":"vmas/simple_adversary","n_agents":5,"n_adversaries":2}`), 1)
	w, out := e.world, envs.NewStep(e.Spec())
	if w.landmarks != 4 || !slices.Equal(e.spec.Teams, []int{0, 0, 1, 1, 1}) {
		t.Fatalf("%d landmarks and teams %v, want 4 and two adversaries", w.landmarks, e.spec.Teams)
	}
	w.Memory(0)[0] = 2
	for i, p := range []Vec{{9, 9}, {8, 8}, {0, 0}, {7, 7}, {3, 4}, {0, 1}, {0.5, 0}, {0, -2}, {6, 8}} {
		w.Place(0, i, p)
	}
	e.Step(envs.NewActions(e.Spec()), out)
	if want := []float32{-5, -1, 5.5, 5.5, 5.5}; !slices.Equal(out.Dense, want) {
		t.Errorf("rewards %v, want %v", out.Dense, want)
	}
	if want := (-5-1)/2.0/2 + 5.5/2; !near(out.Score[0], float32(want)) {
		t.Errorf("the score is %g, want %g", out.Score[0], want)
	}
	o := e.spec.Obs[0]
	if o != 2*4+2*4+2 {
		t.Fatalf("the longest observation has %d numbers, want 18", o)
	}
	adversary := out.Obs[o : 2*o] // at (0, 1): landmarks, then the other agents
	if want := []float32{9, 8, 8, 7, 0, -1, 7, 6, 3, 3, 0.5, -1, 0, -3, 6, 7, 0, 0}; !slices.Equal(adversary, want) {
		t.Errorf("an adversary observes %v, want %v", adversary, want)
	}
	good := out.Obs[2*o : 3*o] // at (0.5, 0): the goal first
	wantGood := []float32{-0.5, 0, 8.5, 9, 7.5, 8, -0.5, 0, 6.5, 7, 2.5, 4, -0.5, 1, -0.5, -2, 5.5, 8}
	if !slices.Equal(good, wantGood) {
		t.Errorf("a good agent observes %v, want %v", good, wantGood)
	}
}

// The world ends at 1.06 plus the package's longer side, for any decimal setting.
func TestTransportEndsWhereThePackageStillFits(t *testing.T) {
	for sides, want := range map[string]float32{
		`"package_length":0.15`: 1.21, `"package_length":0.3`: 1.36, `"package_width":0.2,"package_length":0.1`: 1.26,
		`"package_width":1`: 2.06,
	} {
		w := buildNumEnvs(t, configOf(t, `{"kind":"vmas/transport","n_agents":2,`+sides+`}`), 1).world
		if w.spec.XLimit != want || w.spec.YLimit != want || w.spec.HalfSize != want {
			t.Errorf("with %s the world ends at %g and %g, want %g", sides, w.spec.XLimit, w.spec.YLimit, want)
		}
	}
	e := buildNumEnvs(t, configOf(t, `{"kind":"vmas/transport","package_width":0.3,"package_length":0.1}`), 1)
	if s := e.world.body[1].shape; s.Length != 0.1 || s.Width != 0.3 {
		t.Errorf("the package is %g along x and %g along y, want 0.1 and 0.3", s.Length, s.Width)
	}
}

func TestDispersionStaysInItsRange(t *testing.T) {
	for _, half := range []float32{0.3, 2.5} {
		cfg := DefaultDispersion()
		cfg.PosRange = half
		e := buildNumEnvs(t, cfg, 200)
		out, act, far := envs.NewStep(e.Spec()), envs.NewActions(e.Spec()), float32(0)
		for k := range act.Continuous {
			act.Continuous[k] = float32(1 - 2*(k/2%2)) // into two corners
		}
		for c := range 200 {
			for food := range 4 {
				p := e.world.Pos(c, food)
				far = max(far, abs(p.X), abs(p.Y))
			}
		}
		for range 100 {
			e.Step(act, out)
		}
		if at := e.world.Pos(0, e.world.Agent(0)); far > half || far < 0.95*half || at != (Vec{half, half}) {
			t.Errorf("food lies within %g and an agent is clamped to %v, want %g", far, at, half)
		}
	}
}

// From inside a box, rays do not hit it. From inside a sphere, rays towards the side of its centre hit at a negative
// distance: 0.1 − √(0.3² − 0.05²) and 0.05 − √(0.3² − 0.1²). Bodies outside the sensor's list have no effect.
func TestLidarInsideBodies(t *testing.T) {
	spec := DefaultWorld()
	spec.Landmarks = []Body{
		{Name: "box", Shape: Box(0.4, 0.2), Mass: 1},
		{Name: "hollow", Shape: Shape{Kind: BoxShape, Length: 0.4, Width: 0.2, Hollow: true}, Mass: 1},
		{Name: "sphere", Shape: Sphere(0.3), Mass: 1}, {Name: "wall", Shape: Line(2), Mass: 1},
		{Name: "unseen", Shape: Box(0.1, 5), Mass: 1},
	}
	agent := DefaultAgent("agent", 0.05)
	agent.Lidar = Lidar{Angles: Rays(4, 0, 2*math.Pi), Range: 1}
	spec.Agents = []Agent{agent}
	for _, c := range []struct {
		sees []int
		want [4]float32 // along +x, +y, −x, −y
	}{
		{[]int{0}, [4]float32{1, 1, 1, 1}},
		{[]int{1}, [4]float32{1, 1, 1, 1}},
		{[]int{2}, [4]float32{-0.19580399, -0.23284271, 1, 1}},
		{[]int{0, 3}, [4]float32{0.5, 1, 1, 1}},
		{[]int{0, 1, 2, 3, 5}, [4]float32{-0.19580399, -0.23284271, 1, 1}},
		{nil, [4]float32{1, 1, 1, 1}},
	} {
		spec.Agents[0].Lidar.Sees = c.sees
		w := newWorld(spec, 1)
		w.Place(0, 2, Vec{0.1, 0.05})
		w.Place(0, 3, Vec{0.5, 0})
		w.Rotate(0, 3, math.Pi/2)
		w.Place(0, 4, Vec{0.2, 0})
		var got [4]float32
		w.Lidar(0, 0, got[:])
		for k := range got {
			if abs(got[k]-c.want[k]) > 1e-6 {
				t.Errorf("with sensed bodies %v, rays are %v, want %v", c.sees, got, c.want)
				break
			}
		}
	}
}
