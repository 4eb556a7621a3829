// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"fmt"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/explore"
)

// A learner is a config that is built for a task and any policy. Acting fills a distribution for every agent of every
// environment.
func Example() {
	env := must.Value(explore.DefaultClimbing().WithShared(envs.Common{NumEnvs: 4, Reward: envs.Dense}).Build(1, 1))
	backend := must.Value(nn.OpenPure())
	spec := env.Spec()
	build := &nn.Build{Spec: spec, Backend: backend, Store: nn.NewStore(1), Seed: 1}
	defer build.Close()
	settings := learn.DefaultMAPPO()
	settings.Frames, settings.Minibatch = 40, 20 // any setting, by its field
	learner := must.Value(settings.Build(build, policy.MLP{Hidden: []int{16}}))
	step, dist := envs.NewStep(spec), rl.NewDist(spec, learner.HiddenLen())
	env.Reset(nil, step)
	if err := learner.Act(&rl.Obs{Obs: step.Obs, State: step.State, Mask: step.Mask, Alive: step.Alive}, dist); err != nil {
		panic(err)
	}
	fmt.Println("one logit for each choice:", len(dist.Logits) == spec.NumEnvs*spec.Agents*spec.Act.Choices)
	// Output: one logit for each choice: true
}
