// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"slices"
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
	damaged := slices.Min(e.steps) < 0
	for _, part := range e.state() {
		numbers, ok := part.([]float32)
		damaged = damaged || ok && slices.ContainsFunc(numbers, func(x float32) bool { return !isFinite(x) })
	}
	if damaged {
		return fmt.Errorf("%s: saved state is damaged: a number in it is not finite, or a number of steps negative", e.spec.Name)
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
