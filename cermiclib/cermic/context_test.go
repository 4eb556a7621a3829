// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/rl"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// testMemories are small memories of every kind, trained on chunks of 3 steps where they have a past.
func testMemories() map[string]memory.Config {
	queue := memory.DefaultGraph()
	queue.Embed, queue.Node, queue.Edge, queue.Heads, queue.Hidden, queue.Width = 8, 8, 4, 2, 8, 12
	queue.Queue, queue.Chunk = 2, 3
	return map[string]memory.Config{
		"mlp": memory.MLP{Embed: 8, Hidden: 8, Width: 12}, "gru": memory.GRU{Embed: 8, Layers: 2, Width: 12, Chunk: 3},
		"graph": queue,
	}
}

// sighting is fakeRollout with labels, as a detector needs; only the first one starts with an episode.
func sighting(iteration int) *rl.Rollout {
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

// featuresOf returns f_n [T·E·N,12] of two rollouts as a gradient step computes it, with the memory of training.
func featuresOf(t *testing.T, cfg memory.Config, store *model.Store) [2][]float32 {
	t.Helper()
	b := graphtest.Build(fakeSpec(2), 4)
	b.Store = store
	mem := must.Value(cfg.Build(b))
	agents, l := 6, mem.Shape().Chunk
	rows := make([]int32, 9*agents) // chunk by chunk of each agent
	for k := range rows {
		chunk := k / l
		rows[k] = int32((chunk/agents*l+k%l)*agents + chunk%agents)
	}
	p := must.Value(nn.NewProgram(b, "whole", mem.Inputs(len(rows)), func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{mem.Context(sc.At(scope).At("memory"), in).Now}
	}))
	var out [2][]float32
	for iteration := range out {
		x := sighting(iteration)
		must.Do(t, memory.Watch(mem, x))
		mem.Gather(p, 0, x, rows)
		must.Do(t, p.Run())
		flat := make([]float32, len(rows)*12)
		p.Read(0, flat)
		out[iteration] = make([]float32, len(flat))
		for k, row := range rows {
			copy(out[iteration][row*12:], flat[k*12:(k+1)*12])
		}
	}
	return out
}

// near reports whether two products of different sizes agree: they add in another order.
func near(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Abs(float64(x-y)) <= 1e-4 })
}

// informed is a module whose memory actors read.
func informed(t *testing.T, mem memory.Config) (*module, *model.Store) {
	t.Helper()
	c := small()
	c.ActorContext, c.Memory = true, mem
	return newModule(t, c, fakeSpec(2), 4)
}

// observed returns the observations at step k of x, in arrays that may be changed.
func observed(x *rl.Rollout, k int) *rl.Obs {
	n, o := x.E*x.N, x.Spec.ObsLen()
	return &rl.Obs{Obs: slices.Clone(x.Obs[k*n*o : (k+1)*n*o]), Alive: x.Alive[k*n : (k+1)*n]}
}

// contextAt returns the context that actors read at step k of x [E,N,12].
func contextAt(t *testing.T, m *module, x *rl.Rollout, k int, in *rl.Obs) []float32 {
	t.Helper()
	dst := make([]float32, x.E*x.N*12)
	must.Do(t, m.ContextFor(in, x.IsFirst[k*x.E:(k+1)*x.E], dst))
	return dst
}

// Step by step, across rollout batches, an actor reads the f_n that a gradient step on the whole rollout computes.
func TestActorsReadTheContextThatTheMemoryLearns(t *testing.T) {
	for name, cfg := range testMemories() {
		m, store := informed(t, cfg)
		for iteration, want := range featuresOf(t, cfg, store) {
			x := sighting(iteration)
			for k := range x.T {
				if got := contextAt(t, m, x, k, observed(x, k)); !near(got, want[k*len(got):(k+1)*len(got)]) {
					t.Fatalf("%s, rollout %d, step %d: actors read %v, want %v", name, iteration, k, got, want[k*len(got):])
				}
			}
		}
	}
}

// The context of an agent does not depend on the observations of others.
func TestContextOfAnActorIsItsOwn(t *testing.T) {
	for name, cfg := range testMemories() {
		open, _ := informed(t, cfg)
		blind, _ := informed(t, cfg)
		x := sighting(0)
		const row = 4
		for k := range x.T {
			in := observed(x, k)
			want := contextAt(t, open, x, k, in)[row*12 : (row+1)*12]
			for i := range in.Obs {
				if i/x.Spec.ObsLen() != row {
					in.Obs[i] = float32(math.NaN())
				}
			}
			if got := contextAt(t, blind, x, k, in)[row*12 : (row+1)*12]; !near(got, want) {
				t.Fatalf("%s, step %d: context %v, want %v", name, k, got, want)
			}
		}
	}
}

// Episodes played in Aside leave no trace in the context, and a loaded module continues the saved one.
func TestContextOfActorsOutlivesASaveAndAnEvaluation(t *testing.T) {
	for name, cfg := range testMemories() {
		straight, _ := informed(t, cfg)
		other, _ := informed(t, cfg)
		x := sighting(0)
		for k := range 4 {
			contextAt(t, straight, x, k, observed(x, k))
			contextAt(t, other, x, k, observed(x, k))
		}
		must.Do(t, other.Aside(func() error {
			contextAt(t, other, sighting(0), 0, observed(sighting(1), 2))
			return nil
		}))
		loaded, _ := informed(t, cfg)
		must.Do(t, loaded.Load(other.Save()))
		for k := 4; k < x.T; k++ {
			want := contextAt(t, straight, x, k, observed(x, k))
			for _, m := range []*module{other, loaded} {
				if !slices.Equal(want, contextAt(t, m, x, k, observed(x, k))) {
					t.Fatalf("%s: step %d differs", name, k)
				}
			}
		}
	}
}
