// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
)

// anglesModPi names observation components that are angles modulo π: near 0, rounding can turn them into almost π.
var anglesModPi = map[string]int{"balance": 15, "wheel": 10}

// Repeats every step of the recorded scenarios from the recorded state before it and compares states, controls,
// observations, rewards, reward terms, memory and endings.
func TestTasksFollowRecordings(t *testing.T) {
	tol, found := tolerances(t), envtest.Agreements{Source: "vmas 1.5.2"}
	for _, g := range goldens(t, "scenario") {
		t.Run(g.key, func(t *testing.T) {
			e := g.build(t)
			m := newMeter(t, tol(g.key).OneStep)
			m.tol["control"] = 1e-5 // the recordings' own tolerance of agent_u and agent_force
			if g.ObsClean != nil {  // recorded noise cannot be reproduced, see TestObservationNoiseIsThatOfTheOriginal
				e = g.buildWith(t, map[string]any{"obs_noise": 0})
				m.tol["obs"] = 2 * max(m.tol["pos"], m.tol["vel"]) // differences of two positions or velocities
			}
			checkWorld(t, g, e)
			defer m.report()
			f := newFollower(t, g, e)
			skip, coupled, steps := g.culled(), g.batchDependent(), 0
			f.seat(0)
			for c := range g.NumEnvs {
				e.writeObs(c, f.out)
				f.compareObs(m, 0, c)
			}
			for at := range g.T {
				f.seat(at)
				f.step(at)
				for c := range g.NumEnvs {
					if skip[moment{at, c}] {
						continue
					}
					f.compare(m, at, c)
					if !coupled[moment{at, c}] {
						f.compareRewards(m, at, c)
					}
					steps++
				}
			}
			state := max(m.largest["pos"], m.largest["vel"], m.largest["rot"], m.largest["ang_vel"])
			found.Add("vmas/"+g.Scenario, steps,
				envs.Agreement{State: state, Obs: m.largest["obs"], Reward: m.largest["reward"]})
		})
	}
	if !fuses(1 + 1.0/4096) { // fused rounding changes all last digits
		found.Check(t, measured)
	}
}

// Without reseating, this engine must stay close to a recording for 30 steps if the original in float64 does. Ten
// times the measured difference allows for other rounding, and 1e-5 for the printed precision of the table.
func TestTasksStayOnRecordingsFor30Steps(t *testing.T) {
	tol := tolerances(t)
	for _, g := range goldens(t, "scenario") {
		limit := 10 * tol(g.key).FreeRun["t30"]
		if limit > 1e-3 {
			continue // chaotic
		}
		t.Run(g.key, func(t *testing.T) {
			f := newFollower(t, g, g.build(t))
			m := newMeter(t, map[string]float64{"pos": max(limit, 1e-5)})
			defer m.report()
			skip, off := g.culled(), make([]bool, g.NumEnvs)
			f.seat(0)
			for at := range min(30, g.T) {
				f.step(at)
				for c := range g.NumEnvs {
					off[c] = off[c] || skip[moment{at, c}]
					for k, b := range g.DynamicEntities {
						if p, want := f.e.world.Pos(c, b), g.States[at+1][c][k]; !off[c] {
							m.same("pos", p.X, want[0], "x", at, c, b)
							m.same("pos", p.Y, want[1], "y", at, c, b)
						}
					}
				}
			}
		})
	}
}

// build makes the task of a recording: the registered default vmas/<scenario> with the recorded kwargs. A keyword
// that the task does not have fails the test by name.
func (g *golden) build(t *testing.T) *env {
	t.Helper()
	return g.buildWith(t, nil)
}

// buildWith is build with some kwargs replaced.
func (g *golden) buildWith(t *testing.T, changed map[string]any) *env {
	t.Helper()
	kind := Continuous
	if !g.ContinuousActions {
		kind = Product9
	}
	overlay := withKwargs(t, g.Scenario, g.Kwargs)
	maps.Copy(overlay, map[string]any{"copies": g.NumEnvs, "reward": envs.Dense, "max_steps": g.MaxSteps,
		"discrete": kind})
	maps.Copy(overlay, changed)
	return buildOverlay(t, overlay, 1, 1)
}

// withKwargs converts recorded kwargs to settings.
func withKwargs(t *testing.T, scenario string, kwargs json.RawMessage) map[string]any {
	t.Helper()
	overlay := map[string]any{}
	if len(kwargs) > 0 {
		must.Do(t, json.Unmarshal(kwargs, &overlay))
	}
	overlay["kind"] = "vmas/" + scenario
	return overlay
}

// buildOverlay builds a task from JSON settings over its defaults.
func buildOverlay(t *testing.T, overlay map[string]any, seed uint64, workers int) *env {
	t.Helper()
	return must.Value(configOf(t, string(must.Value(json.Marshal(overlay)))).Build(seed, workers)).(*env)
}

// checkWorld compares the task's WorldSpec with the recorded one.
func checkWorld(t *testing.T, g *golden, e *env) {
	t.Helper()
	want, w := newWorld(g.spec(), 1), e.world
	if w.count != want.count || w.agents != want.agents {
		t.Fatalf("%d bodies, %d of them agents; want %d and %d", w.count, w.agents, want.count, want.agents)
	}
	for b := range want.body {
		if w.body[b] != want.body[b] {
			t.Errorf("body %d (%s):\n got %+v\nwant %+v", b, g.Entities[b].Name, w.body[b], want.body[b])
		}
	}
	if !slices.Equal(w.pairs, want.pairs) {
		t.Errorf("pairs that can collide:\n got %+v\nwant %+v", w.pairs, want.pairs)
	}
	if !reflect.DeepEqual(w.spec.Joints, want.spec.Joints) {
		t.Errorf("joints:\n got %+v\nwant %+v", w.spec.Joints, want.spec.Joints)
	}
	for i := range want.spec.Agents {
		a, b := w.spec.Agents[i], want.spec.Agents[i]
		if a.Range != b.Range || a.Gain != b.Gain || a.MaxForce != b.MaxForce || a.MaxForceXY != b.MaxForceXY ||
			a.Scripted != b.Scripted || !sameLidar(&a.Lidar, &b.Lidar) {
			t.Errorf("agent %d:\n got %+v\nwant %+v", i, a, b)
		}
	}
	constants := func(s WorldSpec) string {
		return fmt.Sprint(s.Dt, s.Substeps, s.Drag, s.LinearFriction, s.AngularFriction, s.Gravity, s.XLimit, s.YLimit,
			s.CollisionForce, s.JointForce, s.TorqueForce)
	}
	if got, want := constants(w.spec), constants(want.spec); got != want {
		t.Errorf("world constants:\n got %s\nwant %s", got, want)
	}
}

func sameLidar(a, b *Lidar) bool {
	near := func(x, y float32) bool { return abs(x-y) < 1e-6 } // one rounding of an angle below 2π
	return a.Range == b.Range && slices.Equal(a.Sees, b.Sees) && slices.EqualFunc(a.Angles, b.Angles, near)
}

// follower replays a recording in an environment.
type follower struct {
	t       *testing.T
	g       *golden
	e       *env
	out     *envs.Step
	act     *envs.Actions
	actions [][][][]float32
	memory  map[string]recorded // by slot
	rows    []int               // row in Step.Obs of each recorded policy agent
	seen    [][][][]float32     // recorded observations without noise
}

// recorded is a time series for one memory slot, with width numbers per environment (and per time if timed).
type recorded struct {
	numbers []float32
	width   int
	timed   bool
}

func newFollower(t *testing.T, g *golden, e *env) *follower {
	f := &follower{
		t: t, g: g, e: e, out: envs.NewStep(&e.spec), act: envs.NewActions(&e.spec),
		actions: decode[[][][][]float32](t, g.Actions), memory: map[string]recorded{}, seen: g.Obs,
	}
	if g.ObsClean != nil {
		f.seen = g.ObsClean
	}
	longest := 0
	for k := range g.PolicyAgents {
		longest = max(longest, len(f.seen[0][k][0]))
	}
	if longest != e.spec.Obs[0] {
		t.Fatalf("agents observe %d numbers, want %d", e.spec.Obs[0], longest)
	}
	slots := map[string]int{}
	for _, s := range e.world.spec.Memory {
		slots[s.Name] = s.Len
	}
	for name, raw := range g.Internals {
		width, ok := slots[name]
		numbers := flat(t, raw)
		if !ok || len(numbers) != (g.T+1)*g.NumEnvs*width {
			t.Fatalf("internal %q has %d numbers; the task's slot has %d per environment", name, len(numbers), width)
		}
		f.memory[name] = recorded{numbers, width, true}
	}
	if task, ok := e.task.(*sampling); ok {
		f.memory["sampled"] = recorded{g.grid(task.nx, task.ny), task.nx * task.ny, true}
	}
	for name, raw := range g.InternalsStatic {
		if width, ok := slots[name]; ok {
			numbers := flat(t, raw)
			if len(numbers) == width { // shared by all environments
				numbers = slices.Repeat(numbers, g.NumEnvs)
			}
			f.memory[name] = recorded{numbers, width, false}
		}
	}
	for _, agent := range g.PolicyAgents {
		f.rows = append(f.rows, slices.Index(e.policy, agent-e.world.landmarks))
	}
	e.Reset(nil, f.out)
	return f
}

// grid converts the recorded lists of newly sampled cells to the sampled cells [T+1,E,nx,ny].
func (g *golden) grid(nx, ny int) []float32 {
	size := g.NumEnvs * nx * ny
	grid := make([]float32, (g.T+1)*size)
	for t, cells := range g.Sampled {
		now := grid[t*size : (t+1)*size]
		if t > 0 {
			copy(now, grid[(t-1)*size:t*size])
		}
		for _, cell := range cells {
			now[(cell[0]*nx+cell[1])*ny+cell[2]] = 1
		}
	}
	return grid
}

func (r *recorded) row(g *golden, t, c int) []float32 {
	k := c
	if r.timed {
		k = t*g.NumEnvs + c
	}
	return r.numbers[k*r.width : (k+1)*r.width]
}

func (f *follower) seat(t int) {
	f.g.seat(f.e.world, t)
	for c := range f.g.NumEnvs {
		f.e.steps[c] = int32(t)
		for name, r := range f.memory {
			copy(f.e.term(c, name), r.row(f.g, t, c))
		}
	}
}

func (f *follower) step(t int) {
	n := f.e.spec.Agents
	for k, row := range f.rows {
		for c := range f.g.NumEnvs {
			a := f.actions[t][k][c]
			if f.e.choices != nil {
				f.act.Discrete[c*n+row] = int32(a[0])
			} else {
				copy(f.act.Continuous[(c*n+row)*2:], a)
			}
		}
	}
	f.e.Step(f.act, f.out)
}

func (f *follower) compare(m *meter, t, c int) {
	g, e := f.g, f.e
	compareStates(m, g, e.world, t+1, c)
	for agent := range e.world.agents {
		u, push := e.world.control[c*e.world.agents+agent], e.world.push[c*e.world.agents+agent]
		wantU, wantF := g.AgentU[t][agent][c], g.AgentForce[t][agent][c]
		m.same("control", u.X, wantU[0], "u", t, c, agent)
		m.same("control", u.Y, wantU[1], "u", t, c, agent)
		m.same("control", push.X, wantF[0], "force", t, c, agent)
		m.same("control", push.Y, wantF[1], "force", t, c, agent)
	}
	f.compareObs(m, t+1, c)
	for name, r := range f.memory {
		for k, want := range r.row(g, t+1, c) {
			m.same("reward", f.e.term(c, name)[k], want, name, t, c, k)
		}
	}
	over, limit := f.out.Terminated[c], f.out.Truncated[c]
	if over != g.Terminated[t+1][c] || over|limit != g.Dones[t+1][c] {
		m.fail("end", []uint8{over, limit}, []uint8{g.Terminated[t+1][c], g.Dones[t+1][c]}, []any{t, c})
	}
}

func (f *follower) compareRewards(m *meter, t, c int) {
	g, n := f.g, f.e.spec.Agents
	for k, row := range f.rows {
		m.same("reward", f.out.Dense[c*n+row], g.Rewards[t][k][c], t, c, k)
		for name, series := range g.Infos {
			got := float32(0) // 0 for terms that these settings switch off
			if terms := f.e.term(c, name); terms != nil {
				got = terms[min(row, len(terms)-1)]
			}
			m.same("reward", got, series[t][k][c], name, t, c, k)
		}
	}
}

func (f *follower) compareObs(m *meter, t, c int) {
	n, o := f.e.spec.Agents, f.e.spec.Obs[0]
	angle, hasAngle := anglesModPi[f.g.Scenario]
	for k, row := range f.rows {
		got, series := f.out.Obs[(c*n+row)*o:(c*n+row+1)*o], f.seen[t][k][c]
		for i, x := range got[len(series):] {
			m.same("obs", x, 0, t, c, k, len(series)+i) // the padding of a short observation
		}
		for i, want := range series {
			x := got[i]
			if hasAngle && i == angle && abs(abs(x-want)-math.Pi) < 1e-4 {
				x = want + abs(x-want) - math.Pi
			}
			m.same("obs", x, want, t, c, k, i)
		}
	}
}

// fuses reports whether the compiler fuses x·x+y into one rounding, as some processors allow, which changes the last
// digits of all results. x must be 1 + 2⁻¹², whose square needs one bit more than a float32 has.
func fuses(x float32) bool { return x*x-(1+1.0/2048) != 0 }
