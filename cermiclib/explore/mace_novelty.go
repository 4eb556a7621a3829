// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/rng"
)

// novelty is random network distillation (Burda et al. 2019), with a pair of networks for each agent. It is the error
// with which the predictor, trained on the agent's observations, predicts the target, which stays random.
//
//	u_i(o) = mean over outputs of (p_i(o) − t_i(o))²
//
// Reading: for cells, both networks read the features of a random convolutional network.
type novelty struct {
	MACE
	spec    *envs.Spec
	seed    uint64
	encoder *obsEncoder
	rating  *nn.Program
	step    *nn.Loop
	inputs  []rl.Running // [F] of each observed number
	mean    []float32    // [F] of inputs, as of the present rollout batch
	scale   []float32    // [F] 1 / standard deviation, likewise
	spread  []rl.Running // [N] of each agent's u
}

// Scopes of MACE's variables.
const (
	maceScope      = "mace"
	targetScope    = "rnd_target"
	predictorScope = "rnd_predictor"
	hindsightScope = "hindsight"
)

// inputClip bounds standardised observations, as is usual for distillation of random networks.
const inputClip = 5

func newNovelty(c MACE, b *nn.Build) (*novelty, error) {
	s := b.Spec
	o := nn.ObsFeatures(s)
	encoder, err := newObsEncoder(b, maceScope)
	if err != nil {
		return nil, err
	}
	m := &novelty{
		MACE: c, spec: s, seed: b.Seed, encoder: encoder, inputs: make([]rl.Running, o),
		mean: make([]float32, o), scale: make([]float32, o), spread: make([]rl.Running, s.Agents),
	}
	obs := nn.F32("obs", c.Minibatch, s.Agents, o)
	m.rating, err = nn.NewProgram(b, "mace.novelty", []nn.Input{obs}, func(sc *model.Scope, in []*Node) []*Node {
		return []*Node{m.surprise(sc.At(maceScope), in[0])}
	})
	if err != nil {
		return nil, err
	}
	inputs := []nn.Input{obs, nn.F32("weight", c.Minibatch, s.Agents)}
	m.step, err = nn.NewLoop(b, "mace.novelty.update", inputs, func(sc *model.Scope, in []*Node) []*Node {
		sc = sc.At(maceScope)
		loss := nn.Average(Reshape(m.surprise(sc, in[0]), -1), Reshape(in[1], -1))
		c.Adam.Minimize(sc.At(predictorScope), loss)
		return []*Node{loss}
	})
	return m, err
}

// surprise maps standardised observations [B,N,F] to u [B,N].
func (m *novelty) surprise(sc *model.Scope, obs *Node) *Node {
	x := Transpose(obs, 0, 1)
	predicted := m.net(sc.At(predictorScope), x, m.NoveltyLayers+2)
	wanted := StopGradient(m.net(sc.At(targetScope), x, m.NoveltyLayers))
	for _, v := range nn.Variables(sc.Store(), sc.At(targetScope).Scope()) {
		v.SetTrainable(false)
	}
	return Transpose(ReduceMean(Square(Sub(predicted, wanted)), -1), 0, 1)
}

// net maps x [N,B,F] to [N,B,out], a network for each agent.
func (m *novelty) net(sc *model.Scope, x *Node, layers int) *Node {
	for i := range layers {
		x = nn.ReLU(orthogonalEach(sc.At("layer_%d", i), x, m.NoveltyWidth))
	}
	return orthogonalEach(sc.At("out"), x, m.NoveltyOut)
}

// orthogonalEach maps x [N,B,in] to [N,B,out] by weights that start orthogonal with gain √2, and a bias that starts at
// 0, as the authors' do. With the default of nn.Linear, the output of a random target hardly depends on its input. The
// predictor would learn only its bias, and every observation would be familiar within three rollout batches.
func orthogonalEach(sc *model.Scope, x *Node, out int) *Node {
	groups, in := x.Shape().Dimensions[0], x.Shape().Dimensions[2]
	w := nn.Weight(sc, x, "weights", nn.Orthogonal(math.Sqrt2), groups, in, out)
	b := nn.Weight(sc, x, "bias", nn.AllZero, groups, 1, out)
	return Add(Einsum("gbi,gio->gbo", x, w), b)
}

// rate writes u of the true next observations of x into dst [T,E,N], divided by each agent's running standard deviation
// of u, this rollout batch included.
func (m *novelty) rate(ctx context.Context, dst []float32, x *rl.Rollout) error {
	if err := m.measure(ctx, dst, x); err != nil {
		return err
	}
	for row := range dst {
		dst[row] /= float32(m.spread[row%x.N].Std() + statTiny)
	}
	return nil
}

// measure updates the statistics and writes u into dst [T,E,N] as it is. It is 0 where an episode ends, as in the
// authors' code, and for agents that are dead before or after the step. Nothing is learned from observations of dead
// agents, so they would never become familiar: a death would remain new for ever.
func (m *novelty) measure(ctx context.Context, dst []float32, x *rl.Rollout) error {
	if err := m.encoder.watch(ctx, x); err != nil {
		return err
	}
	m.see(x)
	n, next := x.N, []func([]float32, int){m.standardised(m.encoder.next)}
	err := m.rating.EachRow(ctx, x.T*x.E, next, func(_, frame int, u []float32) { copy(dst[frame*n:], u) })
	if err != nil {
		return err
	}
	for i := range m.spread {
		m.spread[i].Fade(m.IntMemory)
	}
	for row, u := range dst {
		if frame := row / n; x.Alive[row] == 0 || x.Alive[row+x.E*n] == 0 || x.Done(frame/x.E, frame%x.E) {
			dst[row] = 0
			continue
		}
		m.spread[row%n].Add(float64(u))
	}
	return nil
}

// see updates the statistics with the observations of x.
func (m *novelty) see(x *rl.Rollout) {
	for row, alive := range x.Alive[:x.Rows()] {
		for d, v := range m.encoder.now(row) {
			if alive != 0 {
				m.inputs[d].Add(float64(v))
			}
		}
	}
	for d, in := range m.inputs {
		m.mean[d], m.scale[d] = float32(in.Mean), float32(1/(in.Std()+statTiny))
	}
}

// standardise writes an observation with mean 0 and variance 1 over all observations so far.
func (m *novelty) standardise(dst, obs []float32) {
	for d, v := range obs {
		dst[d] = min(max((v-m.mean[d])*m.scale[d], -inputClip), inputClip)
	}
}

// standardised returns a function that writes a frame of observations [N,F], of which obs returns one.
func (m *novelty) standardised(obs func(row int) []float32) func(dst []float32, frame int) {
	n, f := m.spec.Agents, nn.ObsFeatures(m.spec)
	return func(dst []float32, frame int) {
		for i := range n {
			m.standardise(dst[i*f:(i+1)*f], obs(frame*n+i))
		}
	}
}

// train takes gradient steps on rnd_epochs passes over a share of the frames.
func (m *novelty) train(ctx context.Context, x *rl.Rollout) (rl.Scalars, error) {
	order := make([]int32, x.T*x.E)
	kept := order[:max(1, int(m.NoveltyKeep*float64(len(order))))]
	out, _, err := m.step.Means(ctx, []string{"mace/rnd_loss"}, func(yield func(error) bool) {
		for epoch := range m.NoveltyEpochs {
			rng.New(m.seed, "mace novelty", uint64(x.Iteration), uint64(epoch)).Perm(order)
			for frames := range slices.Chunk(kept, m.Minibatch) {
				m.feed(x, frames)
				if !yield(nil) {
					return
				}
			}
		}
	})
	return out, err
}

// feed writes the frames of a gradient step; rows beyond them are padding of weight 0.
func (m *novelty) feed(x *rl.Rollout, frames []int32) {
	nn.FeedRows(m.step.Program, "obs", frames, m.standardised(m.encoder.now))
	m.step.Feed(1, func(dst []float32) { x.GatherAlive(dst, frames) })
}
