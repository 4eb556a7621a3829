// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"math"
	"strings"

	"cermic/envs"
)

// Save appends the complete state that later steps and resets depend on.
func (e *env) Save(dst []byte) []byte {
	return envs.SaveParts(dst, e.fingerprint(), append([]any{&e.seed}, e.state()...)...)
}

// Load restores a state written by Save.
func (e *env) Load(state []byte) error {
	if err := envs.LoadParts(e.spec.Name, state, e.fingerprint(), append([]any{&e.seed}, e.state()...)...); err != nil {
		return err
	}
	for c := range e.spec.NumEnvs {
		e.world.orient(c)
	}
	return nil
}

// state lists the state arrays of an environment. Forces, controls and headings are missing because they are
// recomputed before use.
func (e *env) state() []any {
	w := e.world
	return []any{w.pos, w.vel, w.rot, w.spin, w.fixedRot, w.slots, e.steps, e.episode, e.given}
}

// fingerprint identifies the configuration, so that a state loads only into an equally configured environment.
func (e *env) fingerprint() uint64 {
	// A printed spec keeps the form that it had before groups and hidden peers existed, so that old saved states still
	// load.
	spec := strings.NewReplacer(ungrouped, "", hidden, "").Replace(fmt.Sprintf("%+v", e.spec))
	return envs.Fingerprint(fmt.Sprintf("%s %+v %s %+v", spec, e.settings, e.config, e.world.body))
}

// ungrouped is the part of a printed envs.Spec about groups for a task without groups.
const ungrouped = " Groups:[] PeersAcross:false Group: Opponents:[]"

// hidden is the end of every printed envs.Spec of this package.
const hidden = " HidesPeers:true"

// Settings are shared by all tasks of this package; task configs embed them as one flat struct.
type Settings struct {
	MaxSteps      int           `json:"max_steps" range:"1..1000000" help:"episode length of evaluation and of dense training, in steps; BenchMARL: 100"`
	Discrete      Discrete      `json:"discrete" oneof:"none,product9,cross5" help:"discrete actions; product9: −, 0 or + on each axis, cross5: on one axis at a time"`
	SparseHorizon SparseHorizon `json:"sparse_horizon" oneof:"default,literal" help:"episode length of sparse training; default: long enough for success, literal: max_steps"`
	SuccessReward float32       `json:"success_reward" range:"(0..1000000]" help:"each agent's reward for success, once per episode; not in the paper"`
	Milestones    int           `json:"milestones" range:"1..1000" help:"number of equal partial rewards that make up success_reward; 1: all at success"`
	FieldOfView   float32       `json:"vmas_fov" range:"0..1000" help:"field of view of agents without a lidar, in world units; for detector labels only"`
}

// DefaultSettings returns the benchmark's horizon of 100 steps, continuous actions and an undivided bonus of 10.
func DefaultSettings() Settings {
	return Settings{
		MaxSteps: 100, Discrete: Continuous, SparseHorizon: Extended, SuccessReward: 10, Milestones: 1, FieldOfView: 0.5,
	}
}

// Discrete names an action set.
type Discrete = envs.Discrete

// The action sets.
const (
	Continuous Discrete = "none"        // a force in the plane; BenchMARL's choice for policy gradients
	Product9            = envs.Product9 // per axis 0, −range or +range; BenchMARL's choice for value learners
	Cross5     Discrete = "cross5"      // 0, −x, +x, −y or +y; VMAS before 2024
)

// SparseHorizon selects the episode length of the sparse reward.
type SparseHorizon string

// The horizons of the sparse reward.
const (
	// Extended uses WorldSpec.SparseMax for tasks that cannot be solved within max_steps.
	// Reading: the paper names no horizon; the benchmark's own is too short for a success in some of its tasks.
	Extended SparseHorizon = "default"
	Literal  SparseHorizon = "literal" // max_steps for every task
)

// horizonLimit is the largest max_steps.
const horizonLimit = 1_000_000

func isFinite(x float32) bool { return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) }
