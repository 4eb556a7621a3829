// SPDX-License-Identifier: Apache-2.0

// Command learner adds a learner, random search over the weights of a linear policy, and trains it on Balance.
package main

import (
	"context"
	"fmt"
	"log"

	"cermic/cermiclib"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/rl"
	"cermic/envs/rng"
)

// Search keeps a random change of the weights if a rollout batch with it has a higher reward.
type Search struct {
	Frames int `json:"search_frames" range:"1..1000000" help:"frames of a rollout batch"`
}

func (Search) Kind() string                           { return "search" }
func (c Search) Validate() error                      { return nil } // tags state all bounds
func (c Search) CollectFrames() int                   { return c.Frames }
func (c Search) HiddenLen() int                       { return 0 } // no recurrent state
func (c Search) Scheduled(s rl.Schedule) learn.Config { c.Frames = s.Rollout; return c }

func (c Search) Build(b *nn.Build, _ policy.Config) (learn.Learner, error) {
	weights := make([]float32, b.Spec.InLen()*b.Spec.Act.Len())
	return &search{c, b.Spec.Act.Len(), rng.New(b.Seed, "search"), nil, weights, 0}, nil
}

type search struct {
	Search
	actions     int // A
	random      *rng.Rand
	kept, tried []float32 // [A,O]
	best        float32   // total reward with kept
}

// Act writes the means and scales [E,N,A] of normal distributions.
func (l *search) Act(in *rl.Obs, out *rl.Dist) error {
	inputs := len(l.tried) / l.actions
	for i := range out.Mean {
		out.Mean[i], out.Scale[i] = 0, 0.1
		for k, w := range l.tried[i%l.actions*inputs:][:inputs] {
			out.Mean[i] += w * in.Obs[i/l.actions*inputs+k]
		}
	}
	return nil
}

func (l *search) Update(_ context.Context, x *rl.Rollout) (rl.Scalars, error) {
	total := float32(0)
	for row, r := range x.Extrinsic {
		total += x.ExtrinsicWeight*r + x.Intrinsic[row]
	}
	if x.Iteration == 0 || total > l.best {
		l.kept, l.best = append(l.kept[:0], l.tried...), total
	}
	for i, w := range l.kept {
		l.tried[i] = w + 0.3*l.random.Norm()
	}
	return rl.Scalars{"search/best": float64(l.best)}, nil
}

func main() {
	learn.Register(Search{Frames: 6000})
	run, err := cermiclib.New("balance", "mappo", cermiclib.WithBudget("smoke"), cermiclib.WithSettings("learner=search"))
	if err != nil {
		log.Fatal(err)
	}
	record, err := cermiclib.Train(context.Background(), run)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.Method, record.Frames, "frames, score", record.Score())
}
