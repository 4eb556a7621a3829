// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs/conf"
)

// DynamicGraph is the paper's memory (Section 3.2, Appendix A): a graph with a node for every agent seen so far. It
// advances when the observer detects another agent. Each node attends over the observations of its agent at the last
// detections. A graph network reads the nodes and their relations, and the observer's own node becomes f_n.
//
// No features are carried from step to step. The rollout records the detections, and a graph is computed anew from the
// observations at its last detections. So gradients reach every encoder without backpropagation through time (D20).
//
// Reading: the appendix calls its parts pre-trained. The main text learns from scratch and pre-trains in an experiment
// of its own. pretrain selects, and by default nothing is pre-trained (D13).
type DynamicGraph struct {
	Embed     int     `json:"d_obs_enc" range:"1..8192" help:"length of the observation embedding; the paper: 64"`
	Node      int     `json:"d_node" range:"1..8192" help:"length of a node's features; the paper: 256"`
	Edge      int     `json:"d_edge" range:"1..8192" help:"length of an edge's features; the paper: 16"`
	Layers    int     `json:"gnn_layers" range:"1..64" help:"number of graph layers; the paper: 2"`
	Heads     int     `json:"gnn_heads" range:"1..256" help:"attention heads of the graph layers and of the history; the paper: 4"`
	Hidden    int     `json:"gnn_hidden" range:"1..8192" help:"width of all graph layers except the last; the paper: 256"`
	Width     int     `json:"d_f" range:"1..8192" help:"F, width of the last graph layer and length of the context f_n^o; the paper: 512"`
	Queue     int     `json:"queue_len" range:"1..200" help:"Q, past detections in the attention, beside the present one; not in the paper"`
	Threshold float64 `json:"tau_det" range:"(0..1)" help:"τ_det, probability above which an agent is detected; not in the paper"`
	Coef      float64 `json:"det_coef" range:"[0..1000000)" help:"weight of the detector's loss beside the module's"`
	Chunk     int     `json:"chunk" range:"1..10000" help:"L, consecutive steps of one agent that are drawn together"`
	Pretrain  string  `json:"pretrain" oneof:"none,detector,full" help:"parts with pre-trained weights; a pre-trained detector is frozen"`
	Weights   string  `json:"pretrained" help:"name of the pre-trained weights, as printed by pretrain"`

	// Former settings.
	_ conf.Constant `key:"det_online" value:"true"`
}

func init() { Register(DefaultGraph()) }

// DefaultGraph returns the sizes of the paper's table, a queue of 4 and no pre-training.
func DefaultGraph() DynamicGraph {
	return DynamicGraph{Embed: 64, Node: 256, Edge: 16, Layers: 2, Heads: 4, Hidden: 256, Width: 512, Queue: 4,
		Threshold: 0.5, Coef: 1, Chunk: 10, Pretrain: PretrainNone}
}

// Scheduled has nodes and layers of the schedule's width.
func (c DynamicGraph) Scheduled(s rl.Schedule) Config {
	if s.Width > 0 {
		c.Node, c.Hidden, c.Width = s.Width, s.Width, s.Width
	}
	return c
}

// OneStep has chunks of single steps.
func (c DynamicGraph) OneStep() Config {
	c.Chunk = 1
	return c
}

// bare is the config for pre-training this memory.
func (c DynamicGraph) bare() Config {
	c.Pretrain, c.Weights = PretrainNone, ""
	return c
}

// Kind is "graph".
func (DynamicGraph) Kind() string { return "graph" }

// Validate returns one sentence about the first impossible setting.
func (c DynamicGraph) Validate() error {
	if err := validate(c, c.Pretrain, c.Weights); err != nil {
		return err
	}
	for _, width := range []int{c.Node, c.Hidden, c.Width} {
		if width%c.Heads != 0 {
			return fmt.Errorf("memory graph: d_node is %d, gnn_hidden %d and d_f %d, want multiples of gnn_heads %d",
				c.Node, c.Hidden, c.Width, c.Heads)
		}
	}
	return nil
}

// Build returns the memory for b's task.
func (c DynamicGraph) Build(b *nn.Build) (Memory, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if b.Spec.Peers() > 64 {
		return nil, fmt.Errorf("memory graph: %s has %d agents, want at most 64", b.Spec.Name, b.Spec.Peers())
	}
	rows, n, o := b.Spec.NumEnvs*b.Spec.Agents, b.Spec.Peers(), b.Spec.InLen()
	m := &graphMemory{DynamicGraph: c, build: b, agents: n, obs: o, queue: newQueue(rows, o, c.Queue+2)}
	var err error
	m.weights, err = loadFor(c.Kind(), b.Files, c.Weights)
	return m, err
}

type graphMemory struct {
	DynamicGraph
	build       *nn.Build
	agents, obs int // P, I; the observers are the first N of the P agents
	queue       *queue
	seen        []uint64    // [T,E,N] detections of the rollout last watched
	scope       string      // where Context made the variables
	detector    *nn.Program // for Watch
	weights     *Pretrained // nil without pre-training
	peek        func(*Node) // gets the attention of each graph layer when it is built, if not nil: [heads,M,N,B]
}

var _ Detecting = (*graphMemory)(nil)
var _ rl.Saver = (*graphMemory)(nil)

func (m *graphMemory) Shape() Shape {
	return Shape{Width: m.Width, Chunk: m.Chunk, Labels: m.detectorLearns()}
}

// detectorLearns reports whether the detector trains with the module, on the simulator's labels. A pre-trained one is
// frozen.
func (m *graphMemory) detectorLearns() bool { return m.weights == nil }

// Inputs are M = L+Q+1 moments of each of C = b/L chunks, earliest first. The graphs made at the last G = L+1 of them
// and the detector's training data follow. Agent steps are the last axis: see context.go.
func (m *graphMemory) Inputs(b int) []nn.Input {
	l, q, n := m.Chunk, m.Queue, m.agents
	c := b / l
	in := []nn.Input{
		nn.F32("obs", l+q+1, c, m.obs), nn.F32("seen", q+1, n, l+1, c), nn.F32("own", n, c), nn.F32("pick", c, l, l),
		nn.F32("exists", b),
	}
	if m.detectorLearns() {
		in = append(in, nn.F32("here", b, m.obs), nn.F32("labels", b, n))
	}
	return in
}

func (m *graphMemory) Gather(p nn.Feeder, first int, x *rl.Rollout, rows []int32) {
	l, n, o := m.Chunk, m.agents, m.obs
	chunks := len(rows) / l
	p.Feed(first, func(dst []float32) {
		clear(dst)
		m.eachChunk(rows, func(c, lane, from, to int) {
			for s := range l + m.Queue + 1 {
				if i := from - m.Queue + s; i >= 0 && i <= to {
					m.queue.lanes[lane][i].observe(dst[(s*chunks+c)*o:(s*chunks+c+1)*o], x)
				}
			}
		})
	})
	p.Feed(first+1, func(dst []float32) {
		clear(dst)
		m.eachChunk(rows, func(c, lane, from, to int) {
			for i := max(from, 0); i <= to; i++ {
				m.queue.behind(lane, i, m.Queue+1, func(age int, at moment) {
					for j := range n {
						dst[((age*n+j)*(l+1)+i-from)*chunks+c] = float32(at.seen >> j & 1)
					}
				})
			}
		})
	})
	p.Feed(first+2, func(dst []float32) {
		clear(dst)
		for c := range chunks {
			dst[int(rows[c*l])%x.N*chunks+c] = 1
		}
	})
	p.Feed(first+3, func(dst []float32) {
		clear(dst)
		for k, row := range rows {
			dst[k*l+int(m.queue.number[row]-m.queue.number[rows[k/l*l]])] = 1
		}
	})
	nn.FeedEach(p, first+4, rows, func(dst []float32, row int) {
		if dst[0] = 0; m.queue.hasBefore(row) {
			dst[0] = 1
		}
	})
	if m.detectorLearns() { // it trains on the agent steps themselves, whether the graph advanced there or not
		nn.FeedEach(p, first+5, rows, x.Gather)
		feedLabels(p, first+6, x, rows)
	}
}

// eachChunk calls visit with the index of every chunk of rows and its lane. from and to are the first and the last
// graph that a step of the chunk refers to, as indices of the lane's moments. from is -1 for the graph before the
// lane's first one.
func (m *graphMemory) eachChunk(rows []int32, visit func(c, lane, from, to int)) {
	for c := range len(rows) / m.Chunk {
		chunk := rows[c*m.Chunk : (c+1)*m.Chunk]
		visit(c, int(chunk[0])%len(m.queue.lanes), int(m.queue.number[chunk[0]])-1, int(m.queue.number[chunk[m.Chunk-1]]))
	}
}

// Watch records the agents that each agent detects at each step of x, with the current weights, and where its graph
// advances.
func (m *graphMemory) Watch(x *rl.Rollout) error {
	if m.scope == "" {
		return fmt.Errorf("memory graph: asked to watch before its features were built into a graph")
	}
	if m.detectorLearns() && x.Visible == nil {
		return fmt.Errorf("memory graph: the rollout holds no labels, on which the detector is trained")
	}
	if m.detector == nil {
		var err error
		inputs := []nn.Input{nn.F32("obs", detectRows, m.obs)}
		m.detector, err = nn.NewProgram(m.build, "memory.detector", inputs, func(sc *model.Scope, in []*Node) []*Node {
			e := m.encode(sc.Store().Scope(m.scope), in[0])
			return []*Node{Sigmoid(m.logits(sc.Store().Scope(m.scope), e))}
		})
		if err != nil {
			return err
		}
	}
	if len(m.seen) != x.Rows() {
		m.seen = make([]uint64, x.Rows())
	}
	err := m.detected(x, func(row int, probability []float32) {
		m.seen[row] = 0
		for j, v := range probability {
			if j != row%x.N && float64(v) >= m.Threshold {
				m.seen[row] |= 1 << j
			}
		}
	})
	if err == nil {
		m.queue.watch(x, m.seen)
	}
	return err
}

// encode embeds observations [B,I]: [B,D].
func (m *graphMemory) encode(sc *model.Scope, obs *Node) *Node {
	return nn.Encode(sc.At("encoder"), m.build.Spec, obs, m.Embed)
}

// logits is the detector on embeddings [B,D]: one logit for each agent [B,N]. The observer's own logit is meaningless.
//
// paper:detector  p = MLP(o), p_k the likelihood of observing agent k
//
// Reading: the text speaks both of agent types k and of identifying agents. The slots are agents, since agents of one
// type still have to be distinguished as nodes (D19).
func (m *graphMemory) logits(sc *model.Scope, e *Node) *Node {
	return nn.MLP(sc.At("detector"), e, []int{detectorHidden, detectorHidden}, nn.LeakyReLU, m.agents)
}

// detectorHidden is the width of the detector's two hidden layers; the paper's table of memory sizes: 128.
const detectorHidden = 128

// detectRows is the number of agent steps that one call of the detector's graph takes.
const detectRows = 512

// detectionLoss is Σ_k BCE over the other agents [B], for logits, labels and own [B,N], own one-hot of the observer.
//
// Reading: present and absent agents count alike, although few pairs are in sight on some tasks. The detector then
// detects no agent at first. With an eightfold weight of present agents it finds them sooner. But on navigation a third
// of its detections are then wrong after 2,100 gradient steps, instead of 4 % (one seed each).
//
// paper:eq:detector_loss_condensed  -Σ_k y_k·log p_k + (1-y_k)·log(1-p_k)
func detectionLoss(logits, labels, own *Node) *Node {
	each := Add(Sub(nn.ReLU(logits), Mul(logits, labels)), Log1P(Exp(Neg(Abs(logits))))) // no overflow for either sign
	return ReduceSum(Mul(each, OneMinus(own)), -1)
}

// detect fills in the results of a detector that learns, with these logits; all are [B,N], own is one-hot of the
// observer.
func (out *Context) detect(logits, labels, own *Node, threshold, coef float64) {
	out.Loss = nn.Times(detectionLoss(logits, labels, own), "memory/det_coef", coef)
	said := ConvertDType(GreaterOrEqual(Sigmoid(logits), ConstAs(logits, threshold)), logits.DType())
	others := float64(max(logits.Shape().Dimensions[1]-1, 1))
	share := func(x *Node) *Node { return DivScalar(ReduceSum(Mul(x, OneMinus(own)), -1), others) }
	out.Right, out.Present = share(OneMinus(Abs(Sub(said, labels)))), share(labels)
}

// detected calls visit with the detector's probabilities [P] at every agent step of x; they are valid during the call.
func (m *graphMemory) detected(x *rl.Rollout, visit func(row int, probability []float32)) error {
	inputs := []func([]float32, int){x.Gather}
	return m.detector.EachRow(context.Background(), x.Rows(), inputs, func(_, row int, probability []float32) {
		visit(row, probability)
	})
}

// Save returns the moments that the next rollout batch's graphs refer to.
func (m *graphMemory) Save() []byte { return m.queue.save() }

// Load continues from what Save returned.
func (m *graphMemory) Load(state []byte) error { return m.queue.load(state) }

// inspectRows is the number of agent steps that one call of the inspecting graph takes.
const inspectRows = 32

// Inspect reads the detector, the queue and the attention of the last graph layer.
func (m *graphMemory) Inspect(x *rl.Rollout) ([]results.Graph, error) {
	m.queue = newQueue(len(m.queue.lanes), m.obs, m.Queue+2)
	if err := m.Watch(x); err != nil {
		return nil, err
	}
	out := make([]results.Graph, x.Rows())
	err := m.detected(x, func(row int, probability []float32) {
		p := make([]float64, m.agents)
		for j, v := range probability {
			if j != row%x.N {
				p[j] = float64(v)
			}
		}
		out[row] = results.Graph{Probability: p, Present: m.present(row), Advanced: m.seen[row] != 0}
	})
	if err != nil {
		return nil, err
	}
	return out, m.attend(x, func(row int, weights []float64) { out[row].Attention = weights })
}

// present are the nodes of the graph in force at an agent step.
func (m *graphMemory) present(row int) []bool {
	out := make([]bool, m.agents)
	out[row%m.build.Spec.Agents] = true
	m.queue.behind(row%len(m.queue.lanes), int(m.queue.number[row]), m.Queue+1, func(_ int, at moment) {
		for j := range out {
			out[j] = out[j] || at.seen>>j&1 != 0
		}
	})
	return out
}

// attend calls visit with the attention of the last layer, mean over heads, at every agent step.
func (m *graphMemory) attend(x *rl.Rollout, visit func(row int, weights []float64)) error {
	var last *Node // [heads,1,N,G·C]
	m.peek = func(weights *Node) { last = weights }
	defer func() { m.peek = nil }()
	inputs := m.Inputs(inspectRows * m.Chunk)
	p, err := nn.NewProgram(m.build, "memory.inspect", inputs, func(sc *model.Scope, in []*Node) []*Node {
		m.Context(sc.Store().Scope(m.scope), in)
		return []*Node{ReduceMean(last, 0, 1)} // [N,G·C]
	})
	if err != nil {
		return err
	}
	// A chunk is one agent step, repeated: its graph is the one behind the first.
	graphs := m.Chunk + 1
	weights, rows := make([]float32, m.agents*graphs*inspectRows), make([]int32, inspectRows*m.Chunk)
	return p.Blocks(context.Background(), x.Rows(), inspectRows, func(from, _ int) {
		for k := range rows {
			rows[k] = int32(min(from+k/m.Chunk, x.Rows()-1))
		}
		m.Gather(p, 0, x, rows)
	}, func(from, to int) {
		p.Read(0, weights)
		for c := range to - from {
			w := make([]float64, m.agents)
			for j := range w {
				w[j] = float64(weights[(j*graphs+1)*inspectRows+c])
			}
			visit(from+c, w)
		}
	})
}
