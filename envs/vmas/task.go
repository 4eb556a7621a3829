// SPDX-License-Identifier: Apache-2.0

// Package vmas holds batched two-dimensional physics and the tasks of the VMAS benchmark.
//
// A task is one file. It has a config struct with the benchmark's own keyword arguments as JSON keys, and an
// implementation of Task that defines bodies, observations, rewards and endings. The engine provides the rest: parallel
// environments, action sets, dense and sparse rewards, episode limits, detector labels, saved states and scenes.
//
// Reading order: task.go (the interfaces of a task), balance.go (an example), env.go (one step), physics.go and
// contact.go.
//
// Source: a specification of VMAS 1.5.2 and recorded trajectories, which the tests replay; none of its code was used.
package vmas

import (
	_ "embed"

	"cermic/envs"
	"cermic/envs/rng"
)

// Task defines a task. The engine calls it for one environment c at a time, concurrently for different environments.
// A Task may read its own fields, but may write only the state of environment c through w. Agents and bodies are
// numbered as in the WorldSpec.
//
// The order of calls in a step is: Control of every agent, physics, Reward, Observe of every agent, Outcome. Each is
// called once, so Reward and Outcome may update memory. A reset calls Reset, then Observe.
type Task interface {
	// World declares bodies, physics and sizes. It is called once.
	World() WorldSpec
	// Reset places environment c. All bodies are at rest at the origin and memory is zero, except for WorldSpec.Kept.
	// It must initialise the memory that rewards compare with.
	Reset(w *World, c int, r *rng.Rand)
	// Observe fills dst [O], initially zero.
	Observe(w *World, c, agent int, dst []float32)
	// Reward fills dst [N], initially zero, with the dense reward of every policy agent, in order.
	Reward(w *World, c int, dst []float32)
	// Outcome reports whether the state after a step is a success, which gives the sparse bonus, and whether it ends
	// the episode.
	Outcome(w *World, c int) (success, over bool)
}

// Controller is a Task that computes forces itself, for velocity controllers and scripted agents.
type Controller interface {
	// Control returns an agent's force, given its action times gain (zero for scripted agents). It is called once per
	// step for every agent, in order, before any body moves.
	Control(w *World, c, agent int, u Vec) Vec
}

// Validator is a Task with settings that their tags do not check. Validate is called before World; it may also compute
// what the other methods need.
type Validator interface {
	// Validate returns an error of one sentence, without the task's name, for the first impossible setting.
	Validate() error
}

// Progresser is a Task whose sparse bonus can be divided into parts (Settings.Milestones).
type Progresser interface {
	// Progress returns the fraction of the way to success. It is 0 at the start of the episode, 1 at success, and
	// negative if the state is worse than at the start.
	Progress(w *World, c int) float32
}

// Scripter is a Task with a scripted policy.
type Scripter interface {
	// Script returns the action of an agent in the current state of environment c, to be clamped to ±Range.
	Script(w *World, c, agent int) Vec
}

// Painter is a Task that changes the default scene.
type Painter interface {
	// Paint changes the scene of environment c. It contains the landmarks, in order; agents are added afterwards.
	Paint(w *World, c int, scene *envs.Scene)
}

// measured holds the errors found by TestTasksFollowRecordings: go test ./envs/vmas -run TestTasksFollowRecordings
// -regen
//
//go:embed agreement.json
var measured []byte

func init() { envs.RegisterAgreements(measured) }
