// SPDX-License-Identifier: Apache-2.0

// Package experiment trains experiments. It collects, trains, evaluates and records. A run can be stopped at any moment
// and continues as if it had not been. Read trainer.go and run.go beside Algorithm 1.
package experiment

import (
	"fmt"

	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/conf"
)

// Config holds all settings that a result depends on. Its canonical JSON is its identity.
type Config struct {
	Task    envs.Config    `json:"task" help:"task and its settings"`
	Learner learn.Config   `json:"learner" help:"reinforcement learner: mappo, or q with a mixer"`
	Policy  policy.Config  `json:"policy" help:"policy network of the agents"`
	Explore explore.Config `json:"explore" help:"exploration module"`
	Budget  Budget         `json:"budget" help:"training length and evaluation"`
	Seed    uint64         `json:"seed" help:"seed of every random stream of the run"`
	Forks   []Fork         `json:"forks,omitzero" help:"parent runs of a branched run; see Branch"`

	Method string `json:"-"` // label of curves and tables; empty: made from learner and explorer
}

// Budget sets how long a run trains and how it is evaluated. It is part of a run's identity, so budgets are never
// mixed.
type Budget struct {
	Name         string `json:"name" help:"name of the budget: smoke, explore, demo, short, paper, or custom"`
	Frames       int    `json:"frames" range:"1..1000000000000" help:"environment steps of training over all parallel environments, in whole rollout batches"`
	EvalEvery    int    `json:"eval_every" range:"1..1000000000000" help:"frames between evaluations; one more follows the first rollout batch"`
	EvalEpisodes int    `json:"eval_episodes" range:"1..100000" help:"episodes of an evaluation"`

	Sampled bool `json:"sampled,omitzero" help:"evaluations sample actions; else they take the most likely ones, as BenchMARL does"`
}

// Label is the method's name in curves and tables.
func (e Config) Label() string {
	switch {
	case e.Method != "":
		return e.Method
	case e.Learner == nil || e.Explore == nil:
		return "incomplete" // Validate names the missing parts
	}
	name := e.Learner.Kind()
	if l, ok := e.Learner.(interface{ Label() string }); ok {
		name = l.Label() // a value learner is called after its mixer
	}
	if e.Explore.Kind() != "none" {
		name += "-" + e.Explore.Kind()
	}
	if len(e.Forks) > 0 {
		name += " (" + e.History() + ")"
	}
	return name
}

// Of returns the experiment of a record, with its label. It is an error if this program lacks settings or parts of the
// record.
func Of(r *results.Record) (e Config, err error) {
	err = conf.Unmarshal(r.Experiment, &e)
	e.Method = r.Method
	return e, err
}

// ID is the hash that names the run of the experiment.
func (e Config) ID() (string, error) { return conf.Hash(e) }

// Validate returns one sentence about the first impossible setting.
func (e Config) Validate() error {
	if e.Task == nil || e.Learner == nil || e.Policy == nil || e.Explore == nil {
		return fmt.Errorf("an experiment needs a task, a learner, a policy and an explorer")
	}
	if err := conf.Check(e); err != nil {
		return err
	}
	for _, part := range []any{e.Learner, e.Policy, e.Explore} {
		if err := conf.Validate(part); err != nil {
			return err
		}
	}
	_, greedy := e.Learner.(learn.ValueBased)
	if _, ok := e.Explore.(explore.Epsilon); ok && greedy {
		return fmt.Errorf("explore=epsilon is for policy gradients, a value learner has an ε of its own: set explore=none, " +
			"and learner.eps_init, learner.eps_end and learner.exploration_anneal_frames")
	}
	spec, err := envs.SpecOf(e.Task) // of one environment, since the requested number may not fit into memory
	if err != nil {
		return err
	}
	if copies, frames := e.Task.Shared().NumEnvs, e.Learner.CollectFrames(); frames < 1 || frames%copies != 0 {
		return fmt.Errorf("a rollout batch has %d frames, want a multiple of the %d parallel environments of %s",
			frames, copies, e.Task.Kind())
	}
	if len(e.Forks) > 0 {
		return e.validateFork(spec)
	}
	return nil
}

// withCopies is e with n parallel environments. No weight depends on their number.
func (e Config) withCopies(n int) Config {
	shared := e.Task.Shared()
	shared.NumEnvs = n
	e.Task = e.Task.WithShared(shared)
	return e
}
