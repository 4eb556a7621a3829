// SPDX-License-Identifier: Apache-2.0

// Package cermiclib holds no code: it is the way of one frame through the house, with the files to read.
//
// A frame is one step of one environment of a task: all of its agents act once. A run of 600,000 frames takes this way 600,000 times, a
// batch of parallel environments at a time.
//
//  1. The task shows what each agent observes: [E,N,O] numbers in an envs.Step (envs/env.go). envs/vmas/balance.go is one task, and
//     envs/vmas/env.go the order of things within its step; envs/scripted lets policies act in it that have learned nothing.
//  2. experiment/trainer.go, gather, copies that into the rollout batch (rl/rollout.go), for each group of agents that is trained together
//     (experiment/group.go).
//  3. The learner computes a distribution of actions from an agent's own observation: learn/actor.go calls the network of
//     policy/mlp.go, or another policy, compiled by nn/program.go. An explorer may have something to say before, a context
//     (cermic/actor.go), or after, in Behave (explore/epsilon.go).
//  4. rl/dist.go samples the actions, each agent's from a random stream of its own (envs/rng), and the environment takes its step:
//     rewards, dense and sparse, and whether an episode has ended. An ended one keeps its true last observation, and its environment begins
//     anew (experiment/trainer.go, endEpisodes).
//  5. When the rollout batch is full, the explorer adds its intrinsic reward: cermic/reward.go, by the formula that cermic/form.go
//     names, scaled and weighted by explore/bonus.go.
//  6. The learner takes its gradient steps: learn/mappo.go and learn/ppo.go on the batch, learn/q.go and learn/td.go on what the
//     replay (rl/replay.go) holds of it and of earlier ones.
//  7. The explorer learns, too: cermic/module.go draws agent steps (cermic/sampling.go), takes the memory's context of each
//     (memory/memory.go, then one of memory/graph.go, memory/gru.go, memory/mlp.go) and minimises the losses of cermic/loss.go.
//     Steps 5 to 7 are one pass of the paper's Algorithm 1: experiment/trainer.go, iterate, and experiment/group.go, learn.
//  8. Every so often the policy is evaluated in episodes of its own (experiment/evaluate.go). Scalars and scores go into the run's
//     folder, and the state of everything into its checkpoint (experiment/checkpoint.go, results/run.go, results/checkpoint.go), so that a
//     run that is killed goes on to the same bits (experiment/run.go).
//
// What can be exchanged is an interface with a registry of configs (envs/conf): envs.Config, learn.Config, explore.Config,
// policy.Config, memory.Config. A file that registers one is all that it takes; a config that is rl.Scheduled says how a budget
// trains it. Whole experiments are composed in reproduce/plan, set beside each other in reproduce/figures, and drawn by viz.
package cermiclib
