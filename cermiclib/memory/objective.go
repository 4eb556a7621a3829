// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// objective is the loss of a kind of memory on random play, in stages.
type objective struct {
	chunk  int // L, consecutive steps of one agent that make one sample
	stages []stage
	parts  []string // scopes below the memory's that are kept
	inputs func(b int) []nn.Input
	feed   func(p *nn.Program, rows []int32)
	// outputs builds the memory and its heads at sc.
	outputs func(sc *model.Scope, in []*Node) outcome
	// watch prepares for minibatches with the current weights.
	watch func() error
}

// stage is a part of an objective with a loss of its own.
type stage struct {
	name   string
	trains func(path string) bool // whether it trains the variable
}

// outcome holds an objective's results on B agent steps.
type outcome struct {
	probability *Node   // [B,N] of the detector; nil without one
	offset      *Node   // [2,N,B] where the others are, relative to the observer
	losses      []*Node // [B] one a stage
}

// objective pre-trains a graph memory, before there is a policy. The first stage trains the detector and the edge
// encoder with the observation's encoder below both. The second freezes the detector and that encoder, and trains the
// node and the edge encoder.
//
// paper:app:pretraining_details_v3  detector: Σ BCE; nodes: Σ_{j≠k} p_{k→j}·‖P·z_{k→j}-s_j‖²; edges: ‖P·f_kj-(Δx, Δy)‖²
//
// Reading: nodes and edges are wider than their targets. So each gets a linear head P, which is dropped afterwards
// (D12). p counts from the detector's threshold on. Edges are trained only for the observer's own relations to peers
// within sight, whose far end it can see. Over all pairs, pairs out of sight make up most of the loss and pull every
// prediction to their mean.
//
// Deviation: the encoder learns from positions as well as from presence. With presence alone, it would be frozen with
// little information about positions.
func (c DynamicGraph) objective(b *nn.Build, x *play) (*objective, error) {
	built, err := c.Build(b)
	if err != nil {
		return nil, err
	}
	m := built.(*graphMemory)
	return &objective{
		chunk: 1, parts: graphParts,
		stages: []stage{
			{"detector", func(path string) bool { return ofDetector(path) || strings.Contains(path, "/edge/") }},
			{"encoders", func(path string) bool { return !ofDetector(path) }},
		},
		inputs: func(b int) []nn.Input { return append([]nn.Input{nn.F32("obs", b, m.obs)}, x.inputs(b)...) },
		feed: func(p *nn.Program, rows []int32) {
			nn.FeedEach(p, 0, rows, x.Gather)
			x.feed(p, 1, rows)
		},
		outputs: func(sc *model.Scope, in []*Node) outcome { return m.learn(sc, x, in[0], in[1:]) },
		watch:   func() error { return nil },
	}, nil
}

// ofDetector reports whether a variable's path is one of the parts that a frozen detector consists of.
func ofDetector(path string) bool {
	return strings.Contains(path, "/memory/encoder/") || strings.Contains(path, "/memory/detector/")
}

// learn builds the detector and both encoders on obs [B,I]; in are the inputs that every objective has.
func (m *graphMemory) learn(sc *model.Scope, x *play, obs *Node, in []*Node) outcome {
	n := m.agents
	own, label := in[inOwn], in[inLabel]
	b := own.Shape().Dimensions[1]
	embedded := m.encode(sc, obs)
	logits := m.logits(sc, embedded)
	probability := Mul(Sigmoid(logits), OneMinus(Transpose(own, 0, 1)))

	live := Transpose(embedded, 0, 1)
	e := StopGradient(live)
	heads := sc.At("heads")
	target := x.targets(sc.Store(), in[inTarget], m.Embed)
	predicted := nn.Affine(heads.At("node"), flat(m.nodes(sc.At("node"), e, own)), target.Shape().Dimensions[1])
	miss := ReduceSum(Square(Sub(predicted, StopGradient(Transpose(target, 0, 1)))), 0) // [N·B]
	p := Transpose(StopGradient(probability), 0, 1)
	sure := ConvertDType(GreaterOrEqual(p, ConstAs(p, m.Threshold)), p.DType())
	nodeLoss := ReduceSum(Mul(Reshape(miss, n, b), Mul(p, sure)), 0)

	positions := func(e *Node) (offset, loss *Node) { // of the observer's relations [2,N,B], [B]
		relations := ReduceSum(Mul(m.relations(sc.At("edge"), e), Reshape(own, 1, n, 1, b)), 1) // [L,N,B]
		offset = Reshape(nn.Affine(heads.At("edge"), flat(relations), 2), 2, n, b)
		return offset, offsetLoss(offset, in)
	}
	_, learning := positions(live)
	offset, edgeLoss := positions(e)
	presence := detectionLoss(logits, label, Transpose(own, 0, 1))
	return outcome{probability, offset, []*Node{Add(presence, learning), Add(nodeLoss, edgeLoss)}}
}

// offsetLoss is the squared error [B] of relative positions [2,N,B] of peers in sight; in are the inputs that every
// objective has.
func offsetLoss(offset *Node, in []*Node) *Node {
	sight := Mul(Transpose(in[inLabel], 0, 1), OneMinus(in[inOwn]))
	return ReduceSum(Mul(ReduceSum(Square(Sub(offset, in[inOffset])), 0), sight), 0)
}

// headsObjective pre-trains a memory without detector, nodes and edges. For every peer in sight, linear heads on f
// predict s_j and its position; they are dropped afterwards.
//
//	Σ_{j≠k} y_kj·( ‖P_j·f - s_j‖²/D + ‖E_j·f - (Δx, Δy)‖² )
//
// Reading: the appendix pre-trains the graph alone. Weights are the true presence y, since there is no detector. s_j
// counts by its mean over components. Both s_j and the position are read from one f, where a sum over the D numbers of
// s_j would drown the two of a position.
func headsObjective(c Config, b *nn.Build, x *play, embed int, parts []string) (*objective, error) {
	m, err := c.Build(b)
	if err != nil {
		return nil, err
	}
	return &objective{
		chunk: m.Shape().Chunk, parts: parts,
		stages: []stage{{"heads", func(string) bool { return true }}},
		inputs: func(b int) []nn.Input { return append(x.inputs(b), m.Inputs(b)...) },
		feed: func(p *nn.Program, rows []int32) {
			x.feed(p, 0, rows)
			m.Gather(p, playInputs, x.Rollout, rows)
		},
		outputs: func(sc *model.Scope, in []*Node) outcome {
			n, b := x.N, in[inOwn].Shape().Dimensions[1]
			f := m.Context(sc, in[playInputs:]).Now
			target := x.targets(sc.Store(), in[inTarget], embed)
			width := target.Shape().Dimensions[1]
			predicted := Transpose(Reshape(nn.Linear(sc.At("heads").At("node"), f, n*width), b, n, width), 0, 1)
			miss := ReduceMean(Square(Sub(predicted, StopGradient(Reshape(target, n, b, width)))), -1)
			sight := Mul(Transpose(in[inLabel], 0, 1), OneMinus(in[inOwn]))
			offset := Reshape(Transpose(nn.Linear(sc.At("heads").At("edge"), f, 2*n), 0, 1), 2, n, b)
			return outcome{offset: offset, losses: []*Node{Add(ReduceSum(Mul(miss, sight), 0), offsetLoss(offset, in))}}
		},
		watch: func() error { return Watch(m, x.Rollout) }, // the hidden states then follow from the present weights
	}, nil
}

func (c GRU) objective(b *nn.Build, x *play) (*objective, error) {
	return headsObjective(c, b, x, c.Embed, c.parts())
}

func (c MLP) objective(b *nn.Build, x *play) (*objective, error) {
	return headsObjective(c, b, x, c.Embed, mlpParts)
}

// play is a rollout of random actions with the simulator's labels.
type play struct{ *rl.Rollout }

// playRandomly draws actions uniformly among the allowed ones for about the given number of frames.
func playRandomly(env envs.Env, frames int, seed uint64) (*play, error) {
	s := env.Spec()
	if err := rl.Fits(s, frames/s.NumEnvs, 0); err != nil {
		return nil, err
	}
	x, r := &play{rl.NewRollout(s, frames/s.NumEnvs, 0)}, rng.New(seed, "pretrain play")
	x.KeepLabels()
	err := rl.NewCollector(env).Collect(x.Rollout, func(_ int, out *envs.Step, act *envs.Actions) error {
		randomActions(s, out, act, r)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s, %w", s.Name, err)
	}
	return x, nil
}

func randomActions(s *envs.Spec, out *envs.Step, act *envs.Actions, r *rng.Rand) {
	for i := range act.Continuous {
		d := i % s.Act.Dim
		act.Continuous[i] = r.Uniform(s.Act.Low[d], s.Act.High[d])
	}
	k := s.Act.Choices
	for i := range act.Discrete {
		act.Discrete[i] = int32(r.IntN(k))
		for out.Mask != nil && out.Mask[i*k+int(act.Discrete[i])] == 0 {
			act.Discrete[i] = int32(r.IntN(k))
		}
	}
}

// split lists the first agent steps of samples, which are chunk consecutive steps each. Held-out samples end in the
// last tenth of the play, or are its last ones if none does. All others are for training. Samples in which the agent is
// dead throughout are in neither.
func (x *play) split(chunk int) (train, held []int32) {
	agents := x.E * x.N
	from := min(x.Rows()/10*9, (x.T/chunk*chunk-1)*agents)
	for first := range x.T / chunk * agents {
		row, alive := first/agents*chunk*agents+first%agents, uint8(0)
		last := row + (chunk-1)*agents
		for step := row; step <= last; step += agents {
			alive |= x.Alive[step]
		}
		switch {
		case alive == 0:
		case last >= from:
			held = append(held, int32(row))
		default:
			train = append(train, int32(row))
		}
	}
	return train, held
}

// Inputs that every pre-training graph has, in this order, B agent steps each.
const (
	inOwn    = iota // [N,B] one-hot of the observer
	inLabel         // [B,N] 1 for agents in sight
	inTarget        // [N,B,I] observations of the other agents; node targets are encodings of these
	inOffset        // [2,N,B] their positions relative to the observer
	playInputs
)

// inputs declares them for b agent steps.
func (x *play) inputs(b int) []nn.Input {
	return []nn.Input{nn.F32("own", x.N, b), nn.F32("labels", b, x.N), nn.F32("targets", x.N, b, x.Spec.InLen()),
		nn.F32("offsets", 2, x.N, b)}
}

// feed writes them for agent steps; the first is input first of p.
func (x *play) feed(p *nn.Program, first int, rows []int32) {
	b, n := len(rows), x.N
	p.Feed(first+inOwn, func(dst []float32) {
		clear(dst)
		for k, row := range rows {
			dst[int(row)%n*b+k] = 1
		}
	})
	feedLabels(p, first+inLabel, x.Rollout, rows)
	p.Feed(first+inTarget, func(dst []float32) {
		width := x.Spec.InLen()
		for k, row := range rows {
			for j := range n {
				x.Gather(dst[(j*b+k)*width:(j*b+k+1)*width], int(row)/n*n+j)
			}
		}
	})
	p.Feed(first+inOffset, func(dst []float32) {
		for k, row := range rows {
			for at, v := range x.RelPos[int(row)*n*2 : int(row+1)*n*2] {
				dst[(at%2*n+at/2)*b+k] = v
			}
		}
	})
}

// feedLabels writes the detector labels of agent steps [B,P] into input i of p.
func feedLabels(p nn.Feeder, i int, x *rl.Rollout, rows []int32) {
	n := x.Spec.Peers()
	nn.FeedEach(p, i, rows, func(dst []float32, row int) { nn.Widen(dst, x.Visible[row*n:(row+1)*n]) })
}

// targets are s_j [N·B,D] of every agent: random encodings of the observations [N,B,I].
func (x *play) targets(store *model.Store, obs *Node, width int) *Node {
	obs = Reshape(obs, -1, x.Spec.InLen())
	return nn.Encode(store.Scope("/pretrain/target"), x.Spec, obs, width)
}
