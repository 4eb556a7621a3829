// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"

	"cermic/envs"
	"cermic/envs/rng"
)

// TV is a source of observations that nobody can predict and that are worth nothing: the noisy-TV problem (Burda et al. 2019).
type TV string

// The sources.
const (
	Off    TV = "off"
	Screen TV = "screen" // an agent that chooses to watch it, or stands on its cell, sees random numbers
	Peer   TV = "peer"   // one more peer, in everybody's observation, acts at random; it has no say in the task
)

// screenLen is how many numbers the screen shows, each uniform in [-1, 1).
const screenLen = 8

// picture writes what agent i of environment c sees on the screen in this step.
func (e *env) picture(c, i int, dst []float32) {
	var r rng.Rand
	r.Seed(e.seed, "screen", uint64(c), uint64(e.episode[c]), uint64(e.frame[c]), uint64(i))
	for k := range dst {
		dst[k] = r.Uniform(-1, 1)
	}
}

// validate returns one sentence about the first impossible setting that all tasks of the family share.
func validate(cfg envs.Config) error {
	if err := envs.Check(cfg); err != nil {
		return err
	}
	if cfg.Shared().Noise != (envs.Noise{}) {
		return fmt.Errorf("%s has no noise region: set tv=screen or tv=peer for observations that are noise", cfg.Kind())
	}
	return nil
}
