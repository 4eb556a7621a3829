// SPDX-License-Identifier: Apache-2.0

// Command bonus adds an explorer, whose intrinsic reward is the change of an agent's observation, and trains MAPPO with
// it. An explorer that learns also implements Update; one that changes actions implements Behave.
package main

import (
	"context"
	"fmt"
	"log"

	"cermic/cermiclib"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// Motion rewards the squared change of an agent's observation in a step.
type Motion struct {
	Coef float64 `json:"motion_coef" range:"0..1" help:"weight of the bonus"`
}

// Kind is the explorer's name.
func (Motion) Kind() string { return "motion" }

// Validate checks the range of the weight.
func (c Motion) Validate() error { return conf.Check(c) }

// Build returns a module without variables.
func (c Motion) Build(b *nn.Build) (explore.Module, error) {
	idle, err := explore.None{}.Build(b)
	return motion{idle, c}, err
}

type motion struct {
	explore.Module // with a Behave and an Update that do nothing
	Motion
}

func (m motion) Reward(_ context.Context, x *rl.Rollout) (rl.Scalars, error) {
	step, sum := x.E*x.N, 0.0 // rows of a time step
	for row := step; row < x.Rows(); row++ {
		if x.IsFirst[row/x.N] != 0 {
			continue // another episode
		}
		before, now, change := x.ObsRow(row-step), x.ObsRow(row), float32(0)
		for i := range now {
			change += (now[i] - before[i]) * (now[i] - before[i])
		}
		x.Intrinsic[row-step] += float32(m.Coef) * change
		sum += float64(change)
	}
	return rl.Scalars{"motion/mean": sum / float64(x.Rows())}, nil
}

func main() {
	explore.Register(Motion{Coef: 0.01})
	cermiclib.Register(cermiclib.Method{
		ID: "mappo-motion", About: "MAPPO with a reward for motion",
		Learner: learn.DefaultMAPPO(), Policy: policy.DefaultMLP(), Explore: Motion{Coef: 0.01},
	})
	run, err := cermiclib.New("navigation", "mappo-motion", cermiclib.WithBudget("smoke"),
		cermiclib.WithSettings("explore.motion_coef=0.1"))
	if err != nil {
		log.Fatal(err)
	}
	record, err := cermiclib.Train(context.Background(), run)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d frames, score %.3g\n", record.Method, record.Frames, record.Score())
}
