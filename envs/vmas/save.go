// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"slices"
	"strings"

	"cermic/envs"
)

// Save appends everything that the next Step or Reset depends on.
func (e *env) Save(dst []byte) []byte {
	return envs.SaveParts(dst, e.fingerprint(), append([]any{&e.seed}, e.state()...)...)
}

// Load continues from a state that Save wrote.
func (e *env) Load(state []byte) error {
	if err := envs.LoadParts(e.spec.Name, state, e.fingerprint(), append([]any{&e.seed}, e.state()...)...); err != nil {
		return err
	}
	for c := range e.spec.NumEnvs {
		if checker, ok := e.task.(Checker); ok && !checker.Sound(e.world, c) || e.steps[c] < 0 {
			return fmt.Errorf("%s: saved state of copy %d is damaged", e.spec.Name, c)
		}
	}
	for _, part := range e.state() {
		if numbers, ok := part.([]float32); ok && slices.ContainsFunc(numbers, func(x float32) bool { return !isFinite(x) }) {
			return fmt.Errorf("%s: saved state is damaged: a number in it is not finite", e.spec.Name)
		}
	}
	for c := range e.spec.NumEnvs {
		e.world.orient(c)
	}
	return nil
}

// state lists the arrays that differ between two moments of one environment. Forces, controls and headings are
// recomputed before they are used.
func (e *env) state() []any {
	w := e.world
	return []any{w.pos, w.vel, w.rot, w.spin, w.fixedRot, w.slots, e.steps, e.episode, e.given}
}

// fingerprint tells differently configured environments apart.
func (e *env) fingerprint() uint64 {
	// A spec reads as it did before it had groups and hidden peers, so that states that were saved then can be loaded.
	spec := strings.NewReplacer(ungrouped, "", hidden, "").Replace(fmt.Sprintf("%+v", e.spec))
	return envs.Fingerprint(fmt.Sprintf("%s %+v %s %+v", spec, e.settings, e.config, e.world.body))
}

// ungrouped is what a printed envs.Spec holds of groups where all agents are one.
const ungrouped = " Groups:[] PeersAcross:false Group: Opponents:[]"

// hidden is what every printed envs.Spec of this family ends with.
const hidden = " HidesPeers:true"
