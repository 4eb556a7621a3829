// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/policy"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// BenchmarkQStep times one gradient step of value learners, 1,024 frames, at the sizes of vmas/balance: 4 agents, 16
// observed numbers, 9 choices. GOMLX_BACKEND chooses the backend.
func BenchmarkQStep(b *testing.B) {
	spectra := DefaultQ()
	spectra.Mixer = DefaultSPECTra()
	for _, c := range []struct {
		Q
		policy policy.Config
	}{
		{DefaultQ(), policy.DefaultMLP()}, {DefaultQ().WithQPLEX(), policy.DefaultMLP()},
		{spectra, policy.DefaultSPECTra()}, {DefaultQ(), policy.DefaultGRU()},
	} {
		b.Run(c.Label()+"-"+c.policy.Kind(), func(b *testing.B) { benchmarkStep(b, c.Q, c.policy) })
	}
}

func benchmarkStep(b *testing.B, c Q, p policy.Config) {
	backend := must.Value(nn.Open())
	spec := &envs.Spec{Name: "fake", NumEnvs: 2, Agents: 4, Obs: []int{16}, State: 64, Act: envs.ActSpec{Choices: 9}}
	c.Frames, c.Replay = 100_000, 100_000
	l := must.Value(c.Build(&nn.Build{Spec: spec, Backend: backend, Store: nn.NewStore(1), Seed: 1}, p)).(*q)
	must.Do(b, l.replay.Add(withCarry(randomRollout(spec, 50_000), l.HiddenLen())))
	minibatches := func(yield func(error) bool) {
		for step := uint64(0); b.Loop(); step++ {
			l.replay.Sample(l.slots, rng.New(1, "replay", 0, step))
			l.feed(1)
			if !yield(nil) {
				return
			}
		}
	}
	if _, _, err := l.update.Means(b.Context(), qScalars, minibatches); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(1000*b.Elapsed().Seconds()/float64(b.N), "ms/step")
}

// Sizes of the measured update: BenchMARL's networks on the paper's minibatch of Balance.
const (
	updateFrames, updateAgents, updateWidth = 2400, 4, 256
	updateEpochs                            = 20
)

// updateGFLOP counts the matrix products of one update: the forward pass, weight gradients, and input gradients of all
// layers but the first. The actor has a row for each agent of a frame, the critic one for each frame.
func updateGFLOP(s *envs.Spec) float64 {
	network := func(rows, in, out int) float64 {
		first, rest := float64(in*updateWidth), float64(updateWidth*updateWidth+updateWidth*out)
		return 2e-9 * float64(rows) * (2*first + 3*rest)
	}
	return network(updateFrames*s.Agents, s.InLen(), nn.ActionOutputs(&s.Act)) + network(updateFrames, s.State, 1)
}

// BenchmarkMAPPOUpdate times one minibatch of MAPPO on Balance's sizes: 2,400 frames, 9,600 rows of the actor.
// Gathering is part of it, and so are the targets, once in 20 minibatches.
func BenchmarkMAPPOUpdate(b *testing.B) {
	backend := must.Value(nn.Open())
	spec := &envs.Spec{Name: "fake", NumEnvs: 60, Agents: updateAgents, Obs: []int{16}, State: 64,
		Act: envs.ActSpec{Dim: 2, Low: []float32{-1, -1}, High: []float32{1, 1}}}
	c := DefaultMAPPO()
	c.Frames, c.Minibatch, c.Epochs = updateFrames, updateFrames, updateEpochs
	learner := must.Value(c.Build(&nn.Build{Spec: spec, Backend: backend, Store: nn.NewStore(1), Seed: 1}, policy.DefaultMLP()))
	x := randomRollout(spec, updateFrames/spec.NumEnvs)
	for i, r := 0, rng.New(1, "actions"); i < len(x.Raw); i++ {
		x.Raw[i] = r.Norm()
	}
	for b.Loop() {
		must.Value(learner.Update(b.Context(), x))
	}
	seconds := b.Elapsed().Seconds() / float64(b.N*updateEpochs)
	b.ReportMetric(1000*seconds, "ms/step")
	b.ReportMetric(updateGFLOP(spec)/seconds, "GFLOP/s")
}

// BenchmarkLargestProduct times the largest matrix product of that update alone: [256,256] by [256,9600]. It runs eight
// times in a row, so that starting a graph counts little.
func BenchmarkLargestProduct(b *testing.B) {
	backend := must.Value(nn.Open())
	const rows, times = updateFrames * updateAgents, 8
	inputs := []nn.Input{nn.F32("w", updateWidth, updateWidth), nn.F32("x", updateWidth, rows)}
	build := &nn.Build{Backend: backend, Store: nn.NewStore(1), Seed: 1}
	p := must.Value(nn.NewProgram(build, "product", inputs, func(_ *model.Scope, in []*Node) []*Node {
		y := in[1]
		for range times {
			y = Dot(in[0], y).Product()
		}
		return []*Node{y}
	}))
	for i, value := range []float32{1. / updateWidth, 0.5} { // the products keep their values: neither overflow nor denormals
		p.Feed(i, func(dst []float32) {
			for k := range dst {
				dst[k] = value
			}
		})
	}
	for b.Loop() {
		must.Do(b, p.Run())
	}
	b.ReportMetric(2e-9*times*rows*updateWidth*updateWidth*float64(b.N)/b.Elapsed().Seconds(), "GFLOP/s")
}
