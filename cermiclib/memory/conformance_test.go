// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// Narrow versions, so that the pure Go backend takes a moment only.
func narrow() []memory.Config {
	graph := memory.DefaultGraph()
	graph.Embed, graph.Node, graph.Edge, graph.Heads, graph.Hidden, graph.Width, graph.Queue = 8, 16, 4, 2, 16, 24, 3
	graph.Chunk = 4
	single := graph
	single.Chunk = 1
	return []memory.Config{
		memory.MLP{Embed: 8, Hidden: 16, Width: 24}, memory.GRU{Embed: 8, Layers: 2, Width: 16, Chunk: 4},
		graph, single,
	}
}

func TestEveryMemoryKeepsTheContract(t *testing.T) {
	known := map[string]bool{}
	for _, c := range narrow() {
		known[c.Kind()] = true
		t.Run(c.Kind(), func(t *testing.T) { checkMemory(t, c, false) })
	}
	for _, kind := range conf.Kinds[memory.Config]() {
		if known[kind] {
			continue
		}
		c := must.Value(conf.New[memory.Config](kind))
		t.Run(kind, func(t *testing.T) { checkMemory(t, rl.OnSchedule(c, rl.Schedule{Width: 16}), false) })
	}
}

// On cells an observation passes through other layers below the memory, which its variants share.
func TestMemoriesKeepTheContractOnCells(t *testing.T) {
	if testing.Short() {
		t.Skip("convolves for seconds")
	}
	done := map[string]bool{}
	for _, c := range narrow() {
		if !done[c.Kind()] {
			t.Run(c.Kind(), func(t *testing.T) { checkMemory(t, c, true) })
		}
		done[c.Kind()] = true
	}
}

// checkMemory runs an intention model through its contract, on observations that are numbers or cells. It checks
// shapes, determinism, the inputs of a feature, when f_{n-1} exists, and that all of the memory learns. It also checks
// that saving loses nothing and that the module trains with it.
func checkMemory(t *testing.T, c memory.Config, cells bool) {
	t.Helper()
	m := memoryCheck{memorySpec(cells), c}
	t.Run("same seed, same features", func(t *testing.T) { m.determinism(t) })
	t.Run("own past only", func(t *testing.T) { m.isOwnPast(t) })
	t.Run("f_{n-1} was f_n before", func(t *testing.T) { m.before(t) })
	t.Run("everything learns", func(t *testing.T) { m.learns(t) })
	t.Run("saved and loaded", func(t *testing.T) { m.saves(t) })
	t.Run("module trains", func(t *testing.T) { m.trainsModule(t) })
}

// memoryCheck is a memory on a task.
type memoryCheck struct {
	spec   *envs.Spec
	config memory.Config
}

// memorySpec has 2 copies of 3 agents. They see 4 numbers, or one number and the smallest grid of cells that networks
// read.
func memorySpec(cells bool) *envs.Spec {
	s := &envs.Spec{Name: "libtest/memory", NumEnvs: 2, Agents: 3, Obs: []int{4}, State: 1, Act: envs.ActSpec{Choices: 2}}
	if cells {
		const pictures = 4
		s.Obs, s.Scalars, s.Pixels = []int{5, 5}, 1, make([]uint8, pictures*envs.CellPixels*envs.CellPixels*3)
		r := rng.New(1, "memory pictures")
		for i := range s.Pixels {
			s.Pixels[i] = uint8(r.IntN(256))
		}
	}
	return s
}

// rollout fills a rollout of t steps with random observations and labels. Environment 0 starts at its first step and at
// step t/2; environment 1 goes on.
func (m memoryCheck) rollout(t int, seed uint64) *rl.Rollout {
	x := rl.NewRollout(m.spec, t, 0)
	x.KeepLabels()
	r := rng.New(seed, "memory rollout")
	graphtest.Normal(r, x.Obs)
	for i := range x.Cells {
		x.Cells[i] = uint16(r.IntN(4))
	}
	for i := range x.Visible {
		x.Visible[i] = uint8(r.IntN(2))
	}
	graphtest.Fill(x.Alive, 1)
	for i := range x.Act.Discrete {
		x.Act.Discrete[i] = int32(r.IntN(2))
	}
	x.IsFirst[0], x.IsFirst[t/2*x.E] = 1, 1
	x.Truncated[(t/2-1)*x.E] = 1
	return x
}

// watched is a memory with its features as outputs of a graph.
type watched struct {
	t    *testing.T
	mem  memory.Memory
	prog *nn.Program
	rows []int32 // of every agent step of a rollout, in the order that the memory requires
}

// watched builds the memory for rollouts of steps, a multiple of its chunk. extra adds outputs behind f_n, f_{n-1} and
// the mask.
func (m memoryCheck) watched(t *testing.T, steps int, extra func(*model.Store, memory.Context) []*graph.Node) *watched {
	t.Helper()
	b := graphtest.Build(m.spec, 1)
	mem := must.Value(m.config.Build(b))
	w := &watched{t: t, mem: mem}
	chunk, agents := mem.Shape().Chunk, m.spec.NumEnvs*m.spec.Agents
	for from := 0; from < steps; from += chunk {
		for a := range agents {
			for k := range chunk {
				w.rows = append(w.rows, int32((from+k)*agents+a))
			}
		}
	}
	rows := len(w.rows)
	w.prog = must.Value(nn.NewProgram(b, "memory", mem.Inputs(rows), func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		f := mem.Context(sc.At("memory"), in)
		f.Now.AssertDims(rows, mem.Shape().Width)
		f.Before.AssertDims(rows, mem.Shape().Width)
		f.Exists.AssertDims(rows)
		if f.Loss != nil {
			f.Loss.AssertDims(rows)
		}
		out := []*graph.Node{f.Now, f.Before, f.Exists}
		if extra != nil {
			out = append(extra(b.Store, f), out...)
		}
		return out
	}))
	return w
}

// see watches x and computes the features of all of it; feature and mask are ordered by row.
func (w *watched) see(x *rl.Rollout) (now, before [][]float32, exists []float32) {
	w.t.Helper()
	must.Do(w.t, memory.Watch(w.mem, x))
	return w.features(x)
}

func (w *watched) features(x *rl.Rollout) (now, before [][]float32, exists []float32) {
	w.t.Helper()
	w.mem.Gather(w.prog, 0, x, w.rows)
	must.Do(w.t, w.prog.Run())
	rows, f := len(w.rows), w.mem.Shape().Width
	read := func(i, width int) [][]float32 {
		flat, out := make([]float32, rows*width), make([][]float32, rows)
		w.prog.Read(i, flat)
		for k, row := range w.rows {
			out[row] = flat[k*width : (k+1)*width]
		}
		return out
	}
	now, before = read(0, f), read(1, f)
	for row, e := range read(2, 1) {
		exists = append(exists, e[0])
		for _, v := range append(slices.Clone(now[row]), before[row]...) {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				w.t.Fatalf("row %d has a component %g, which even an f_{n-1} that does not exist must not have", row, v)
			}
		}
	}
	return now, before, exists
}

// steps is a rollout length of several chunks.
func (m memoryCheck) steps(t *testing.T) int {
	t.Helper()
	s := must.Value(m.config.Build(graphtest.Build(m.spec, 1))).Shape()
	if s.Width < 1 || s.Chunk < 1 {
		t.Fatalf("shape is %+v, want at least 1", s)
	}
	return (8/s.Chunk + 2) * s.Chunk
}

func (m memoryCheck) determinism(t *testing.T) {
	steps := m.steps(t)
	one, two := m.watched(t, steps, nil), m.watched(t, steps, nil)
	for seed := range uint64(2) {
		x := m.rollout(steps, seed)
		now, before, exists := one.see(x)
		now2, before2, exists2 := two.see(x)
		if !equalRows(now, now2) || !equalRows(before, before2) || !slices.Equal(exists, exists2) {
			t.Errorf("rollout %d: two memories of one seed differ", seed)
		}
		again, _, _ := one.features(x)
		if !equalRows(now, again) {
			t.Errorf("rollout %d: features change although nothing was trained", seed)
		}
	}
}

func equalRows(a, b [][]float32) bool { return slices.EqualFunc(a, b, slices.Equal) }

// isOwnPast changes what other agents see and what comes later.
func (m memoryCheck) isOwnPast(t *testing.T) {
	steps := m.steps(t)
	x, agents := m.rollout(steps, 3), 6
	at, agent := steps-2, 1 // of environment 0
	row := at*agents + agent
	now, before, _ := m.watched(t, steps, nil).see(x)
	foreign := func(k int) bool { // others, the future, the episode before
		return k%agents != agent || k/agents > at || k/agents < steps/2
	}
	for i := range x.Obs {
		if foreign(i / m.spec.ObsLen()) {
			x.Obs[i] = 3 - x.Obs[i]
		}
	}
	for i := range x.Cells {
		if foreign(i / m.spec.CellLen()) {
			x.Cells[i] = 3 - x.Cells[i]
		}
	}
	now2, before2, _ := m.watched(t, steps, nil).see(x)
	if !near(now[row], now2[row]) || !near(before[row], before2[row]) { // rows of one matrix product
		t.Fatal("a feature depends on what another agent sees, on the future or on another episode")
	}
	if equalRows(now[row+agents:row+agents+1], now2[row+agents:row+agents+1]) && equalRows(now[:agents], now2[:agents]) {
		t.Error("the features do not depend on the observations at all")
	}
}

func (m memoryCheck) before(t *testing.T) {
	steps := m.steps(t)
	x, agents, found := m.rollout(steps, 4), 6, 0
	now, before, exists := m.watched(t, steps, nil).see(x)
	start := 0
	for row, e := range exists {
		step, agent := row/agents, row%agents
		if agent < 3 && x.IsFirst[step*x.E] != 0 {
			start = step
			if e != 0 {
				t.Errorf("row %d starts an episode, yet has an f_{n-1}", row)
			}
		}
		if e != 0 && e != 1 {
			t.Errorf("existence is %g at row %d, want 0 or 1", e, row)
		}
		if agent >= 3 || e == 0 {
			continue
		}
		found++
		known := false
		for s := start; s < step; s++ {
			known = known || near(before[row], now[s*agents+agent])
		}
		if !known {
			t.Errorf("f_{n-1} of row %d is no feature that this agent had earlier in the episode", row)
		}
	}
	if found == 0 {
		t.Error("no agent step has an f_{n-1}")
	}
}

// near allows for another order of additions.
func near(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Abs(float64(x-y)) <= 1e-4 })
}

// learns fails for trainable variables that neither a feature nor the memory's own loss has a gradient in.
func (m memoryCheck) learns(t *testing.T) {
	steps := m.steps(t)
	var names []string
	w := m.watched(t, steps, func(store *model.Store, f memory.Context) []*graph.Node {
		// Weighted differently, since the sum of a normalised feature is constant.
		goal := graph.ReduceAllSum(graph.Mul(f.Now, graph.Sin(graph.Iota(f.Now.Graph(), f.Now.Shape(), 1))))
		if f.Loss != nil {
			goal = graph.Add(goal, graph.ReduceAllSum(f.Loss))
		}
		names = nil
		var nodes []*graph.Node
		for _, v := range nn.Variables(store, "/memory") {
			if v.Trainable {
				names, nodes = append(names, v.Path()), append(nodes, v.NodeValue(goal.Graph()))
			}
		}
		sizes := make([]*graph.Node, len(nodes))
		for i, d := range graph.Gradient(goal, nodes...) {
			sizes[i] = graph.ReduceAllSum(graph.Abs(d))
		}
		return []*graph.Node{graph.Stack(sizes, 0)}
	})
	x := m.rollout(steps, 5)
	must.Do(t, memory.Watch(w.mem, x))
	w.mem.Gather(w.prog, 0, x, w.rows)
	must.Do(t, w.prog.Run())
	sizes := make([]float32, len(names))
	w.prog.Read(0, sizes)
	for i, name := range names {
		if !(sizes[i] > 0) {
			t.Errorf("the gradient at %s sums to %g", name, sizes[i])
		}
	}
}

func (m memoryCheck) saves(t *testing.T) {
	steps := m.steps(t)
	one, two := m.watched(t, steps, nil), m.watched(t, steps, nil)
	one.see(m.rollout(steps, 6))
	saver, saves := one.mem.(rl.Saver)
	if _, watches := one.mem.(memory.Watcher); watches && !saves {
		t.Fatal("it watches collections but cannot save what it learnt from them")
	}
	if saves {
		state := saver.Save()
		loader := two.mem.(rl.Saver)
		must.Do(t, loader.Load(state))
		if loader.Load(append(slices.Clone(state), 0)) == nil || loader.Load(nil) == nil {
			t.Error("a state of another length is accepted")
		}
		must.Do(t, loader.Load(state))
	}
	x := m.rollout(steps, 7)
	x.IsFirst[0] = 0 // environment 0 goes on too
	now, before, exists := one.see(x)
	now2, before2, exists2 := two.see(x)
	if !equalRows(now, now2) || !equalRows(before, before2) || !slices.Equal(exists, exists2) {
		t.Error("a loaded memory does not go on as the saved one")
	}
}

// trainsModule takes a gradient step of the module with this memory.
func (m memoryCheck) trainsModule(t *testing.T) {
	cfg := cermic.Default()
	cfg.Memory, cfg.Embed, cfg.Hidden, cfg.Steps, cfg.Minibatch = m.config, 8, 8, 1, 16
	module := must.Value(cfg.Build(graphtest.Build(m.spec, 1)))
	for name, v := range must.Value(module.Update(t.Context(), m.rollout(m.steps(t), 8))) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s is %g after an update", name, v)
		}
	}
}
