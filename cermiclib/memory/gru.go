// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// GRU is the recurrent memory of Appendix C: f_n is the normalised hidden state after n steps of an episode.
//
// Reading: n advances with every step, no detector gates it; gru_gated selects. Gradients pass through the steps of one chunk; what an agent
// remembered before the chunk is stored at rollout batch and taken as given.
type GRU struct {
	Embed  int  `json:"d_obs_enc" range:"1..8192" size:"width" help:"length of the observation embedding; the paper: 64"`
	Layers int  `json:"gru_layers" range:"1..64" help:"number of GRU layers; the paper: 2"`
	Width  int  `json:"d_f" range:"1..8192" size:"width" help:"F, width of each GRU layer and length of the context f_n^o; the paper: 256"`
	Chunk  int  `json:"bptt" range:"1..1000" help:"L, steps of truncated backpropagation through time; not in the paper"`
	Gated  bool `json:"gru_gated,omitzero" help:"the hidden state is updated only when another agent is detected; else at every step"`
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

// OneStep is the memory with chunks of single steps.
func (c GRU) OneStep() Config {
	c.Chunk = 1
	return c
}

// bare is the memory as it is pre-trained itself.
func (c GRU) bare() (Config, error) {
	c.Start = Start{}
	if c.Gated {
		return nil, fmt.Errorf("memory gru: gru_gated is true, and a detector that moves the state cannot be pre-trained; leave it out")
	}
	return c, nil
}

// Kind is "gru".
func (GRU) Kind() string { return "gru" }

// Validate returns one sentence about the first impossible setting.
func (c GRU) Validate() error {
	if c.Gated && c.Pretrain != "" {
		return fmt.Errorf("memory gru: gru_gated is true and pretrain is %s, but only the state that moves at every step is pre-trained; leave one out", c.Pretrain)
	}
	return c.Start.validate("gru", c)
}

// Build returns the memory for b's task.
func (c GRU) Build(b *nn.Build) (Memory, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	rows := b.Spec.NumEnvs * b.Spec.Agents
	m := &gru{GRU: c, build: b, obs: b.Spec.InLen(), known: make([]uint8, rows)}
	m.hidden = make([]float32, rows*m.stateLen())
	var err error
	if m.weights, err = c.Start.load(b, "gru", c.shapes(b.Spec)); err != nil {
		return nil, err
	}
	if c.Gated {
		m.gates = &gates{agents: b.Spec.Peers(), met: make([]uint8, rows)}
		m.moved, m.probability = make([]float32, rows*c.Layers*c.Width), make([]float32, rows*b.Spec.Peers())
	}
	return m, nil
}

// shapes are those of the pre-trained weights that have to do with the task and the settings.
func (c GRU) shapes(s *envs.Spec) map[string][2]int {
	shapes, below := encoderShapes(s, c.Embed), c.Embed
	for _, part := range c.parts()[1:] {
		shapes[part+"/input"], shapes[part+"/recurrent"] = [2]int{below, 3 * c.Width}, [2]int{c.Width, 3 * c.Width}
		below = c.Width
	}
	return shapes
}

// parts are the scopes that pre-training fills: the encoder, then the layers.
func (c GRU) parts() []string {
	parts := []string{"encoder"}
	for i := range c.Layers {
		parts = append(parts, fmt.Sprintf("gru_%d", i))
	}
	return parts
}

// gru keeps the hidden state of every agent of every environment, all layers side by side: [E·N,H] with H = layers·F. With
// gru_gated the last layer's state before the one in force is behind them, H = (layers+1)·F.
type gru struct {
	GRU
	build   *nn.Build
	weights *Pretrained // nil without pre-training
	obs     int         // I
	scope   string      // where Context made the variables
	step    *nn.Program // one step of all agents, for Watch; nil until it is needed
	stride  *nn.Program // a chunk of all agents, likewise; never with gru_gated, which decides at every step
	hidden  []float32   // [E·N,H] after the last step watched
	known   []uint8     // [E·N] 1 once an agent has been watched
	start   []float32   // [⌈T/L⌉,E·N,H] before the first step of each chunk of the rollout last watched
	before  []uint8     // [E·N] known, as it was before that rollout

	gates              *gates    // nil without gru_gated
	moved, probability []float32 // [E·N,layers·F], [E·N,P] of one step
}

// stateLen is H.
func (m *gru) stateLen() int {
	if m.Gated {
		return (m.Layers + 1) * m.Width
	}
	return m.Layers * m.Width
}

var _ Watcher = (*gru)(nil)
var _ rl.Saver = (*gru)(nil)

func (m *gru) Shape() Shape { return Shape{Width: m.Width, Chunk: m.Chunk, Labels: m.Gated} }

// Inputs are time-major, C = b/L chunks side by side.
func (m *gru) Inputs(b int) []nn.Input {
	l, c := m.Chunk, b/m.Chunk
	in := []nn.Input{nn.F32("obs", l, c, m.obs), nn.F32("keep", l, c, 1), nn.F32("hidden", c, m.stateLen()), nn.F32("exists", b)}
	if m.Gated {
		in = append(in, m.gates.inputs(l, c)...)
	}
	return in
}

func (m *gru) Gather(p *nn.Program, first int, x *rl.Rollout, rows []int32) {
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
	p.Feed(first+3, func(dst []float32) {
		for k, row := range rows {
			dst[k] = float32(1 - x.IsFirst[int(row)/x.N])
			if int(row) < agents && m.before[row] == 0 {
				dst[k] = 0
			}
			if m.Gated {
				dst[k] = float32(m.gates.exists[row])
			}
		}
	})
	if m.Gated {
		m.gates.gather(p, first+4, l, x, rows)
	}
}

// Context unrolls one chunk of every agent. f_{n-1} of a chunk's first step comes from the stored hidden state.
func (m *gru) Context(sc *model.Scope, in []*Node) Context {
	m.scope = sc.Scope()
	fresh := len(nn.Variables(sc.Store(), m.scope)) == 0
	if m.Gated {
		return m.gatedContext(sc, in)
	}
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

// unroll maps obs [L,C,I], keep [L,C,1] and hidden [C,H] to the last layer's states after every step [L·C,F] and each layer's after the
// last step [C,F].
func (m *gru) unroll(sc *model.Scope, obs, keep, hidden *Node) (x *Node, last []*Node) {
	l, c := obs.Shape().Dimensions[0], obs.Shape().Dimensions[1]
	x = nn.Encode(sc.At("encoder"), m.build.Spec, Reshape(obs, l*c, m.obs), m.Embed, true)
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

// advance maps obs [B,I], keep [B,1] and hidden [B,H] to the next hidden of all layers [B,layers·F] and, with gru_gated, to
// the detector's probabilities [B,N].
func (m *gru) advance(sc *model.Scope, obs, keep, hidden *Node) []*Node {
	x := nn.Encode(sc.At("encoder"), m.build.Spec, obs, m.Embed, true)
	var seen []*Node
	if m.Gated {
		seen = append(seen, Sigmoid(detect(sc.At("detector"), x, m.gates.agents)))
	}
	next := make([]*Node, m.Layers)
	for i := range next {
		cell := nn.NewGRU(sc.At("gru_%d", i), x, m.Width)
		h := m.part(hidden, i)
		x = cell.Step(cell.Drive(x), Mul(h, keep))
		next[i] = x
	}
	return append([]*Node{Concatenate(next, -1)}, seen...)
}

// Watch walks the rollout in time order with the weights as they are and keeps the hidden state before every chunk.
func (m *gru) Watch(x *rl.Rollout) error {
	if m.scope == "" {
		return fmt.Errorf("memory gru: asked to watch before its features were built into a graph")
	}
	if m.Gated {
		if err := needLabels(x); err != nil {
			return err
		}
		m.gates.resize(x.Rows())
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
		walk, steps := &m.step, 1
		if m.Chunk > 1 && !m.Gated && t+m.Chunk <= x.T {
			walk, steps = &m.stride, m.Chunk
		}
		if err := m.compile(walk, steps, agents); err != nil {
			return err
		}
		if err := m.walk(*walk, x, t, steps); err != nil {
			return err
		}
		t += steps
	}
	for a := range m.known {
		m.known[a] = 1
	}
	return nil
}

// walk takes the hidden states from step t over as many steps as p has.
func (m *gru) walk(p *nn.Program, x *rl.Rollout, t, steps int) error {
	agents := x.E * x.N
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
	if m.Gated {
		m.walkGated(x, t)
	} else {
		p.Read(0, m.hidden)
	}
	return nil
}

// compile makes the graph of one step, or the one of a chunk, when it is first needed.
func (m *gru) compile(p **nn.Program, steps, agents int) (err error) {
	if *p != nil {
		return nil
	}
	inputs := []nn.Input{nn.F32("obs", agents, m.obs), nn.F32("keep", agents, 1), nn.F32("hidden", agents, m.stateLen())}
	if steps == 1 {
		*p, err = nn.NewProgram(m.build, "memory.gru", inputs, func(sc *model.Scope, in []*Node) []*Node {
			return m.advance(sc.Store().Scope(m.scope), in[0], in[1], in[2])
		})
		return err
	}
	inputs[0], inputs[1] = nn.F32("obs", steps, agents, m.obs), nn.F32("keep", steps, agents, 1)
	*p, err = nn.NewProgram(m.build, "memory.gru.chunk", inputs, func(sc *model.Scope, in []*Node) []*Node {
		_, last := m.unroll(sc.Store().Scope(m.scope), in[0], in[1], in[2])
		return []*Node{Concatenate(last, -1)}
	})
	return err
}

// Save returns the hidden states, which the next rollout batch starts from.
func (m *gru) Save() []byte {
	state := append(appendFloats(nil, m.hidden), m.known...)
	if m.Gated {
		state = append(state, m.gates.met...)
	}
	return state
}

// Load continues from what Save returned.
func (m *gru) Load(state []byte) error {
	want := 4*len(m.hidden) + len(m.known)
	if m.Gated {
		want += len(m.gates.met)
	}
	if len(state) != want {
		return fmt.Errorf("memory gru: the saved state has %d bytes, want %d", len(state), want)
	}
	rest := readFloats(m.hidden, state)
	copy(m.known, rest)
	if m.Gated {
		copy(m.gates.met, rest[len(m.known):])
	}
	return nil
}
