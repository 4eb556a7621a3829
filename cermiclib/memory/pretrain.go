// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"math"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs"
	"cermic/envs/rng"

	"cermic/cermiclib/nn"
)

// Pretraining trains the parts of a graph memory on random play, before any policy exists: first the detector and the edge encoder
// with the observation's encoder below both, then, detector and that encoder frozen, the node and the edge encoder.
//
// paper:app:pretraining_details_v3  detector: Σ BCE; nodes: Σ_{j≠k} p_{k→j}·‖P·z_{k→j} - s_j‖²; edges: ‖P·f_kj - (Δx, Δy)‖²
//
// Reading: nodes and edges are wider than what they shall predict, so each gets a linear head P, which is dropped afterwards
// (D12). s_j is a random encoding of what agent j itself sees; p counts from the detector's threshold on. Edges are trained for
// the observer's own relations to peers within sight, the only ones whose far end it can see: over all pairs, those out of sight
// make up most of the loss and pull every prediction to their mean.
//
// Deviation: the encoder learns from positions as well as from presence. One that has learnt presence alone is frozen with little
// in it that a position could be read from.
type Pretraining struct {
	Frames  int     // of random play, summed over copies; a tenth of them is held out
	Epochs  int     // at most; two epochs without progress on the held-out part end a stage
	Batch   int     // agent steps
	LR      float64 // of Adam
	Seed    uint64
	Watch   func(stage string, epoch int, loss float64) // held-out loss after every epoch; may be nil
	Backend nn.Backend
}

// DefaultPretraining returns 100,000 frames, 20 epochs, minibatches of 512 and a step size of 1e-3.
func DefaultPretraining(b nn.Backend) Pretraining {
	return Pretraining{Frames: 100_000, Epochs: 20, Batch: 512, LR: 1e-3, Seed: 1, Backend: b}
}

// Quality says how good pre-training got on held-out play.
type Quality struct {
	AUC     float64 // of the detector over all pairs; NaN where all labels are equal
	Present float64 // share of labels that are 1
	RMSE    float64 // of the relative positions of pairs with label 1, world half sizes; NaN without any
	Spread  float64 // the same for the best constant prediction
}

// Run pre-trains c on env's task.
func (p Pretraining) Run(ctx context.Context, c DynamicGraph, env envs.Env) (*Pretrained, Quality, error) {
	if p.Frames < 20*env.Spec().Copies || p.Epochs < 1 || p.Batch < 1 {
		return nil, Quality{}, fmt.Errorf("pre-training with %d frames, %d epochs and minibatches of %d: want %d, 1 and 1 or more",
			p.Frames, p.Epochs, p.Batch, 20*env.Spec().Copies)
	}
	if env.Spec().Agents < 2 {
		return nil, Quality{}, fmt.Errorf("pre-training on %s: want two or more agents", env.Spec().Name)
	}
	b := &nn.Build{Spec: env.Spec(), Backend: p.Backend, Store: nn.NewStore(p.Seed), Seed: p.Seed}
	c.Online, c.Pretrain = true, PretrainNone
	built, err := c.Build(b)
	if err != nil {
		return nil, Quality{}, err
	}
	s := &pretrainer{Pretraining: p, m: built.(*graphMemory), build: b, play: playRandomly(env, p.Frames, p.Seed)}
	if err := s.compile(); err != nil {
		return nil, Quality{}, err
	}
	for i := range s.stages {
		if err := s.train(ctx, &s.stages[i]); err != nil {
			return nil, Quality{}, err
		}
	}
	q, err := s.quality()
	if err != nil {
		return nil, Quality{}, err
	}
	weights, err := collectWeights(b.Store)
	return weights, q, err
}

// Inputs of the pre-training graphs, in this order.
const (
	preObs    = iota // [B,I]
	preOwn           // [N,B]
	preLabel         // [B,N]
	preOthers        // [N,B,I] what the other agents see
	preOffset        // [2,N,B]
)

// Outputs of the evaluation graph.
const (
	outProbability = iota // [B,N]
	outOffset             // [2,N,B]
	outDetector           // [B] losses
	outEncoders           // [B]
)

// preScope is where the weights are while they are pre-trained.
const preScope = "/pretrain/memory"

type pretrainer struct {
	Pretraining
	m        *graphMemory
	build    *nn.Build
	play     *play
	stages   []stage
	evaluate *nn.Program
}

// stage is one part of pre-training.
type stage struct {
	name   string
	step   *nn.Program
	losses int // output of the evaluation graph
}

func (s *pretrainer) compile() (err error) {
	n, o := s.m.agents, s.m.obs
	in := []nn.Input{nn.F32("obs", s.Batch, o), nn.F32("own", n, s.Batch), nn.F32("labels", s.Batch, n), nn.F32("others", n, s.Batch, o),
		nn.F32("offsets", 2, n, s.Batch)}
	adam := nn.Adam{LR: s.LR, Eps: 1e-6, Clip: 5} // ε and the clipped norm as for the module
	learn := func(name string, losses int) {
		if err != nil {
			return
		}
		var step *nn.Program
		step, err = nn.NewProgram(s.build, "pretrain."+name, in, func(sc *model.Scope, in []*Node) []*Node {
			out := s.outputs(sc.Store().Scope(preScope), in)
			at := sc.Store().Scope("/pretrain")
			for _, v := range nn.Variables(sc.Store(), preScope) { // each stage trains its own part
				v.SetTrainable(trainedFor(losses, v.Path()))
			}
			loss := ReduceAllMean(out[losses])
			adam.Minimize(at.At("memory"), loss)
			return []*Node{loss}
		})
		s.stages = append(s.stages, stage{name, step, losses})
	}
	learn("detector", outDetector)
	learn("encoders", outEncoders)
	if err != nil {
		return err
	}
	s.evaluate, err = nn.NewProgram(s.build, "pretrain.evaluate", in, func(sc *model.Scope, in []*Node) []*Node {
		return s.outputs(sc.Store().Scope(preScope), in)
	})
	return err
}

// trainedFor reports whether the stage of a loss trains the variable at a path.
func trainedFor(losses int, path string) bool {
	edge := strings.Contains(path, "/edge/")
	if losses == outDetector {
		return ofDetector(path) || edge
	}
	return !ofDetector(path)
}

// outputs are what the out constants list.
func (s *pretrainer) outputs(sc *model.Scope, in []*Node) []*Node {
	m, own, b, n := s.m, in[preOwn], s.Batch, s.m.agents
	embedded := m.encode(sc, in[preObs])
	logits := m.logits(sc, embedded)
	probability := Mul(Sigmoid(logits), OneMinus(Transpose(own, 0, 1)))

	live := Transpose(embedded, 0, 1)
	e := StopGradient(live)
	heads := sc.Store().Scope("/pretrain/memory/heads")
	predicted := nn.Affine(heads.At("node"), flat(m.nodes(sc.At("node"), e, own)), m.Embed)
	target := Encode(sc.Store().Scope("/pretrain/target"), s.build.Spec, Reshape(in[preOthers], n*b, m.obs), m.Embed, true)
	miss := ReduceSum(Square(Sub(predicted, StopGradient(Transpose(target, 0, 1)))), 0) // [N·B]
	p := Transpose(StopGradient(probability), 0, 1)
	sure := ConvertDType(GreaterOrEqual(p, ConstAs(p, m.Threshold)), p.DType())
	nodeLoss := ReduceSum(Mul(Reshape(miss, n, b), Mul(p, sure)), 0)

	positions := func(e *Node) (offset, loss *Node) { // of the observer's relations [2,N,B], [B]
		relations := ReduceSum(Mul(m.relations(sc.At("edge"), e), Reshape(own, 1, n, 1, b)), 1) // [L,N,B]
		offset = Reshape(nn.Affine(heads.At("edge"), flat(relations), 2), 2, n, b)
		sight := Mul(Transpose(in[preLabel], 0, 1), OneMinus(own))
		return offset, ReduceSum(Mul(ReduceSum(Square(Sub(offset, in[preOffset])), 0), sight), 0)
	}
	_, learning := positions(live)
	offset, edgeLoss := positions(e)
	presence := detectionLoss(logits, in[preLabel], Transpose(own, 0, 1))
	return []*Node{probability, offset, Add(presence, learning), Add(nodeLoss, edgeLoss)}
}

// train runs one stage and leaves the weights of its best epoch.
func (s *pretrainer) train(ctx context.Context, st *stage) error {
	order, held := s.play.split()
	best, idle := math.Inf(1), 0
	var kept map[string][]float32
	for epoch := range s.Epochs {
		r := rng.New(s.Seed, "pretrain "+st.name, uint64(epoch))
		for i := len(order) - 1; i > 0; i-- {
			j := r.IntN(i + 1)
			order[i], order[j] = order[j], order[i]
		}
		for from := 0; from+s.Batch <= len(order); from += s.Batch {
			if err := ctx.Err(); err != nil {
				return err
			}
			s.play.feed(st.step, order[from:from+s.Batch])
			if err := st.step.Run(); err != nil {
				return err
			}
		}
		loss, err := s.heldOut(held, st.losses)
		if err != nil {
			return err
		}
		if s.Watch != nil {
			s.Watch(st.name, epoch+1, loss)
		}
		if math.IsNaN(loss) {
			return fmt.Errorf("pre-training: the loss of the %s became %g in epoch %d", st.name, loss, epoch+1)
		}
		if idle++; loss < best {
			best, idle, kept = loss, 0, snapshot(s.build.Store)
		}
		if idle == 2 {
			break
		}
	}
	return putBack(s.build.Store, kept)
}

// each runs the evaluation graph over all rows; visit gets the rows of a minibatch, of which the last count only fills up.
func (s *pretrainer) each(rows []int32, visit func(rows []int32)) error {
	batch := make([]int32, s.Batch)
	for from := 0; from < len(rows); from += s.Batch {
		count := copy(batch, rows[from:])
		for k := count; k < s.Batch; k++ {
			batch[k] = rows[0]
		}
		s.play.feed(s.evaluate, batch)
		if err := s.evaluate.Run(); err != nil {
			return err
		}
		visit(batch[:count])
	}
	return nil
}

// heldOut is the mean of one output over the held-out agent steps.
func (s *pretrainer) heldOut(rows []int32, output int) (mean float64, err error) {
	losses := make([]float32, s.Batch)
	err = s.each(rows, func(batch []int32) {
		s.evaluate.Read(output, losses)
		for k := range batch {
			mean += float64(losses[k]) / float64(len(rows))
		}
	})
	return mean, err
}

// quality measures detector and edges on the held-out play.
func (s *pretrainer) quality() (Quality, error) {
	_, held := s.play.split()
	n := s.m.agents
	p, offset := make([]float32, s.Batch*n), make([]float32, 2*s.Batch*n)
	var scores []float64
	var labels []bool
	var seen errorSum
	err := s.each(held, func(rows []int32) {
		s.evaluate.Read(outProbability, p)
		s.evaluate.Read(outOffset, offset)
		for k, row := range rows {
			for j := range n {
				if j == int(row)%n {
					continue
				}
				present := s.play.seen[int(row)*n+j] != 0
				scores, labels = append(scores, float64(p[k*n+j])), append(labels, present)
				for axis := 0; axis < 2 && present; axis++ {
					seen.add(axis, float64(s.play.offset[(int(row)*n+j)*2+axis]), float64(offset[(axis*n+j)*s.Batch+k]))
				}
			}
		}
	})
	return Quality{
		AUC: areaUnderCurve(scores, labels), Present: seen.count / max(float64(len(labels)), 1), RMSE: seen.rmse(), Spread: seen.spread(),
	}, err
}

// snapshot copies all weights below preScope.
func snapshot(store *model.Store) map[string][]float32 {
	out := map[string][]float32{}
	for _, v := range nn.Variables(store, preScope) {
		flat, err := tensors.CopyFlatData[float32](v.MustValue())
		if err != nil {
			panic(err) // every variable here is a float32
		}
		out[v.Path()] = flat
	}
	return out
}

// putBack puts a snapshot back.
func putBack(store *model.Store, kept map[string][]float32) error {
	for _, v := range nn.Variables(store, preScope) {
		if err := v.SetValue(tensors.FromFlatDataAndDimensions(kept[v.Path()], v.Shape().Dimensions...)); err != nil {
			return err
		}
	}
	return nil
}
