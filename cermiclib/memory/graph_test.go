// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/nn/nntest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// The specification gives these counts at 18 observed numbers.
func TestMemoriesHaveTheSpecifiedNumberOfParameters(t *testing.T) {
	spec := &envs.Spec{Name: "fake", NumEnvs: 1, Agents: 4, Obs: []int{18}}
	gru := DefaultGRU()
	gru.Chunk = 1 // the unrolled steps share their weights
	for _, c := range []struct {
		memory Config
		counts map[string]int // below a part
	}{
		{DefaultMLP(), map[string]int{"": 85_056}},
		{gru, map[string]int{"": 669_248}},
		{DefaultGraph(), map[string]int{
			"": 1_007_700, "/encoder": 27_200, "/detector": 25_348, "/node": 58_880, "/edge": 27_920, "/attention": 263_168,
			"/graph_0": 200_960 + 3*256, "/graph_1": 401_920 + 3*512, // together 605 184
		}},
	} {
		_, _, store := probe(t, c.memory, spec, DefaultGraph().Chunk)
		for part, want := range c.counts {
			if got := nntest.NumParameters(nn.Variables(store, "/memory"+part)); got != want {
				t.Errorf("memory %s%s has %d parameters, want %d", c.memory.Kind(), part, got, want)
			}
		}
	}
}

// smallGraph is narrow, for tests; all its widths differ where they can.
func smallGraph() DynamicGraph {
	c := DefaultGraph()
	c.Embed, c.Node, c.Edge, c.Heads, c.Hidden, c.Width, c.Queue, c.Chunk = 5, 8, 3, 2, 6, 10, 2, 1
	return c
}

// trio has 2 copies of 3 agents that see 4 numbers.
func trio() *envs.Spec {
	return &envs.Spec{Name: "fake", NumEnvs: 2, Agents: 3, Obs: []int{4}, Act: envs.ActSpec{Choices: 2}}
}

// sightings draws detections [T,E,N] of other agents, none in two of three steps.
func sightings(x *rl.Rollout, seed uint64) []uint64 {
	r, seen := rng.New(seed, "sightings"), make([]uint64, x.Rows())
	for row := range seen {
		if r.IntN(3) == 0 {
			seen[row] = uint64(r.IntN(1<<x.N)) &^ (1 << (row % x.N))
		}
	}
	return seen
}

func TestGraphFeaturesFollowTheSpecification(t *testing.T) {
	spec, c := trio(), smallGraph()
	for _, shape := range []struct{ layers, chunk int }{{1, 1}, {2, 1}, {3, 1}, {2, 3}, {2, 9}} {
		c.Layers, c.Chunk = shape.layers, shape.chunk
		first, second := wander(spec, 9, 1, 0, 1, 5*2), wander(spec, 9, 2, 3*2+1)
		m, p, store := probe(t, c, spec, first.Rows())
		ref, q := newReference(c, store, spec.Agents), m.(*graphMemory).queue
		for seed, x := range []*rl.Rollout{first, second} {
			x.KeepLabels()
			q.watch(x, sightings(x, uint64(seed)))
			rows := chunked(x, c.Chunk)
			now, before, exists := features(t, m, p, x, rows)
			for k, row := range rows {
				moments := ref.moments(q, x, int(row))
				checkFeature(t, "f_n", int(row), now[k*c.Width:(k+1)*c.Width], ref.feature(moments, int(row)%3))
				if exists[k] != 0 {
					checkFeature(t, "f_{n-1}", int(row), before[k*c.Width:(k+1)*c.Width], ref.feature(moments[1:], int(row)%3))
				}
				if (exists[k] != 0) != (len(moments) > 1) {
					t.Errorf("row %d has %d moments, but f_{n-1} exists: %g", row, len(moments), exists[k])
				}
			}
			if t.Failed() {
				t.Fatalf("with %+v", shape)
			}
		}
	}
}

// moments translates the moments that a row refers to for the reference.
func (r reference) moments(q *queue, x *rl.Rollout, row int) (out []sighting) {
	lane := row % len(q.lanes)
	q.behind(lane, int(q.number[row]), q.keep, func(_ int, m moment) {
		s := sighting{obs: nntest.Wide(q.observation(x, m)), seen: make([]bool, r.agents)}
		for j := range s.seen {
			s.seen[j] = m.seen>>j&1 != 0
		}
		out = append(out, s)
	})
	return out
}

func checkFeature(t *testing.T, name string, row int, got []float32, want []float64) {
	t.Helper()
	for k := range got {
		// A dozen products of narrow float32 matrices, each followed by a normalisation that may amplify rounding tenfold.
		if math.Abs(float64(got[k])-want[k]) > 2e-4 {
			t.Errorf("component %d of %s at row %d is %g, want %g", k, name, row, got[k], want[k])
			return
		}
	}
}

// gradients returns Σ|∂goal/∂v| of every variable after watching x with the given detections, by path below /memory.
func gradients(t *testing.T, c DynamicGraph, goal func(Context) *graph.Node) (map[string]float64, *model.Store) {
	t.Helper()
	spec := trio()
	x := wander(spec, 9, 1, 0, 1)
	x.KeepLabels()
	for i, s := range sightings(x, 7) {
		for j := range 3 {
			x.Visible[i*3+j] = uint8(s >> j & 1)
		}
	}
	build := graphtest.Build(spec, 1)
	m := must.Value(c.Build(build)).(*graphMemory)
	var names []string
	p := must.Value(nn.NewProgram(build, "gradients", m.Inputs(x.Rows()), func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		value := goal(m.Context(sc.At("memory"), in))
		var nodes []*graph.Node
		names = nil
		for _, v := range nn.Variables(build.Store, "/memory") {
			names, nodes = append(names, strings.TrimPrefix(v.Path(), "/memory/")), append(nodes, v.NodeValue(value.Graph()))
		}
		out := []*graph.Node{}
		for _, d := range graph.Gradient(value, nodes...) {
			out = append(out, graph.ReduceAllSum(graph.Abs(d)))
		}
		return out
	}))
	m.queue.watch(x, sightings(x, 3))
	m.Gather(p, 0, x, chunked(x, 1))
	must.Do(t, p.Run())
	out := map[string]float64{}
	for i, name := range names {
		out[name] = p.Scalar(i)
	}
	return out, build.Store
}

// someOf is a scalar that depends on every component of f: sums and squares would be constant after normalisation.
func someOf(f *graph.Node) *graph.Node {
	return graph.ReduceAllSum(graph.Mul(f, graph.Sin(graph.Iota(f.Graph(), f.Shape(), 1))))
}

func TestFeaturesTrainEverythingButTheDetector(t *testing.T) {
	for name, goal := range map[string]func(Context) *graph.Node{
		"f_n":     func(f Context) *graph.Node { return someOf(f.Now) },
		"f_{n-1}": func(f Context) *graph.Node { return someOf(f.Before) },
	} {
		size, store := gradients(t, smallGraph(), goal)
		for path, d := range size {
			if detector := strings.HasPrefix(path, "detector/"); (d == 0) != detector {
				t.Errorf("%s: the gradient at %s sums to %g", name, path, d)
			}
			if !store.GetVariable("/memory/" + path).Trainable {
				t.Errorf("%s is not trainable", path)
			}
		}
	}
}

func TestDetectorsLossTrainsDetectorAndEncoderAlone(t *testing.T) {
	size, _ := gradients(t, smallGraph(), func(f Context) *graph.Node { return graph.ReduceAllSum(f.Loss) })
	for path, d := range size {
		if learns := strings.HasPrefix(path, "detector/") || strings.HasPrefix(path, "encoder/"); (d != 0) != learns {
			t.Errorf("the gradient at %s sums to %g", path, d)
		}
	}
}

func TestDetectionLossFollowsItsFormula(t *testing.T) {
	in := []nn.Input{nn.F32("logits", 2, 3), nn.F32("labels", 2, 3), nn.F32("own", 2, 3)}
	got := graphtest.Outputs(graphtest.Build(nil, 1), in, func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{detectionLoss(in[0], in[1], in[2])}
	}, []float32{99, 1, -2, 0.5, -99, 200}, []float32{0, 1, 0, 1, 1, 0}, []float32{1, 0, 0, 0, 1, 0})[0]
	softplus := func(x float64) float64 { return math.Log1p(math.Exp(x)) }
	for i, want := range []float64{softplus(-1) + softplus(-2), softplus(-0.5) + 200} { // without own slots, at 99 and -99
		if math.Abs(float64(got[i])-want) > 1e-6*want { // float32
			t.Errorf("loss %d is %g, want %g", i, got[i], want)
		}
	}
}

func TestWatchDetectsFromTheThresholdOn(t *testing.T) {
	spec, c := trio(), smallGraph()
	m, _, store := probe(t, c, spec, 6)
	x := wander(spec, 4, 1, 0, 1)
	x.KeepLabels()
	g := m.(*graphMemory)
	ref := newReference(c, store, spec.Agents)
	for _, threshold := range []float64{0.4, 0.5, 0.6} {
		g.Threshold = threshold
		watch(t, m, x)
		for row := range x.Rows() {
			h := nntest.Apply(ref.affine("detector/layer_0", ref.encode(nntest.Wide(x.ObsRow(row)))), nntest.Leaky)
			for j, logit := range ref.affine("detector/out", nntest.Apply(ref.affine("detector/layer_1", h), nntest.Leaky)) {
				want := j != row%3 && nntest.Sigmoid(logit) >= threshold
				if got := g.seen[row]>>j&1 != 0; got != want {
					t.Errorf("τ = %g, row %d: agent %d is detected: %v, want %v", threshold, row, j, got, want)
				}
			}
		}
	}
}

func TestLearningDetectorNeedsLabels(t *testing.T) {
	m, _, _ := probe(t, smallGraph(), trio(), 6)
	if m.(Watcher).Watch(wander(trio(), 4, 1)) == nil || !m.Shape().Labels {
		t.Error("a rollout without labels is accepted")
	}
}

func TestImpossibleGraphsAreRefused(t *testing.T) {
	c := DefaultGraph()
	c.Heads = 3 // of which no width is a multiple
	must.Refuse(t, c.Validate(), "gnn_heads")
}
