// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// Pretraining trains a memory on random play, before any policy exists. The objective depends on the kind of memory:
// see objective.go. All kinds share the play, the targets and the loop.
//
// Reading: s_j, the target of node j, is a random encoding of agent j's own observation (D12).
type Pretraining struct {
	Frames  int     // of random play, summed over environments; a tenth of them is held out
	Epochs  int     // at most; two epochs without progress on the held-out part end a stage
	Batch   int     // agent steps
	LR      float64 // of Adam
	Seed    uint64
	Peers   bool                                        // the memory reads channels of peers, as with peer_channels
	Watch   func(stage string, epoch int, loss float64) // held-out loss after every epoch; may be nil
	Backend nn.Backend
}

// DefaultPretraining returns 100,000 frames, 20 epochs, minibatches of 512 and a step size of 1e-3.
func DefaultPretraining(b nn.Backend) Pretraining {
	return Pretraining{Frames: 100_000, Epochs: 20, Batch: 512, LR: 1e-3, Seed: 1, Backend: b}
}

// validate returns one sentence about the first impossible setting.
func (p Pretraining) validate(s *envs.Spec) error {
	if p.Epochs < 1 || p.Batch < 1 {
		return fmt.Errorf("pre-training: epochs is %d and minibatch is %d, want 1 or more", p.Epochs, p.Batch)
	}
	if least := 20 * s.NumEnvs; p.Frames < least {
		return fmt.Errorf("pre-training: frames is %d, want %d or more, 20 steps of each of the "+
			"%d parallel environments of %s", p.Frames, least, s.NumEnvs, s.Name)
	}
	if len(s.Groups) > 0 {
		return fmt.Errorf("pre-training on %s: its groups have a memory each, of their own observations, and "+
			"an experiment names weights for one", s.Name)
	}
	if s.Agents < 2 {
		return fmt.Errorf("pre-training on %s: want two or more agents", s.Name)
	}
	return nil
}

// Run pre-trains c on env's task.
func (p Pretraining) Run(ctx context.Context, c Config, env envs.Env) (*Pretrained, Quality, error) {
	b := &nn.Build{Spec: env.Spec(), Backend: p.Backend, Store: nn.NewStore(p.Seed), Seed: p.Seed}
	defer b.Close()
	s, err := p.prepare(c, env, b)
	if err != nil {
		return nil, Quality{}, err
	}
	for i := range s.stages {
		if err := s.train(ctx, i); err != nil {
			return nil, Quality{}, err
		}
	}
	q, err := s.quality()
	if err != nil {
		return nil, Quality{}, err
	}
	weights, err := collectWeights(b.Store, c.Kind(), s.parts)
	return weights, q, err
}

// prepare plays and compiles.
func (p Pretraining) prepare(c Config, env envs.Env, b *nn.Build) (*pretrainer, error) {
	if err := p.validate(env.Spec()); err != nil {
		return nil, err
	}
	c, err := Bare(c)
	if err != nil {
		return nil, err
	}
	play, err := playRandomly(env, p.Frames, p.Seed)
	if err != nil {
		return nil, err
	}
	if p.Peers {
		b = b.For(rl.PeerSpec(b.Spec))
		if play.Rollout, err = play.WithPeers(b.Spec, &rl.Rollout{}); err != nil {
			return nil, err
		}
	}
	s := &pretrainer{Pretraining: p, build: b, play: play}
	if s.objective, err = c.(playLearner).objective(b, play); err != nil {
		return nil, err
	}
	if s.Batch = p.Batch / s.chunk * s.chunk; s.Batch == 0 {
		return nil, fmt.Errorf("pre-training with minibatches of %d: want a chunk of %d steps at least", p.Batch, s.chunk)
	}
	if s.training, s.held = play.split(s.chunk); len(s.training)*s.chunk < s.Batch || len(s.held) == 0 {
		return nil, fmt.Errorf("pre-training: of %d frames, %d agent steps are left to train on and %d to hold out, want "+
			"a minibatch of %d and one: play more frames", p.Frames, len(s.training)*s.chunk, len(s.held)*s.chunk, s.Batch)
	}
	return s, s.compile()
}

// playLearner is a Config whose memory can learn on random play.
type playLearner interface {
	// bare is the config without pre-trained weights.
	bare() Config
	// objective builds the memory with its loss on x.
	objective(b *nn.Build, x *play) (*objective, error)
}

// Bare is c without pre-trained weights, the config for pre-training it. It refuses memories that cannot be
// pre-trained.
func Bare(c Config) (Config, error) {
	if p, ok := c.(playLearner); ok {
		return p.bare(), nil
	}
	return nil, fmt.Errorf("memory %s cannot be pre-trained: choose graph, gru or mlp", c.Kind())
}

// preScope is where the weights are while they are pre-trained, heads below it.
const preScope = "/pretrain/memory"

// pretrainer trains a memory on its play.
type pretrainer struct {
	Pretraining
	*objective
	build    *nn.Build
	play     *play
	training []int32       // first agent steps of the samples to train on, and
	held     []int32       // of those held out
	steps    []*nn.Program // of every stage
	evaluate *nn.Program
	detects  int // outputs of evaluate before the offsets: 1 with a detector, else 0
}

func (s *pretrainer) compile() error {
	in := s.inputs(s.Batch)
	adam := nn.Adam{LR: s.LR, Eps: 1e-6, Clip: 5} // ε and the clipped norm as for the module
	for i, stage := range s.stages {
		step, err := nn.NewProgram(s.build, "pretrain."+stage.name, in, func(sc *model.Scope, in []*Node) []*Node {
			out := s.outputs(sc.Store().Scope(preScope), in)
			for _, v := range nn.Variables(sc.Store(), preScope) {
				v.SetTrainable(stage.trains(v.Path()))
			}
			loss := ReduceAllMean(out.losses[i])
			adam.Minimize(sc.Store().Scope(preScope), loss) // on moments that train sets back
			return []*Node{loss}
		})
		if err != nil {
			return err
		}
		s.steps = append(s.steps, step)
	}
	var err error
	s.evaluate, err = nn.NewProgram(s.build, "pretrain.evaluate", in, func(sc *model.Scope, in []*Node) []*Node {
		out := s.outputs(sc.Store().Scope(preScope), in)
		nodes := append([]*Node{out.offset}, out.losses...)
		if out.probability != nil {
			s.detects = 1
			nodes = append([]*Node{out.probability}, nodes...)
		}
		return nodes
	})
	return err
}

// samples writes the agent steps of samples, one after the other, into rows.
func (s *pretrainer) samples(rows []int32, first []int32) []int32 {
	rows = rows[:0]
	for _, row := range first {
		for k := range s.chunk {
			rows = append(rows, row+int32(k*s.play.E*s.play.N))
		}
	}
	return rows
}

// train runs one stage and leaves the weights of its best epoch.
func (s *pretrainer) train(ctx context.Context, i int) error {
	order := slices.Clone(s.training)
	name := s.stages[i].name
	// Each stage has another loss and trains other variables. The moments and the step count of the stage before would
	// be wrong.
	for _, v := range nn.Variables(s.build.Store, preScope+"/adam") {
		if err := v.SetValue(tensors.FromShape(v.Shape())); err != nil {
			return err
		}
	}
	best, idle := math.Inf(1), 0
	var kept map[*model.Variable]*tensors.Tensor // the weights of the best epoch
	for epoch := range s.Epochs {
		if err := s.epoch(ctx, i, epoch, order); err != nil {
			return err
		}
		loss, err := s.heldOut(i)
		if err != nil {
			return err
		}
		if s.Watch != nil {
			s.Watch(name, epoch+1, loss)
		}
		if math.IsNaN(loss) {
			return fmt.Errorf("pre-training: the loss of the %s became %g in epoch %d", name, loss, epoch+1)
		}
		if idle++; loss < best {
			best, idle = loss, 0
			if kept, err = snapshot(s.build.Store); err != nil {
				return err
			}
		}
		if idle == 2 {
			break
		}
	}
	for v, value := range kept {
		if err := v.SetValue(value); err != nil {
			return err
		}
	}
	return nil
}

// epoch shuffles order and takes one gradient step of stage i for each whole minibatch.
func (s *pretrainer) epoch(ctx context.Context, i, epoch int, order []int32) error {
	if err := s.watch(); err != nil {
		return err
	}
	r := rng.New(s.Seed, "pretrain "+s.stages[i].name, uint64(epoch))
	for k := len(order) - 1; k > 0; k-- {
		j := r.IntN(k + 1)
		order[k], order[j] = order[j], order[k]
	}
	size := s.Batch / s.chunk
	var rows []int32
	for batch := range slices.Chunk(order[:len(order)/size*size], size) {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows = s.samples(rows, batch)
		s.feed(s.steps[i], rows)
		if err := s.steps[i].Run(); err != nil {
			return err
		}
	}
	return nil
}

// each runs the evaluation graph over the held-out samples. visit gets the agent steps of a minibatch, of which the
// last count only fills up.
func (s *pretrainer) each(visit func(rows []int32)) error {
	if err := s.watch(); err != nil {
		return err
	}
	size := s.Batch / s.chunk
	batch, rows := make([]int32, size), []int32{}
	return s.evaluate.Blocks(context.Background(), len(s.held), size, func(from, to int) {
		for k := range batch {
			batch[k] = s.held[0]
		}
		copy(batch, s.held[from:to])
		rows = s.samples(rows, batch)
		s.feed(s.evaluate, rows)
	}, func(from, to int) { visit(rows[:(to-from)*s.chunk]) })
}

// heldOut is the mean of a stage's loss over the held-out agent steps.
func (s *pretrainer) heldOut(stage int) (mean float64, err error) {
	losses, count := make([]float32, s.Batch), float64(len(s.held)*s.chunk)
	err = s.each(func(rows []int32) {
		s.evaluate.Read(s.detects+1+stage, losses)
		for k := range rows {
			mean += float64(losses[k]) / count
		}
	})
	return mean, err
}

// quality measures detector and positions on the held-out play.
func (s *pretrainer) quality() (Quality, error) {
	n := s.play.N
	p, offset := make([]float32, s.Batch*n), make([]float32, 2*s.Batch*n)
	var scores []float64
	var labels []bool
	var want, got [2][]float64 // relative positions of visible pairs
	err := s.each(func(rows []int32) {
		if s.detects > 0 {
			s.evaluate.Read(0, p)
		}
		s.evaluate.Read(s.detects, offset)
		for k, row := range rows {
			for j := range n {
				if j == int(row)%n || s.play.Alive[row] == 0 {
					continue
				}
				present := s.play.Visible[int(row)*n+j] != 0
				scores, labels = append(scores, float64(p[k*n+j])), append(labels, present)
				for axis := 0; axis < 2 && present; axis++ {
					want[axis] = append(want[axis], float64(s.play.RelPos[(int(row)*n+j)*2+axis]))
					got[axis] = append(got[axis], float64(offset[(axis*n+j)*s.Batch+k]))
				}
			}
		}
	})
	q := Quality{AUC: math.NaN(), Present: float64(len(want[0])) / float64(max(len(labels), 1))}
	q.RMSE, q.Spread = positionErrors(want, got)
	if s.detects > 0 {
		q.AUC = areaUnderCurve(scores, labels)
	}
	return q, err
}

// snapshot copies all weights below preScope.
func snapshot(store *model.Store) (map[*model.Variable]*tensors.Tensor, error) {
	out := map[*model.Variable]*tensors.Tensor{}
	for _, v := range nn.Variables(store, preScope) {
		value, err := v.MustValue().LocalClone()
		if err != nil {
			return nil, err
		}
		out[v] = value
	}
	return out, nil
}

// Quality holds the results of pre-training on held-out play.
type Quality struct {
	AUC     float64 // of the detector over all pairs; NaN where all labels are equal, or there is no detector
	Present float64 // share of labels that are 1
	RMSE    float64 // of the relative positions of pairs with label 1, world half sizes; NaN without any
	Spread  float64 // the same for the best constant prediction
}

// Limits of Blind. They are stricter than chance: starting positions of peers and the objects that they push leave
// traces even in observations without any peers.
const (
	blindAUC  = 0.75
	blindRMSE = 0.9 // of the spread; where there is no detector
)

// BlindNote explains Blind.
const BlindNote = "From so much play, an agent's observation tells little or nothing about where its peers are, " +
	"so no memory can do well on it"

// Blind reports whether pre-training found little or no information about peers' positions in the observations.
func (q Quality) Blind() bool {
	if math.IsNaN(q.AUC) {
		return q.RMSE > blindRMSE*q.Spread
	}
	return q.AUC < blindAUC
}

// String describes the accuracy of detector and positions in a few lines.
func (q Quality) String() string {
	text := fmt.Sprintf("held-out random play; %.1f %% of pairs visible to each other", 100*q.Present)
	switch {
	case !math.IsNaN(q.AUC):
		text += fmt.Sprintf("\n  detector: AUC %.3f (0.5 is chance)", q.AUC)
	case q.Present == 0 || q.Present == 1:
		text += "\n  detector: nothing to learn, all labels are equal"
	}
	if !math.IsNaN(q.RMSE) {
		text += fmt.Sprintf("\n  positions: RMSE %.3f world half sizes over visible pairs; predicting their mean: %.3f",
			q.RMSE, q.Spread)
	}
	if q.Blind() {
		text += "\n  " + BlindNote + "."
	}
	return text
}

// positionErrors returns the root mean squared distance of predicted 2-D positions, by axis, and the same for a
// constant prediction of the mean. Both are NaN without positions.
func positionErrors(want, got [2][]float64) (rmse, spread float64) {
	squared, variance := 0.0, 0.0
	for axis := range 2 {
		distance := floats.Distance(want[axis], got[axis], 2)
		squared += distance * distance
		variance += stat.PopVariance(want[axis], nil)
	}
	return math.Sqrt(squared / float64(len(want[0]))), math.Sqrt(variance)
}

// areaUnderCurve is the probability that a positive scores higher than a negative, ties counting half; NaN without
// both. It sorts its arguments.
func areaUnderCurve(scores []float64, labels []bool) float64 {
	stat.SortWeightedLabeled(scores, labels, nil)
	hits, falseAlarms, _ := stat.ROC(nil, scores, labels, nil)
	return integrate.Trapezoidal(falseAlarms, hits)
}
