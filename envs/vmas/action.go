// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"math"

	"cermic/envs"
)

// actionSets lists the choices of each discrete set in multiples of an agent's Range.
var actionSets = map[Discrete][]Vec{
	Product9: {{0, 0}, {0, -1}, {0, 1}, {-1, 0}, {-1, -1}, {-1, 1}, {1, 0}, {1, -1}, {1, 1}},
	Cross5:   {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}},
}

// actionSpec describes the action of a policy agent. limit is the largest range of all agents; an agent with a
// smaller range clamps its actions.
func actionSpec(choices []Vec, limit float32) envs.ActSpec {
	if choices != nil {
		return envs.ActSpec{Choices: len(choices)}
	}
	return envs.ActSpec{Dim: 2, Low: []float32{-limit, -limit}, High: []float32{limit, limit}}
}

// act turns the actions of environment c into the agents' forces for this step.
func (e *env) act(c int) {
	w := e.world
	n, control, push := len(e.policy), w.control[c*w.agents:(c+1)*w.agents], w.push[c*w.agents:(c+1)*w.agents]
	for i, agent := range e.policy {
		a := &w.spec.Agents[agent]
		if e.choices != nil {
			control[agent] = e.choices[e.actions.Discrete[c*n+i]].Mul(a.Range).Mul(a.Gain)
			continue
		}
		at := (c*n + i) * 2
		control[agent] = Vec{number(e.actions.Continuous[at]), number(e.actions.Continuous[at+1])}.Clamp(a.Range).Mul(a.Gain)
	}
	if e.controller != nil {
		e.control(c, control)
	}
	for agent, u := range control {
		push[agent] = w.spec.Agents[agent].limit(u)
	}
}

// number replaces NaN by 0. A diverged policy is detected by its losses; until then it must not corrupt the state.
func number(x float32) float32 {
	if x != x {
		return 0
	}
	return x
}

// control lets the task convert the actions of environment c into forces. The input of scripted agents is zero.
func (e *env) control(c int, control []Vec) {
	for agent, u := range control {
		if e.world.spec.Agents[agent].Scripted {
			u = Vec{}
		}
		control[agent] = e.controller.Control(e.world, c, agent, u)
	}
}

// Script fills act with the task's scripted policy; discrete action sets get the action nearest to the script's.
func (e *env) Script(act *envs.Actions) bool {
	policy, ok := e.task.(Scripter)
	if !ok {
		return false
	}
	for c := range e.spec.NumEnvs {
		for i, agent := range e.policy {
			row, limit := c*len(e.policy)+i, e.world.spec.Agents[agent].Range
			u := policy.Script(e.world, c, agent).Clamp(limit)
			if e.choices != nil {
				act.Discrete[row] = nearestChoice(e.choices, u.Mul(1/limit))
			} else {
				act.Continuous[2*row], act.Continuous[2*row+1] = u.X, u.Y
			}
		}
	}
	return true
}

func nearestChoice(choices []Vec, u Vec) int32 {
	best := 0
	for k := range choices {
		if square(choices[k].Sub(u)) < square(choices[best].Sub(u)) {
			best = k
		}
	}
	return int32(best)
}

// limit clamps a force to the agent's limits.
func (a *Agent) limit(f Vec) Vec {
	if a.MaxForce > 0 {
		f = f.Shorten(a.MaxForce)
	}
	if a.MaxForceXY > 0 {
		f = f.Clamp(a.MaxForceXY)
	}
	return f
}

// steer returns a script's action towards a moving place that avoids collisions. Of sixteen directions at two forces,
// and braking, it picks the action that ends nearest to the place's future position. Actions that bring the agent
// within room of a body to avoid, at its current velocity, lose.
func (w *World) steer(c, agent int, place, placeVel Vec, avoid []int, room float32) Vec {
	best, least := Vec{}, float32(math.Inf(1))
	try := func(u Vec) {
		if cost := w.foresee(c, agent, u, place, placeVel, avoid, room); cost < least {
			best, least = u, cost
		}
	}
	try(w.Vel(c, w.Agent(agent)).Mul(-10).Clamp(1)) // brakes at full force
	for k := range 16 {
		ahead := headingOf(float32(k) * math.Pi / 8)
		try(ahead)
		try(ahead.Mul(0.3))
	}
	return best
}

// foresee returns the cost of exerting force u for some steps.
func (w *World) foresee(c, agent int, u, place, placeVel Vec, avoid []int, room float32) float32 {
	const steps = 6
	self := w.Agent(agent)
	k, pos, vel, cost := &w.body[self], w.Pos(c, self), w.Vel(c, self), float32(0)
	for step := 1; step <= steps; step++ {
		later := w.spec.Dt * float32(step)
		vel = vel.Mul(k.keep).Add(u.Mul(w.spec.Dt / k.mass))
		pos = pos.Add(vel.Mul(w.spec.Dt))
		place = place.Add(placeVel.Mul(w.spec.Dt))
		for _, b := range avoid {
			gap := w.Pos(c, b).Add(w.Vel(c, b).Mul(later)).Sub(pos).Norm() - w.body[b].bound - k.bound
			cost += 10 * max(0, room-gap) / float32(step)
		}
	}
	return cost + pos.Sub(place).Norm()
}
