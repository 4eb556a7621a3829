// SPDX-License-Identifier: Apache-2.0

package cermic_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
	"cermic/envs/vmas"
)

// hillClimber is a learner from outside this library. Its linear policy is shared by all agents and keeps a random
// change of its weights if a rollout batch has a higher return.
type hillClimber struct {
	weights, trial [2][18]float32
	best           float32
	random         *rng.Rand
}

func (l *hillClimber) act(obs, force []float32) { // [E,N,18], [E,N,2]
	for k := range force {
		sum := float32(0)
		for i, o := range obs[k/2*18:][:18] {
			sum += l.trial[k%2][i] * o
		}
		force[k] = min(max(sum, -1), 1)
	}
}

func (l *hillClimber) learn(x *rl.Rollout) {
	total := float32(0)
	for row := range x.Rows() {
		total += x.Extrinsic[row] + x.Intrinsic[row] // adding Intrinsic is all that a learner has to do
	}
	if total > l.best {
		l.weights, l.best = l.trial, total
	}
	for d, w := range l.weights {
		for i := range w {
			l.trial[d][i] = w[i] + 0.3*l.random.Norm()
		}
	}
}

// The module works with any learner; it needs only the learner's rollout batches.
func Example_ownLearner() {
	task := vmas.DefaultNavigation()
	task.NumEnvs, task.MaxSteps = 2, 40
	env := must(task.Build(1, 0))
	s := env.Spec()
	build := &nn.Build{Spec: s, Backend: must(nn.Open()), Store: nn.NewStore(1), Seed: 1}
	defer build.Close()
	settings := cermic.Default()
	settings.Alpha, settings.Minibatch = 0.5, 64 // any field of Config
	settings.Memory = memory.DefaultMLP()
	curiosity := must(settings.Build(build))

	learner, x := hillClimber{random: rng.New(1, "climber")}, rl.NewRollout(s, 40, 0)
	x.KeepLabels() // the module also reads which peers are visible
	collector := rl.NewCollector(env)
	for x.Iteration = range 3 {
		err := collector.Collect(x, func(_ int, step *envs.Step, act *envs.Actions) error {
			learner.act(step.Obs, act.Continuous)
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
		must(curiosity.Reward(context.Background(), x)) // adds r^i to x.Intrinsic
		learner.learn(x)
		must(curiosity.Update(context.Background(), x))
	}
	fmt.Println("agent steps with a bonus:", x.Rows()-count(x.Intrinsic, 0), "of", x.Rows())
	// Output: agent steps with a bonus: 240 of 240
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func count(v []float32, of float32) int {
	return len(slices.DeleteFunc(slices.Clone(v), func(x float32) bool { return x != of }))
}
