// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"flag"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// soak is short by default; ten million frames per task take some minutes.
var soak = flag.Int("soak", 60_000, "frames of random play on each task")

// Half of the environments draw new actions at every step. The other half hold an action for 25 steps, at full force
// every second time, because only then do bodies gather speed and collide.
func TestRandomPlayStaysSound(t *testing.T) {
	const numEnvs = 100
	for _, name := range envs.Names() {
		t.Run(strings.TrimPrefix(name, "vmas/"), func(t *testing.T) {
			cfg := must.Value(envs.Default(name))
			e := buildNumEnvs(t, cfg, numEnvs)
			out, act, done := envs.NewStep(e.Spec()), envs.NewActions(e.Spec()), make([]uint8, numEnvs)
			r, before, crossings := rng.New(3, "soak"), make([]Vec, len(e.world.pos)), 0
			e.Reset(nil, out)
			for step := range *soak / numEnvs {
				draw(act, step, 2*e.spec.Agents, r)
				copy(before, e.world.pos)
				e.Step(act, out)
				checkFinite(t, out)
				checkPlaces(t, e, before)
				crossings += e.crossings(before)
				if t.Failed() {
					t.Fatalf("at step %d", step)
				}
				for c := range done {
					done[c] = out.Terminated[c] | out.Truncated[c]
				}
				e.Reset(done, out)
			}
			// Once in 170,000 frames an agent at a hole is thrown into the wall so fast that it comes out behind it.
			if crossings > 2+*soak/50_000 {
				t.Errorf("%d of %d frames lead through a wall", crossings, *soak)
			}
		})
	}
}

// draw fills act; row is the number of action components of an environment.
func draw(act *envs.Actions, step, row int, r *rng.Rand) {
	for i := range act.Continuous {
		switch c := i / row; {
		case c%2 == 0:
			act.Continuous[i] = r.Uniform(-1, 1)
		case step%25 == 0 && c%4 == 1:
			act.Continuous[i] = r.Uniform(-1, 1)
		case step%25 == 0:
			act.Continuous[i] = sign(r.Uniform(-1, 1))
		}
	}
}

func checkFinite(t *testing.T, out *envs.Step) {
	for what, numbers := range map[string][]float32{
		"an observation": out.Obs, "a dense reward": out.Dense, "a sparse reward": out.Sparse, "a score": out.Score,
		"a relative position": out.RelPos,
	} {
		for _, x := range numbers {
			if !isFinite(x) {
				t.Errorf("%s is %g", what, x)
				return
			}
		}
	}
}

// checkPlaces checks that positions, steps and wall crossings are possible.
func checkPlaces(t *testing.T, e *env, before []Vec) {
	w := e.world
	// The strongest steady push moves an agent by at most 0.057 per step; contacts may throw it further.
	const leap, stride = 0.3, 0.06
	far := 2.5 + stride*float32(e.spec.Horizon)
	_, corridor := e.task.(*giveWay)
	for i, p := range w.pos {
		body := w.spec.body(i % w.count)
		switch {
		case !body.Movable:
		case w.spec.XLimit > 0 && abs(p.X) > w.spec.XLimit, w.spec.YLimit > 0 && abs(p.Y) > w.spec.YLimit:
			t.Errorf("%s at %v has left a world of half size %g × %g", body.Name, p, w.spec.XLimit, w.spec.YLimit)
		case p.Sub(before[i]).Norm() > leap:
			t.Errorf("%s moves from %v to %v in a step", body.Name, before[i], p)
		case abs(p.X) > far || abs(p.Y) > far:
			t.Errorf("%s reaches %v within an episode", body.Name, p)
		case corridor && (abs(p.X) > 2.5 || p.Y < -0.2 || p.Y > 0.68):
			t.Errorf("%s at %v has crossed a wall", body.Name, p)
		}
	}
}

// crossings counts the agents that crossed passage's wall where it is closed.
func (e *env) crossings(before []Vec) (count int) {
	if _, ok := e.task.(*passage); !ok {
		return 0
	}
	w := e.world
	for c := range w.numEnvs {
		for agent := range w.agents {
			i := w.at(c, w.Agent(agent))
			if (w.pos[i].Y > 0) != (before[i].Y > 0) && !w.open(c, w.pos[i].X) {
				count++
			}
		}
	}
	return count
}

// open reports whether the wall of environment c has a hole at x.
func (w *World) open(c int, x float32) bool {
	for b := range w.landmarks {
		body := w.spec.body(b)
		if body.Shape.Kind == BoxShape && !body.Collides && abs(w.Pos(c, b).X-x) < passageBoxLength/2 {
			return true
		}
	}
	return false
}
