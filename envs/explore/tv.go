// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"

	"cermic/envs"
	"cermic/envs/rng"
)

// TV is a distraction, a source of unpredictable but worthless observations: the noisy-TV problem (Burda et al.
// 2019).
type TV string

// The distractions.
const (
	Off    TV = "off"
	Screen TV = "screen" // an agent that watches it, or stands on its cell, observes random numbers
	Peer   TV = "peer"   // one more peer in all observations acts at random, without effect on the task
)

// screenLen is the number of random numbers on the screen, each uniform in [-1, 1).
const screenLen = 8

// picture writes agent i's view of the screen in environment c at this step.
func (e *env) picture(c, i int, dst []float32) {
	var r rng.Rand
	r.Seed(e.seed, "screen", uint64(c), uint64(e.episode[c]), uint64(e.frame[c]), uint64(i))
	for k := range dst {
		dst[k] = r.Uniform(-1, 1)
	}
}

// validate returns an error for the first impossible setting common to all tasks of the package.
func validate(cfg envs.Config) error {
	if err := envs.Check(cfg); err != nil {
		return err
	}
	if cfg.Shared().Noise != (envs.Noise{}) {
		return fmt.Errorf("%s has no noise region; set tv=screen or tv=peer for random observations", cfg.Kind())
	}
	return nil
}
