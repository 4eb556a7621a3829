// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs/rng"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// recallers are small memories of every kind, trained on chunks of 3 steps where they have a past.
func recallers() map[string]memory.Config {
	gru := memory.GRU{Embed: 8, Layers: 2, Width: 12, Chunk: 3}
	gated := gru
	gated.Gated = true
	queue := memory.DefaultGraph()
	queue.Embed, queue.Node, queue.Edge, queue.Heads, queue.Hidden, queue.Width, queue.Queue, queue.Chunk = 8, 8, 4, 2, 8, 12, 2, 3
	cached := queue
	cached.History = memory.HistoryCached
	return map[string]memory.Config{
		"mlp": memory.MLP{Embed: 8, Hidden: 8, Width: 12}, "gru": gru, "gated gru": gated, "graph": queue, "cached graph": cached,
	}
}

// informed is a module whose memory actors read.
func informed(t *testing.T, mem memory.Config) (*module, *model.Store) {
	t.Helper()
	c := small()
	c.ActorContext, c.Memory = true, mem
	return newModule(t, c, fakeSpec(2), 4)
}

// later is a rollout batch of 9 steps after the first one: nobody starts anew at its beginning.
func later(iteration int) *rl.Rollout {
	x := fakeRollout(fakeSpec(2), 9, iteration)
	if iteration > 0 {
		clear(x.IsFirst[:x.E])
	}
	x.KeepLabels()
	r := rng.New(3, "labels", uint64(iteration))
	for i := range x.Visible {
		x.Visible[i] = uint8(r.IntN(2))
	}
	return x
}

// seen is what the agents of x see at step t; copies of it may be changed.
func seen(x *rl.Rollout, t int) *rl.Obs {
	n, o := x.E*x.N, x.Spec.ObsLen()
	return &rl.Obs{Obs: slices.Clone(x.Obs[t*n*o : (t+1)*n*o]), Alive: x.Alive[t*n : (t+1)*n]}
}

// tell is what actors are told at step t of x [E,N,12].
func tell(t *testing.T, m *module, x *rl.Rollout, k int, in *rl.Obs) []float32 {
	t.Helper()
	dst := make([]float32, x.E*x.N*12)
	if err := m.ContextFor(in, x.IsFirst[k*x.E:(k+1)*x.E], dst); err != nil {
		t.Fatal(err)
	}
	return dst
}

// TestActorsAreToldTheFeaturesThatTheMemoryLearns: step by step, over the end of rollout batches, an actor is told the f_n that a gradient
// step on the whole rollout batch computes.
func TestActorsAreToldTheFeaturesThatTheMemoryLearns(t *testing.T) {
	for name, cfg := range recallers() {
		t.Run(name, func(t *testing.T) {
			m, store := informed(t, cfg)
			b := &nn.Build{Spec: fakeSpec(2), Backend: pureGo(t), Store: store, Seed: 4}
			mem, err := cfg.Build(b)
			if err != nil {
				t.Fatal(err)
			}
			agents, l := 6, mem.Shape().Chunk
			rows := make([]int32, 9*agents) // chunk by chunk of each agent
			for k := range rows {
				chunk := k / l
				rows[k] = int32((chunk/agents*l+k%l)*agents + chunk%agents)
			}
			p, err := nn.NewProgram(b, "whole", mem.Inputs(len(rows)), func(sc *model.Scope, in []*graph.Node) []*graph.Node {
				return []*graph.Node{mem.Context(sc.At(scope).At("memory"), in).Now}
			})
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float32, len(rows)*12)
			for iteration := range 2 {
				x := later(iteration)
				if w, ok := mem.(memory.Watcher); ok {
					if err := w.Watch(x); err != nil {
						t.Fatal(err)
					}
				}
				mem.Gather(p, 0, x, rows)
				if err := p.Run(); err != nil {
					t.Fatal(err)
				}
				p.Read(0, want)
				got := make([][]float32, 9)
				for k := range got {
					got[k] = tell(t, m, x, k, seen(x, k))
				}
				for k, row := range rows {
					told := got[int(row)/agents][int(row)%agents*12:][:12]
					for i, v := range told {
						// rows of matrix products of different sizes: equal but for the order of additions
						if math.Abs(float64(v-want[k*12+i])) > 1e-4 {
							t.Fatalf("collection %d, row %d: told %v, the memory learns %v", iteration, row, told, want[k*12:][:12])
						}
					}
				}
			}
		})
	}
}

// TestAnActorIsToldNothingOfWhatOthersSee: with everything but one agent's observations made NaN, it is told the same.
func TestAnActorIsToldNothingOfWhatOthersSee(t *testing.T) {
	for name, cfg := range recallers() {
		t.Run(name, func(t *testing.T) {
			open, _ := informed(t, cfg)
			blind, _ := informed(t, cfg)
			x := later(0)
			const row = 4
			for k := range x.T {
				in := seen(x, k)
				want := tell(t, open, x, k, in)[row*12 : (row+1)*12]
				for i := range in.Obs {
					if i/x.Spec.ObsLen() != row {
						in.Obs[i] = float32(math.NaN())
					}
				}
				got := tell(t, blind, x, k, in)[row*12 : (row+1)*12]
				for i := range want {
					if !(math.Abs(float64(got[i]-want[i])) < 1e-5) { // rows of one matrix product
						t.Fatalf("step %d: told %v, want %v", k, got, want)
					}
				}
			}
		})
	}
}

// TestWhatActorsAreToldOutlivesASaveAndAnEvaluation: other episodes in between leave no trace, and a module that loads what another one
// saved goes on bit for bit.
func TestWhatActorsAreToldOutlivesASaveAndAnEvaluation(t *testing.T) {
	for name, cfg := range recallers() {
		t.Run(name, func(t *testing.T) {
			straight, _ := informed(t, cfg)
			asided, _ := informed(t, cfg)
			x, other := later(0), later(1)
			for k := range 4 {
				tell(t, straight, x, k, seen(x, k))
				tell(t, asided, x, k, seen(x, k))
			}
			for range 2 { // an evaluation knows nothing of the one before either
				var first []float32
				err := asided.WithFreshState(func() error {
					first = tell(t, asided, other, 2, seen(other, 2))
					tell(t, asided, other, 3, seen(other, 3))
					return nil
				})
				fresh, _ := informed(t, cfg)
				if want := tell(t, fresh, other, 2, seen(other, 2)); err != nil || !slices.Equal(first, want) {
					t.Fatalf("%v: told %v, want %v", err, first, want)
				}
			}
			loaded, _ := informed(t, cfg)
			if err := loaded.Load(asided.Save()); err != nil {
				t.Fatal(err)
			}
			for k := 4; k < x.T; k++ {
				want := tell(t, straight, x, k, seen(x, k))
				if !slices.Equal(want, tell(t, asided, x, k, seen(x, k))) || !slices.Equal(want, tell(t, loaded, x, k, seen(x, k))) {
					t.Fatalf("step %d differs", k)
				}
			}
		})
	}
}

func TestActorsCannotReadAMemoryThatIsLeftOut(t *testing.T) {
	c := Default()
	c.ActorContext, c.Exploit = true, false
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "actor_uses_context") {
		t.Errorf("got %v", err)
	}
}
