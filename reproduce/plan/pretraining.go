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
func NewPretraining(task, kind string) (experiment.Pretraining, error) {
	p := experiment.Pretraining{Frames: PretrainFrames, Epochs: PretrainEpochs, Seed: 1,
		Peers: cermic.Default().PeerChannels}
	t, err := FindTask(task)
	if err != nil {
		return p, err
	}
	if p.Task, err = envs.Default(t.ID); err != nil {
		return p, err
	}
	p.Task = Rewarded(p.Task, envs.Sparse) // unseen: runs on either reward share their weights
	c, err := conf.New[memory.Config](kind)
	if err != nil {
		return p, err
	}
	return p, p.SetMemory(c)
}

// PretrainingOf is the pre-training for the memory of e on its task.
func PretrainingOf(e experiment.Config, budget string) (experiment.Pretraining, error) {
	p := experiment.Pretraining{Task: Rewarded(e.Task, envs.Sparse),
		Frames: PretrainFrames, Epochs: PretrainEpochs, Seed: 1}
	if budget == cermiclib.Presets[0].Budget.Name {
		p.Frames, p.Epochs = 4000, 2
	}
	c, ok := e.Explore.(cermic.Config)
	if !ok {
		return p, fmt.Errorf("%s has no memory to pre-train: choose mappo-cermic or qmix-cermic", e.Label())
	}
	p.Peers = c.PeerChannels
	return p, p.SetMemory(c.Memory)
}
