// SPDX-License-Identifier: Apache-2.0

package cermiclib_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"testing"

	"cermic/cermiclib"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

func TestMain(m *testing.M) { libtest.Main(m) }

// The label of a run is its method and its changed settings.
func ExampleNew() {
	run, err := cermiclib.New("vmas/balance", "mappo-cermic", cermiclib.WithBudget("short"),
		cermiclib.WithSettings("explore.alpha=0.5"), cermiclib.WithSeed(3))
	fmt.Println(run.Label(), "on", run.Task.Kind(), "for", run.Budget.Frames, "frames", err)

	_, err = cermiclib.New("vmas/balance", "mappo-cermc")
	fmt.Println(err)
	_, err = cermiclib.New("balance", "mappo", cermiclib.WithSettings("learner.lrr=1"))
	fmt.Println(err)
	// Output:
	// mappo-cermic explore.alpha=0.5 on vmas/balance for 600000 frames <nil>
	// unknown method "mappo-cermc"; did you mean mappo-cermic?
	// unknown key "learner.lrr"; did you mean learner.lr?
}

// Hooks follow the training; the trained policy acts in the task's environments.
func ExampleTrain() {
	folder, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	run, err := cermiclib.New("balance", "mappo", cermiclib.WithBudget("smoke"), cermiclib.WithFrames(400),
		cermiclib.WithReward(envs.Dense), cermiclib.WithFolder(folder), cermiclib.WithSettings(
			"learner.frames_per_batch=200", "budget.eval_every=400", "budget.eval_episodes=4", "task.copies=4"))
	if err != nil {
		log.Fatal(err)
	}
	record, err := cermiclib.Train(context.Background(), run, cermiclib.Hooks{
		OnRollout: func(frames int, batch []*rl.Rollout) {
			fmt.Println("collected", batch[0].T*batch[0].E, "frames after", frames)
		},
		OnUpdate: func(frames int, scalars map[string]float64) {
			_, ok := scalars["critic_loss"]
			fmt.Println("updated at", frames, "with a critic loss:", ok)
		},
		OnEvaluation: func(frames int, e results.Eval) {
			fmt.Println("evaluated at", frames, "in", len(e.Scores), "episodes")
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	policy, err := cermiclib.Load(run, 1)
	if err != nil {
		log.Fatal(err)
	}
	defer policy.Close()
	fmt.Println(record.Complete, policy.Frames)
	// Output:
	// collected 200 frames after 0
	// updated at 200 with a critic loss: true
	// evaluated at 200 in 4 episodes
	// collected 200 frames after 200
	// updated at 400 with a critic loss: true
	// evaluated at 400 in 4 episodes
	// true 400
}

// The program of reproduce/docs/README.md, which shows these lines; it is compiled and not run.
func Example() {
	run, err := cermiclib.New("balance", "mappo-cermic", cermiclib.WithBudget("smoke"), cermiclib.WithSettings("explore.alpha=0.5"))
	if err != nil {
		log.Fatal(err) // one sentence that names the setting
	}
	record, err := cermiclib.Train(context.Background(), run)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.Method, "after", record.Frames, "frames:", record.Score())
}
