// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
)

// GRU is the recurrent memory of Appendix C: f_n is the normalised hidden state after n steps of an episode.
//
// Reading: n advances with every step, since the paper gates its graph alone. Gradients pass through the steps of one
// chunk; the hidden state before the chunk is a stored constant.
type GRU struct {
	Embed  int `json:"d_obs_enc" range:"1..8192" help:"length of the observation embedding; the paper: 64"`
	Layers int `json:"gru_layers" range:"1..64" help:"number of GRU layers; the paper: 2"`
	Width  int `json:"d_f" range:"1..8192" help:"F, width of each GRU layer and length of the context f_n^o; the paper: 256"`
	Chunk  int `json:"bptt" range:"1..1000" help:"L, steps of truncated backpropagation through time; not in the paper"`
	Start
}

func init() { Register(DefaultGRU()) }

// DefaultGRU returns the sizes of the paper's table, and chunks of 20 steps.
func DefaultGRU() GRU { return GRU{Embed: 64, Layers: 2, Width: 256, Chunk: 20} }

// Scheduled has layers of the schedule's width.
func (c GRU) Scheduled(s rl.Schedule) Config {
	if s.Width > 0 {
		c.Width = s.Width
	}
	return c
}

// OneStep has chunks of single steps.
func (c GRU) OneStep() Config {
	c.Chunk = 1
	return c
}

// bare is the config for pre-training this memory.
func (c GRU) bare() Config {
	c.Start = Start{}
	return c
}

// Kind is "gru".
func (GRU) Kind() string { return "gru" }

// Validate returns one sentence about the first impossible setting.
func (c GRU) Validate() error { return validate(c, c.Pretrain, c.Weights) }

// Build returns the memory for b's task.
func (c GRU) Build(b *nn.Build) (Memory, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	rows := b.Spec.NumEnvs * b.Spec.Agents
	weights, err := loadFor("gru", b.Files, c.Weights)
	if err != nil {
		return nil, err
	}
	return &gru{GRU: c, build: b, weights: weights, obs: b.Spec.InLen(), known: make([]uint8, rows),
		hidden: make([]float32, rows*c.Layers*c.Width), walkers: map[int]*nn.Program{}}, nil
}

// parts are the scopes that pre-training fills: the encoder, then the layers.
func (c GRU) parts() []string {
	parts := []string{"encoder"}
	for i := range c.Layers {
		parts = append(parts, fmt.Sprintf("gru_%d", i))
	}
	return parts
}

// gru keeps the hidden state of every agent of every environment, all layers side by side: [E·N,H] with H = layers·F.
type gru struct {
	GRU
	build   *nn.Build
	weights *Pretrained         // nil without pre-training
	obs     int                 // I
	scope   string              // where Context made the variables
	walkers map[int]*nn.Program // for Watch, by the number of steps of all agents; made when needed
	hidden  []float32           // [E·N,H] after the last step watched
	known   []uint8             // [E·N] 1 once an agent has been watched
	start   []float32           // [⌈T/L⌉,E·N,H] before the first step of each chunk of the rollout last watched
	before  []uint8             // [E·N] known, as it was before that rollout
}

// stateLen is H.
func (m *gru) stateLen() int { return m.Layers * m.Width }

var _ Watcher = (*gru)(nil)
var _ rl.Saver = (*gru)(nil)

func (m *gru) Shape() Shape { return Shape{Width: m.Width, Chunk: m.Chunk} }

// Inputs are time-major, C = b/L chunks side by side.
func (m *gru) Inputs(b int) []nn.Input {
	l, c := m.Chunk, b/m.Chunk
	return []nn.Input{nn.F32("obs", l, c, m.obs), nn.F32("keep", l, c, 1),
		nn.F32("hidden", c, m.stateLen()), nn.F32("exists", b)}
}

func (m *gru) Gather(p nn.Feeder, first int, x *rl.Rollout, rows []int32) {
	l, chunks, agents, h := m.Chunk, len(rows)/m.Chunk, x.E*x.N, m.stateLen()
	p.Feed(first, func(dst []float32) {
		for k, row := range rows {
			at := (k%l*chunks + k/l) * m.obs
			x.Gather(dst[at:at+m.obs], int(row))
		}
	})
	p.Feed(first+1, func(dst []float32) {
		for k, row := range rows {
			dst[k%l*chunks+k/l] = float32(1 - x.IsFirst[int(row)/x.N])
		}
	})
	p.Feed(first+2, func(dst []float32) {
		for c := range chunks {
			row := int(rows[c*l])
			at := (row/agents/l*agents + row%agents) * h
			copy(dst[c*h:(c+1)*h], m.start[at:at+h])
		}
	})
	nn.FeedEach(p, first+3, rows, func(dst []float32, row int) {
		dst[0] = float32(1 - x.IsFirst[row/x.N])
		if row < agents && m.before[row] == 0 {
			dst[0] = 0
		}
	})
}

// Context unrolls one chunk of every agent. f_{n-1} of a chunk's first step comes from the stored hidden state.
func (m *gru) Context(sc *model.Scope, in []*Node) Context {
	m.scope = sc.Scope()
	fresh := len(nn.Variables(sc.Store(), m.scope)) == 0
	obs, keep, hidden := in[0], in[1], in[2]
	l, c := obs.Shape().Dimensions[0], obs.Shape().Dimensions[1]
	first := m.feature(hidden)
	x, _ := m.unroll(sc, obs, keep, hidden)
	m.weights.fill(sc, fresh, m.parts())
	now := Reshape(nn.Normalize(x), l, c, m.Width)
	before := InsertAxes(first, 0)
	if l > 1 {
		before = Concatenate([]*Node{before, Slice(now, AxisRange(0, l-1))}, 0)
	}
	rows := func(f *Node) *Node { return Reshape(Transpose(f, 0, 1), l*c, m.Width) }
	return Context{Now: rows(now), Before: rows(before), Exists: in[3]}
}

// unroll maps obs [L,C,I], keep [L,C,1] and hidden [C,H] to states. x [L·C,F] holds the last layer's state after every
// step. last holds each layer's state after the last step, [C,F].
func (m *gru) unroll(sc *model.Scope, obs, keep, hidden *Node) (x *Node, last []*Node) {
	l, c := obs.Shape().Dimensions[0], obs.Shape().Dimensions[1]
	x = nn.Encode(sc.At("encoder"), m.build.Spec, Reshape(obs, l*c, m.obs), m.Embed)
	for i := range m.Layers {
		cell := nn.NewGRU(sc.At("gru_%d", i), x, m.Width)
		states := cell.Unroll(Reshape(x, l, c, -1), keep, m.part(hidden, i))
		x, last = Reshape(states, l*c, m.Width), append(last, at(states, l-1))
	}
	return x, last
}

// feature is f of the hidden states of all layers [C,H]: the last layer's, normalised [C,F].
func (m *gru) feature(hidden *Node) *Node {
	return nn.Normalize(Slice(hidden, AxisRange(), AxisRangeToEnd((m.Layers-1)*m.Width)))
}

// at returns x[t] of a time-major x [L,C,...].
func at(x *Node, t int) *Node { return Squeeze(Slice(x, AxisElem(t)), 0) }

// part is layer i of stored states [C,H]: [C,F].
func (m *gru) part(hidden *Node, i int) *Node {
	return Slice(hidden, AxisRange(), AxisRange(i*m.Width, (i+1)*m.Width))
}

// Watch walks the rollout in time order with the current weights and keeps the hidden state before every chunk.
func (m *gru) Watch(x *rl.Rollout) error {
	if m.scope == "" {
		return fmt.Errorf("memory gru: asked to watch before its features were built into a graph")
	}
	agents, h := x.E*x.N, m.stateLen()
	if need := (x.T + m.Chunk - 1) / m.Chunk * agents * h; len(m.start) != need {
		m.start = make([]float32, need)
	}
	m.before = append(m.before[:0], m.known...)
	for t := 0; t < x.T; {
		if t%m.Chunk == 0 {
			copy(m.start[t/m.Chunk*agents*h:], m.hidden)
		}
		steps := m.Chunk
		if t+steps > x.T {
			steps = 1
		}
		if err := m.walk(x, t, steps); err != nil {
			return err
		}
		t += steps
	}
	for a := range m.known {
		m.known[a] = 1
	}
	return nil
}

// walk advances the hidden states from step t by so many steps.
func (m *gru) walk(x *rl.Rollout, t, steps int) error {
	agents := x.E * x.N
	p, err := m.walker(steps, agents)
	if err != nil {
		return err
	}
	p.Feed(0, func(dst []float32) {
		each := agents * m.obs
		for k := range steps {
			x.GatherFrom(dst[k*each:(k+1)*each], (t+k)*agents)
		}
	})
	p.Feed(1, func(dst []float32) {
		for k := range dst {
			dst[k] = float32(1 - x.IsFirst[t*x.E+k/x.N])
		}
	})
	p.Feed(2, func(dst []float32) { copy(dst, m.hidden) })
	if err := p.Run(); err != nil {
		return err
	}
	p.Read(0, m.hidden)
	return nil
}

// walker returns the graph of so many steps.
func (m *gru) walker(steps, agents int) (*nn.Program, error) {
	if p := m.walkers[steps]; p != nil {
		return p, nil
	}
	inputs := []nn.Input{
		nn.F32("obs", steps, agents, m.obs), nn.F32("keep", steps, agents, 1), nn.F32("hidden", agents, m.stateLen()),
	}
	p, err := nn.NewProgram(m.build, "memory.gru", inputs, func(sc *model.Scope, in []*Node) []*Node {
		_, last := m.unroll(sc.Store().Scope(m.scope), in[0], in[1], in[2])
		return []*Node{Concatenate(last, -1)}
	})
	m.walkers[steps] = p
	return p, err
}

// Save returns the hidden states, which the next rollout batch starts from.
func (m *gru) Save() []byte { return append(appendFloats(nil, m.hidden), m.known...) }

// Load continues from what Save returned.
func (m *gru) Load(state []byte) error {
	if want := 4*len(m.hidden) + len(m.known); len(state) != want {
		return fmt.Errorf("memory gru: the saved state has %d bytes, want %d", len(state), want)
	}
	copy(m.known, readFloats(m.hidden, state))
	return nil
}
