// SPDX-License-Identifier: Apache-2.0

package experiment_test

import (
	"context"
	"fmt"
	"os"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/vmas"
)

// small is an experiment that trains within a second.
func small() experiment.Config {
	learner := learn.DefaultMAPPO()
	learner.Frames, learner.Epochs, learner.Minibatch, learner.CriticHidden = 200, 1, 100, []int{16}
	return experiment.Config{
		Task: vmas.DefaultBalance().WithShared(envs.Common{NumEnvs: 4, Reward: envs.Dense}), Learner: learner,
		Policy: policy.MLP{Hidden: []int{16}}, Explore: explore.None{},
		Budget: experiment.Budget{Name: "custom", Frames: 400, EvalEvery: 200, EvalEpisodes: 4}, Seed: 1,
	}
}

// temporary is a store that is gone afterwards.
func temporary() (st *results.Store, remove func()) {
	dir := must(os.MkdirTemp("", "example"))
	return must(results.Open(dir)), func() { os.RemoveAll(dir) }
}

// must panics on errors in the examples.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A trained policy is loaded by the ID of its run and played in five lines.
func ExampleLoad() {
	st, remove := temporary()
	defer remove()
	record := must(experiment.Run(context.Background(), small(), st))

	trained := must(experiment.Load(st, record.ID, 1))
	env := must(trained.Env(7))
	step, act := envs.NewStep(env.Spec()), envs.NewActions(env.Spec())
	for env.Reset(nil, step); step.Terminated[0]|step.Truncated[0] == 0; env.Step(act, step) {
		must(0, trained.Act(step, act))
	}

	fmt.Println(trained.Frames, "frames of training,", len(act.Continuous), "forces a step")
	trained.Close()
	// Output: 400 frames of training, 8 forces a step
}

// A network is one field of the experiment.
func ExampleParts() {
	e := small()
	for _, network := range []policy.Config{e.Policy, policy.MLP{Hidden: []int{32, 32, 32}}, policy.DefaultGRU()} {
		e.Policy = network
		parts, _, err := experiment.Parts(e)
		if err != nil {
			panic(err)
		}
		fmt.Println(network.Kind(), parts[0].Name, parts[0].Parameters)
	}
	// Output:
	// mlp actor 340
	// mlp actor 2788
	// gru actor/gru 56064
}
