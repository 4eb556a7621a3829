// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cermic/cermiclib/cermic"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/run"
)

// explorationBudget is for the tasks of envs/explore: small networks and small rollout batches, so that a run takes less than a minute on
// two cores and many seeds can be compared.
var explorationBudget = Budget{
	About: "150,000 frames of the small exploration tasks, 399,000 where agents walk through rooms; networks of 64 units, " +
		"rollout batches of 3,000 frames",
	Budget: run.Budget{Name: "explore", Frames: 150_000, EvalEvery: 15_000, EvalEpisodes: 60, Sampled: true},
	Longer: map[string]int{"explore/pass": 399_000, "explore/secret": 399_000, "explore/rooms": 399_000},
	Copies: 60,
	MAPPO: func(c learn.MAPPO) learn.MAPPO {
		c.Frames, c.Epochs, c.Minibatch, c.LR, c.CriticHidden = 3000, 10, 750, 7e-4, []int{64, 64}
		return c
	},
	Q: func(c learn.Q) learn.Q {
		c.Frames, c.Steps, c.Batch, c.Replay, c.LR = 3000, 50, 512, 150_000, 7e-4
		return c
	},
	Cermic: smallModule,
	DB: func(c explore.DB) explore.DB { // as smallModule
		c.Hidden, c.Minibatch, c.LR = 64, 512, 1e-3
		return c
	},
	Policy: func(c policy.Config) policy.Config {
		if mlp, ok := c.(policy.MLP); ok {
			mlp.Hidden = []int{64, 64}
			return mlp
		}
		return c
	},
}

// smallModule is a module in proportion to networks of 64 units. It takes larger steps than the paper's 1e-4: fifty rollout batches of
// 3,000 frames are all that there is to learn from.
func smallModule(c cermic.Config) cermic.Config {
	c = sparing(c)
	c.Hidden, c.LR = 64, 3e-3
	switch m := c.Memory.(type) {
	case memory.MLP:
		m.Hidden, m.Width = 64, 64
		c.Memory = m
	case memory.GRU:
		m.Width = 64
		c.Memory = m
	case memory.DynamicGraph:
		m.Node, m.Hidden, m.Width = 64, 64, 64
		c.Memory = m
	}
	return c
}
