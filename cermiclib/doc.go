// SPDX-License-Identifier: Apache-2.0

// Package cermiclib trains CERMIC and nine other methods of multi-agent reinforcement learning. [New] composes a run of
// a task and a method, [Train] trains it, and [Load] returns its policy. The folder examples has programs that add a
// learner, a task and a bonus.
//
// # How one frame flows through the library
//
// A frame is one step of a single environment: all of its agents act once. A run of 600,000 frames repeats these steps
// 600,000 times, a batch of parallel environments at a time.
//
//  1. The task writes the observations of all agents, [E,N,O], into an envs.Step (envs/env.go). envs/vmas/balance.go is
//     one task, envs/vmas/env.go the order of events within its step. Package envs/scripted plays without learning.
//  2. gather in experiment/trainer.go copies the observations into the rollout batch (rl/rollout.go) of each group of
//     agents that is trained together (experiment/group.go).
//  3. The learner computes a distribution of actions from each agent's own observation: learn/actor.go calls the
//     network of policy/mlp.go, or another policy, compiled by nn/program.go. An explorer can add a context before
//     (cermic/context.go), or change the action after (Behave in explore/epsilon.go).
//  4. rl/dist.go samples the actions, each agent's from its own random stream (envs/rng). The environment steps and
//     returns dense and sparse rewards and the ends of episodes. An ended episode keeps its last observation, and its
//     environment is reset (endEpisodes in experiment/trainer.go).
//  5. Once the rollout batch is full, the explorer adds its intrinsic reward: cermic/reward.go, by the formula of
//     cermic/form.go, scaled and weighted by explore/bonus.go.
//  6. The learner takes its gradient steps: learn/mappo.go and learn/ppo.go on the batch, learn/q.go and learn/td.go on
//     samples of the replay buffer (rl/replay.go).
//  7. The explorer learns as well: cermic/module.go draws agent steps (cermic/sampling.go) and minimises the losses of
//     cermic/loss.go. Each step's context comes from the memory (memory/memory.go, then memory/graph.go, gru.go or
//     mlp.go). Steps 5 to 7 are one pass of the paper's Algorithm 1: iterate and learn in experiment/trainer.go.
//  8. At intervals the policy is evaluated in separate episodes (experiment/evaluate.go). Scalars and scores go into
//     the run's folder, and the complete state into its checkpoint (experiment/checkpoint.go, results/checkpoint.go). A
//     killed run therefore resumes to the same bits (experiment/run.go).
//
// Every exchangeable part is an interface with a registry of configs (envs/conf): envs.Config, learn.Config,
// explore.Config, policy.Config and memory.Config. One file that registers a config adds a part; a method Scheduled
// (rl.Scheduled) sets its hyper-parameters per budget. Package reproduce/plan turns the paper's tables into runs,
// reproduce/figures compares them, and viz draws.
package cermiclib
