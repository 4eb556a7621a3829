// SPDX-License-Identifier: Apache-2.0

// Command train trains MAPPO with CERMIC on Balance for a few thousand frames and plays an episode with the policy.
package main

import (
	"context"
	"fmt"
	"log"

	"cermic/cermiclib"
	"cermic/cermiclib/results"
	"cermic/envs"
)

func main() {
	run, err := cermiclib.New("vmas/balance", "mappo-cermic", cermiclib.WithBudget("smoke"),
		cermiclib.WithReward(envs.Dense), cermiclib.WithSettings("explore.memory=mlp", "explore.alpha=0.5"))
	if err != nil {
		log.Fatal(err)
	}
	record, err := cermiclib.Train(context.Background(), run, cermiclib.Hooks{
		OnUpdate: func(frames int, scalars map[string]float64) {
			fmt.Printf("%d frames: critic loss %.3g\n", frames, scalars["critic_loss"])
		},
		OnEvaluation: func(frames int, e results.Eval) {
			fmt.Printf("%d frames: mean score %.3g of %d episodes\n", frames, e.Score(), len(e.Scores))
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("run %s is %q\n", record.ID, record.Method)

	policy, err := cermiclib.Load(run, 1)
	if err != nil {
		log.Fatal(err)
	}
	defer policy.Close()
	env, err := policy.Env(7)
	if err != nil {
		log.Fatal(err)
	}
	step, act, score := envs.NewStep(env.Spec()), envs.NewActions(env.Spec()), float32(0)
	for env.Reset(nil, step); step.Terminated[0]|step.Truncated[0] == 0; score += step.Score[0] {
		if err := policy.Act(step, act); err != nil {
			log.Fatal(err)
		}
		env.Step(act, step)
	}
	fmt.Printf("one more episode: score %.3g\n", score)
}
