// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/envs"
)

// Sizes of the update that is measured: BenchMARL's networks, the paper's minibatch.
const (
	updateFrames = 2400
	updateEpochs = 20
	updateWidth  = 256 // of both hidden layers
)

// updateMAPPO is the learner whose update is measured.
func updateMAPPO() learn.MAPPO {
	cfg := learn.DefaultMAPPO()
	cfg.Frames, cfg.Minibatch, cfg.Epochs = updateFrames, updateFrames, updateEpochs
	return cfg
}

// updateFlops is what the matrix products of one update take: forward, gradients of weights, and gradients of all layers' inputs but the first's.
// Actors have a row for each agent of a frame, the critic one for each frame.
func updateFlops(s *envs.Spec) float64 {
	network := func(rows, in, out int) float64 {
		first, rest := float64(in*updateWidth), float64(updateWidth*updateWidth+updateWidth*out)
		return 2 * float64(rows) * (2*first + 3*rest)
	}
	return network(updateFrames*s.Agents, s.InLen(), nn.ActionOutputs(&s.Act)) + network(updateFrames, s.State, 1)
}

// updateCost is what one update takes, and what it is compared with.
type updateCost struct {
	learn.TimeProfile
	whole   time.Duration // one update, as part of a whole iteration
	tanh    time.Duration // of the hidden layers, alone
	flops   float64       // of the update's products
	product float64       // FLOP/s of the update's largest product, alone
}

// rate is the update's FLOP/s.
func (u updateCost) rate() float64 { return u.flops / u.whole.Seconds() }

// share is the part of a minibatch step that takes t, in per cent.
func (u updateCost) share(t time.Duration) float64 { return 100 * t.Seconds() / u.Step().Seconds() }

// costOfUpdate keeps the cost that all figures of the group are taken from.
var costOfUpdate *updateCost

// updatePart returns a measurement of one number of the cost, which is measured once.
func updatePart(part func(updateCost) float64) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if costOfUpdate == nil {
			u, err := measureUpdate(ctx)
			if err != nil {
				return 0, err
			}
			costOfUpdate = &u
		}
		return part(*costOfUpdate), nil
	}
}

// updateFigures say what bounds the update: its rate beside that of its largest product, and where its time goes.
func updateFigures() []Figure {
	share := func(of func(updateCost) time.Duration) func(context.Context) (float64, error) {
		return updatePart(func(u updateCost) float64 { return u.share(of(u)) })
	}
	return []Figure{
		{"update", "its matrix products", "GFLOP", 0, "", true, updatePart(func(u updateCost) float64 { return u.flops / 1e9 })},
		{"update", "the update", "GFLOP/s", 0, "", false, updatePart(func(u updateCost) float64 { return u.rate() / 1e9 })},
		{"update", "its largest product alone", "GFLOP/s", 0, "", false, updatePart(func(u updateCost) float64 { return u.product / 1e9 })},
		{"update", "the update's rate over the product's", "%", 0, "", false, updatePart(func(u updateCost) float64 { return 100 * u.rate() / u.product })},
		{"update", "of a step forward, tanh in it", "%", 0, "", true, share(func(u updateCost) time.Duration { return u.Forward })},
		{"update", "tanh alone, over memory", "%", 0, "", true, share(func(u updateCost) time.Duration { return u.tanh })},
		{"update", "of a step gradients of activations", "%", 0, "", true, share(func(u updateCost) time.Duration { return u.Activations })},
		{"update", "of a step gradients of weights", "%", 0, "", true, share(func(u updateCost) time.Duration { return u.Weights })},
		{"update", "of a step Adam", "%", 0, "", true, share(func(u updateCost) time.Duration { return u.Optimiser })},
		{"update", "of a step gathering and transfer", "%", 0, "", true, share(func(u updateCost) time.Duration { return u.Transfer })},
	}
}

// measureUpdate measures everything that the figures of the group show, in one process and one after the other.
func measureUpdate(ctx context.Context) (u updateCost, err error) {
	env, err := balance(60)
	if err != nil {
		return u, err
	}
	backend, err := nn.Open()
	if err != nil {
		return u, err
	}
	u.flops = updateFlops(env.Spec())
	took, err := updatingOnce(ctx) // in milliseconds
	if err != nil {
		return u, err
	}
	u.whole = time.Duration(took * float64(time.Millisecond))
	b := &nn.Build{Spec: env.Spec(), Backend: backend, Store: nn.NewStore(1), Seed: 1}
	defer b.Close()
	rows := updateFrames * env.Spec().Agents
	const chain = 8
	product, err := productChain(b, rows, chain)
	if err != nil {
		return u, err
	}
	best, err := quickest(ctx, product)
	if err != nil {
		return u, err
	}
	u.product = chain * 2 * float64(rows) * updateWidth * updateWidth / best.Seconds()
	tanh, err := tanhs(b, rows)
	if err != nil {
		return u, err
	}
	if u.tanh, err = quickest(ctx, tanh); err != nil {
		return u, err
	}
	own := &nn.Build{Spec: env.Spec(), Backend: backend, Store: nn.NewStore(1), Seed: 1}
	defer own.Close()
	learner, err := updateMAPPO().Build(own, policy.DefaultMLP())
	if err != nil {
		return u, err
	}
	x, err := collect(env, learner, updateFrames)
	if err != nil {
		return u, err
	}
	u.TimeProfile, err = updateMAPPO().TimeProfile(own, policy.DefaultMLP(), x)
	return u, err
}

// productChain is the update's largest product, W·x with W [256,256] and x [256,rows], so many times one after the other, so that starting a graph
// counts little.
func productChain(b *nn.Build, rows, times int) (*nn.Program, error) {
	inputs := []nn.Input{nn.F32("w", updateWidth, updateWidth), nn.F32("x", updateWidth, rows)}
	p, err := nn.NewProgram(b, "product", inputs, func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		y := in[1]
		for range times {
			y = graph.Dot(in[0], y).Product()
		}
		return []*graph.Node{graph.Reshape(graph.Slice(y, graph.AxisElem(0), graph.AxisElem(0)), 1), y}
	})
	if err != nil {
		return nil, err
	}
	fill := func(value float32) func([]float32) {
		return func(dst []float32) {
			for i := range dst {
				dst[i] = value
			}
		}
	}
	p.Feed(0, fill(1./updateWidth)) // values stay where they are: neither overflow nor numbers that the processor is slow with
	p.Feed(1, fill(0.5))
	return p, nil
}

// tanhs is the activation of the hidden layers of actor and critic alone: read, computed and written once each.
func tanhs(b *nn.Build, rows int) (*nn.Program, error) {
	inputs := []nn.Input{nn.F32("actor", 2*updateWidth, rows), nn.F32("critic", 2*updateWidth, updateFrames)}
	p, err := nn.NewProgram(b, "tanh", inputs, func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		actor, critic := graph.Tanh(in[0]), graph.Tanh(in[1])
		return []*graph.Node{graph.Reshape(graph.Slice(critic, graph.AxisElem(0), graph.AxisElem(0)), 1), actor, critic}
	})
	if err != nil {
		return nil, err
	}
	for i := range inputs {
		p.Feed(i, func(dst []float32) {
			for k := range dst {
				dst[k] = float32(k%200)/100 - 1
			}
		})
	}
	return p, nil
}
