// SPDX-License-Identifier: Apache-2.0

package vmas

import "cermic/envs"

// actionSets lists the choices of each discrete set in multiples of an agent's Range.
var actionSets = map[Discrete][]Vec{
	Product9: {{0, 0}, {0, -1}, {0, 1}, {-1, 0}, {-1, -1}, {-1, 1}, {1, 0}, {1, -1}, {1, 1}},
	Cross5:   {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}},
}

// actionSpec describes the action of a policy agent; limit is the largest range of all: an agent with a smaller one limits what it is told.
func actionSpec(choices []Vec, limit float32) envs.ActSpec {
	if choices != nil {
		return envs.ActSpec{Choices: len(choices)}
	}
	return envs.ActSpec{Dim: 2, Low: []float32{-limit, -limit}, High: []float32{limit, limit}}
}

// act turns the actions of environment c into the forces that its agents ask for during the step.
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

// number is x, or 0 if x is not a number: a policy that has diverged is found by its losses, and must not spoil the state
// of the world until then.
func number(x float32) float32 {
	if x != x {
		return 0
	}
	return x
}

// control lets the task turn what the agents of environment c ask for into other forces. Scripted agents ask for nothing.
func (e *env) control(c int, control []Vec) {
	for agent, u := range control {
		if e.world.spec.Agents[agent].Scripted {
			u = Vec{}
		}
		control[agent] = e.controller.Control(e.world, c, agent, u)
	}
}

// Script fills act with the task's hand-written policy; with discrete actions, with the choice nearest to it.
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

// limit keeps a force within what the agent can exert.
func (a *Agent) limit(f Vec) Vec {
	if a.MaxForce > 0 {
		f = f.Shorten(a.MaxForce)
	}
	if a.MaxForceXY > 0 {
		f = f.Clamp(a.MaxForceXY)
	}
	return f
}
