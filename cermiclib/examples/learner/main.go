// SPDX-License-Identifier: Apache-2.0

// Command learner adds a learner, random search over the weights of a linear policy, and trains it on Balance.
package main

import (
	"context"
	"encoding/json"
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
	return &search{Search: c, actions: b.Spec.Act.Len(), seed: b.Seed, state: state{Tried: weights}}, nil
}

type search struct {
	Search
	state
	actions int // A
	seed    uint64
}

// state is what a stopped run needs to go on.
type state struct {
	Kept, Tried []float32 // [A,O]
	Best        float32   // total reward with Kept
}

func (l *search) Save() []byte {
	data, _ := json.Marshal(l.state)
	return data
}

func (l *search) Load(data []byte) error { return json.Unmarshal(data, &l.state) }

// Act writes the means and scales [E,N,A] of normal distributions.
func (l *search) Act(in *rl.Obs, out *rl.Dist) error {
	inputs := len(l.Tried) / l.actions
	for i := range out.Mean {
		out.Mean[i], out.Scale[i] = 0, 0.1
		for k, w := range l.Tried[i%l.actions*inputs:][:inputs] {
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
	if x.Iteration == 0 || total > l.Best {
		l.Kept, l.Best = append(l.Kept[:0], l.Tried...), total
	}
	random := rng.New(l.seed, "search", uint64(x.Iteration))
	for i, w := range l.Kept {
		l.Tried[i] = w + 0.3*random.Norm()
	}
	return rl.Scalars{"search/best": float64(l.Best)}, nil
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
