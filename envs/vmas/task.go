// SPDX-License-Identifier: Apache-2.0

// Package vmas holds batched two-dimensional physics and the tasks of the VMAS benchmark.
//
// A task is one file: a config struct whose JSON keys are the benchmark's own keyword arguments, and a Task that places
// bodies, observes, rewards and ends. The engine does the rest: environments spread over cores, action spaces, the dense and the
// sparse reward in one pass, episode limits, detector labels, saving, drawing.
//
// Reading order: task.go (what an author writes), balance.go (an example), env.go (one step), physics.go and contact.go.
//
// From: VMAS 1.5.2 as behaviour, known from a description and from recorded trajectories, which the tests replay; none of
// its code was used.
package vmas

import (
	"cermic/envs"
	"cermic/envs/rng"
)

// Task is what the author of a task writes. The engine calls it for one environment c at a time, for different environments at the
// same time: it may read its own fields and write only what belongs to copy c, through w. Agents and bodies are numbered
// as in the WorldSpec.
//
// In a step the order is: Control of every agent, physics, Reward, Observe of every agent, Outcome, each once; Reward and
// Outcome may therefore keep memory. A reset calls Reset, then Observe.
type Task interface {
	// World declares bodies, physics and sizes. It is called once.
	World() WorldSpec
	// Reset places environment c, whose bodies are all at the origin at rest and whose memory is zero, but for what
	// WorldSpec.Kept says, and sets memory that rewards compare with to the value of the new state.
	Reset(w *World, c int, r *rng.Rand)
	// Observe fills dst [O], which is zero.
	Observe(w *World, c, agent int, dst []float32)
	// Reward fills dst [N], which is zero, with the dense reward of every policy agent, in order.
	Reward(w *World, c int, dst []float32)
	// Outcome says whether the state after a step is a success, which gives the sparse bonus, and whether it ends the
	// episode.
	Outcome(w *World, c int) (success, over bool)
}

// Controller is a Task that turns actions into forces itself: velocity controllers and scripted agents.
type Controller interface {
	// Control returns the force that an agent asks for, given its action times gain (zero for scripted agents). It is
	// called once a step for every agent, in order, before any body moves.
	Control(w *World, c, agent int, u Vec) Vec
}

// Progresser is a Task whose sparse bonus can be given in parts (Settings.Milestones).
type Progresser interface {
	// Progress returns how much of the way from the start of the episode to its success is done: 0 at the start, 1 at
	// the success, less than 0 when it got worse.
	Progress(w *World, c int) float32
}

// Checker is a Task whose memory can hold what no state does, as the number of a landmark that there is not.
type Checker interface {
	// Sound reports whether the memory of environment c, just loaded, is one that an episode can have.
	Sound(w *World, c int) bool
}

// Scripter is a Task with a hand-written policy.
type Scripter interface {
	// Script returns the action of an agent in the current state of environment c. Components beyond ±Range are cut.
	Script(w *World, c, agent int) Vec
}

// Painter is a Task whose picture shows more, or less, than its bodies.
type Painter interface {
	// Paint changes the scene of environment c: its shapes are the landmarks, in order; agents are drawn over them afterwards.
	Paint(w *World, c int, scene *envs.Scene)
}
