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

// memoryConfigs returns a small memory of every kind; recurrent ones train on chunks of 3 steps.
func memoryConfigs() map[string]memory.Config {
	gru := memory.GRU{Embed: 8, Layers: 2, Width: 12, Chunk: 3}
	gated := gru
	gated.Gated = true
	queue := memory.DefaultGraph()
	queue.Embed, queue.Node, queue.Edge, queue.Heads, queue.Hidden = 8, 8, 4, 2, 8
	queue.Width, queue.Queue, queue.Chunk = 12, 2, 3
	cached := queue
	cached.History = memory.HistoryCached
	return map[string]memory.Config{
		"mlp": memory.MLP{Embed: 8, Hidden: 8, Width: 12}, "gru": gru, "gated gru": gated,
		"graph": queue, "cached graph": cached,
	}
}

// newContextModule returns a module whose actors read f_n.
func newContextModule(t *testing.T, mem memory.Config) (*module, *model.Store) {
	t.Helper()
	c := small()
	c.ActorContext, c.Memory = true, mem
	return newModule(t, c, fakeSpec(2), 4)
}

// collected returns rollout batch number iteration, of 9 steps and with random labels. Episodes continue from the batch
// before.
func collected(iteration int) *rl.Rollout {
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

// obsAt returns a copy of the observations of x at step t.
func obsAt(x *rl.Rollout, t int) *rl.Obs {
	n, o := x.E*x.N, x.Spec.ObsLen()
	return &rl.Obs{Obs: slices.Clone(x.Obs[t*n*o : (t+1)*n*o]), Alive: x.Alive[t*n : (t+1)*n]}
}

// contextAt returns the actors' f_n at step k of x, [E,N,12].
func contextAt(t *testing.T, m *module, x *rl.Rollout, k int, in *rl.Obs) []float32 {
	t.Helper()
	dst := make([]float32, x.E*x.N*12)
	if err := m.ContextFor(in, x.IsFirst[k*x.E:(k+1)*x.E], dst); err != nil {
		t.Fatal(err)
	}
	return dst
}

// Step by step and across rollout batches, an actor's f_n equals the one that a gradient step computes on the whole
// rollout batch.
func TestActorsReadTheFeaturesThatTheMemoryTrains(t *testing.T) {
	for name, cfg := range memoryConfigs() {
		t.Run(name, func(t *testing.T) {
			m, store := newContextModule(t, cfg)
			b := &nn.Build{Spec: fakeSpec(2), Backend: pureGo(t), Store: store, Seed: 4}
			mem, err := cfg.Build(b)
			if err != nil {
				t.Fatal(err)
			}
			agents, l := 6, mem.Shape().Chunk
			rows := make([]int32, 9*agents) // in chunks of each agent
			for k := range rows {
				chunk := k / l
				rows[k] = int32((chunk/agents*l+k%l)*agents + chunk%agents)
			}
			context := func(sc *model.Scope, in []*graph.Node) []*graph.Node {
				return []*graph.Node{mem.Context(sc.At(scope).At("memory"), in).Now}
			}
			p, err := nn.NewProgram(b, "whole", mem.Inputs(len(rows)), context)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float32, len(rows)*12)
			for iteration := range 2 {
				x := collected(iteration)
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
					got[k] = contextAt(t, m, x, k, obsAt(x, k))
				}
				for k, row := range rows {
					context := got[int(row)/agents][int(row)%agents*12:][:12]
					for i, v := range context {
						// Rows of matrix products of different sizes differ in the order of additions.
						if math.Abs(float64(v-want[k*12+i])) > 1e-4 {
							t.Fatalf("rollout batch %d, row %d: the actor's f_n is %v, the memory's %v",
								iteration, row, context, want[k*12:][:12])
						}
					}
				}
			}
		})
	}
}

// With NaN in the observations of all other agents, an agent's f_n is the same.
func TestContextOfAnActorIgnoresObservationsOfOthers(t *testing.T) {
	for name, cfg := range memoryConfigs() {
		t.Run(name, func(t *testing.T) {
			open, _ := newContextModule(t, cfg)
			blind, _ := newContextModule(t, cfg)
			x := collected(0)
			const row = 4
			for k := range x.T {
				in := obsAt(x, k)
				want := contextAt(t, open, x, k, in)[row*12 : (row+1)*12]
				for i := range in.Obs {
					if i/x.Spec.ObsLen() != row {
						in.Obs[i] = float32(math.NaN())
					}
				}
				got := contextAt(t, blind, x, k, in)[row*12 : (row+1)*12]
				for i := range want {
					if !(math.Abs(float64(got[i]-want[i])) < 1e-5) { // rows of one matrix product
						t.Fatalf("step %d: f_n is %v, want %v", k, got, want)
					}
				}
			}
		})
	}
}

// An evaluation in between changes nothing, and a module that loads a saved state continues bit for bit.
func TestActorContextSurvivesSavingAndEvaluation(t *testing.T) {
	for name, cfg := range memoryConfigs() {
		t.Run(name, func(t *testing.T) {
			reference, _ := newContextModule(t, cfg)
			evaluated, _ := newContextModule(t, cfg)
			x, other := collected(0), collected(1)
			for k := range 4 {
				contextAt(t, reference, x, k, obsAt(x, k))
				contextAt(t, evaluated, x, k, obsAt(x, k))
			}
			for range 2 { // the second evaluation does not depend on the first
				var first []float32
				err := evaluated.WithFreshState(func() error {
					first = contextAt(t, evaluated, other, 2, obsAt(other, 2))
					contextAt(t, evaluated, other, 3, obsAt(other, 3))
					return nil
				})
				fresh, _ := newContextModule(t, cfg)
				if want := contextAt(t, fresh, other, 2, obsAt(other, 2)); err != nil || !slices.Equal(first, want) {
					t.Fatalf("%v: f_n is %v, want %v", err, first, want)
				}
			}
			loaded, _ := newContextModule(t, cfg)
			if err := loaded.Load(evaluated.Save()); err != nil {
				t.Fatal(err)
			}
			for k := 4; k < x.T; k++ {
				want := contextAt(t, reference, x, k, obsAt(x, k))
				for name, m := range map[string]*module{"evaluated": evaluated, "loaded": loaded} {
					if !slices.Equal(want, contextAt(t, m, x, k, obsAt(x, k))) {
						t.Fatalf("step %d of the %s module differs", k, name)
					}
				}
			}
		})
	}
}

func TestActorContextWithoutMemoryIsRefused(t *testing.T) {
	c := Default()
	c.ActorContext, c.Exploit = true, false
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "actor_uses_context") {
		t.Errorf("got %v", err)
	}
}
