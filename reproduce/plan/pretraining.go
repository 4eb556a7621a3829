// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"cermic/cermiclib"
	"cermic/cermiclib/cermic"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/memory"
	"cermic/envs"
	"cermic/envs/conf"
)

// The usual size of a pre-training.
const (
	PretrainFrames = 100_000
	PretrainEpochs = 20
)

// NewPretraining is the usual pre-training of a memory, by its kind and with default settings, on a task.
func NewPretraining(task, kind string) (p experiment.Pretraining, err error) {
	t, err := FindTask(task)
	if err != nil {
		return p, err
	}
	e, module := experiment.Config{}, cermic.Default()
	if e.Task, err = envs.Default(t.ID); err != nil {
		return p, err
	}
	if module.Memory, err = conf.New[memory.Config](kind); err != nil {
		return p, err
	}
	e.Explore = module
	return PretrainingOf(e, cermiclib.TableBudget)
}

// PretrainingOf is the pre-training for the memory of e on its task.
func PretrainingOf(e experiment.Config, budget string) (p experiment.Pretraining, err error) {
	c, ok := e.Explore.(cermic.Config)
	if !ok {
		return p, fmt.Errorf("%s has no memory to pre-train: choose mappo-cermic or qmix-cermic", e.Label())
	}
	p = experiment.Pretraining{Frames: PretrainFrames, Epochs: PretrainEpochs, Seed: 1, Peers: c.PeerChannels}
	if budget == cermiclib.Presets[0].Budget.Name {
		p.Frames, p.Epochs = 4000, 2
	}
	p.Task = Rewarded(e.Task, envs.Sparse) // play does not see rewards: runs on either share their weights
	if _, graph := c.Memory.(memory.DynamicGraph); graph {
		p.Stages = 2
	}
	p.Memory, err = memory.Bare(c.Memory)
	return p, err
}
