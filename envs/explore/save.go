// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"

	"cermic/envs"
)

// Save appends the complete state that later steps and resets depend on.
func (e *env) Save(dst []byte) []byte { return envs.SaveParts(dst, e.fingerprint(), e.saved()...) }

// Load restores a state written by Save.
func (e *env) Load(state []byte) error {
	if err := envs.LoadParts(e.spec.Name, state, e.fingerprint(), e.saved()...); err != nil {
		return err
	}
	for c := range e.frame {
		for k, x := range e.words(c) {
			if low, count := e.game.limit(k); x < low || x >= low+count {
				return fmt.Errorf("%s: saved state is damaged: number %d of environment %d is %d", e.spec.Name, k, c, x)
			}
		}
	}
	return nil
}

// saved lists the state variables.
func (e *env) saved() []any {
	parts := []any{&e.seed}
	for c := range e.frame {
		parts = append(parts, &e.episode[c], &e.frame[c], e.words(c))
	}
	return parts
}

// fingerprint identifies the configuration, so that a state loads only into an equally configured environment.
func (e *env) fingerprint() uint64 { return envs.Fingerprint(fmt.Sprint(e.spec.Name, e.print)) }
