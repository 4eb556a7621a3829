// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/nn/nntest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// icesSpec is a task of 2 agents with 3 choices, who each see who they are. Its state is a switch, observed with some
// noise. Only agent 0 can throw it, by choice 2: see icesRollout.
func icesSpec() *envs.Spec {
	return &envs.Spec{Name: "fake", NumEnvs: 8, Agents: 2, Obs: []int{2}, State: 1, Act: envs.ActSpec{Choices: 3}}
}

// icesRollout plays uniform actions.
func icesRollout(s *envs.Spec, steps int) *rl.Rollout {
	x, step, r, on := rl.NewRollout(s, steps, 0), envs.NewStep(s), rng.New(1, "switch"), make([]float32, s.NumEnvs)
	for c := range s.NumEnvs {
		for i := range s.Agents {
			step.Obs[(c*s.Agents+i)*s.Agents+i], step.Alive[c*s.Agents+i] = 1, 1
		}
	}
	for t := range steps {
		x.Observe(t, step)
		for c := range s.NumEnvs {
			choice := x.Act.Discrete[(t*s.NumEnvs+c)*s.Agents:]
			for i := range s.Agents {
				choice[i] = int32(r.IntN(s.Act.Choices))
			}
			if choice[0] == 2 {
				on[c] = 1 - on[c]
			}
			step.State[c] = on[c] + 0.2*r.Norm()
		}
	}
	x.Observe(steps, step)
	return x
}

func smallICES() ICES {
	c := DefaultICES()
	c.Hidden, c.PolicyWidth, c.Batch, c.Steps, c.Latent = []int{16}, []int{16}, 64, 400, 2
	c.LR, c.ModelLR, c.Entropy = 0.01, 0.003, 0.001
	return c
}

func newICES(t *testing.T, c ICES, s *envs.Spec) *ices {
	t.Helper()
	return must.Get(c.Build(graphtest.Build(s, 3)))(t).(*ices)
}

// TestOnlyTheAgentThatMattersContributes: the other agent's contribution is small in comparison, but not 0. Separately
// trained models differ by their errors.
func TestOnlyTheAgentThatMattersContributes(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	s := icesSpec()
	m := newICES(t, smallICES(), s)
	x := icesRollout(s, 64)
	must.Value(m.Update(t.Context(), x))
	const rows = 256
	inputs := []nn.Input{nn.F32("state", rows, 1), nn.I32("choice", rows, 2)}
	r := graphtest.Outputs(m.build, inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		base, code := sc.At(icesScope).At(icesBase), sc.At(icesScope).At(icesCode)
		taken := graph.OneHot(in[1], s.Act.Choices, in[0].DType())
		known := graph.OnesLike(graph.ReduceMax(taken, -1))
		return []*graph.Node{m.contributions(worldModel{m.ICES, base, code, "global"}, worldModel{m.ICES, base, code, "local"},
			worldIn{state: in[0], taken: taken, known: known})}
	}, x.State[:rows], x.Act.Discrete[:rows*2])[0]
	var mean [2]float64
	for k, v := range r {
		if !(v >= 0 && v <= 1) {
			t.Fatalf("a contribution of %g, want 0 to 1", v)
		}
		mean[k%2] += float64(v) / float64(rows)
	}
	if !(mean[0] > 0.4 && mean[0] > 2*mean[1]) {
		t.Errorf("agent 0 contributes %.2f, agent 1, who can do nothing, %.2f", mean[0], mean[1])
	}
}

// TestExplorationPolicyPrefersWhatContributes, agent by agent: contributions are given, and actions are uniform.
func TestExplorationPolicyPrefersWhatContributes(t *testing.T) {
	s, c := icesSpec(), smallICES()
	c.Entropy = 0.2
	m, x := newICES(t, c, s), icesRollout(s, 16)
	pays := [2]int32{2, 0} // the choice of each agent that contributes 1, where all others contribute nothing
	rows := x.T * x.E
	inputs := []nn.Input{nn.F32("obs", rows, 2, 2), nn.F32("state", rows, 1), nn.I32("choice", rows, 2), nn.F32("alive", rows, 2), nn.F32("contribution", rows, 2)}
	p := must.Value(nn.NewProgram(m.build, "explorers", inputs, func(sc *model.Scope, nodes []*graph.Node) []*graph.Node {
		in := nn.Named(inputs, nodes)
		sc = sc.At(icesScope)
		policy, value, _ := m.explorers(sc, in, graph.OneHot(in["choice"], 3, in["obs"].DType()), in["contribution"])
		m.Adam.Minimize(sc.At(icesPolicy), policy)
		m.Adam.Minimize(sc.At(icesValue), value)
		return []*graph.Node{value}
	}))
	p.Feed(0, func(dst []float32) { copy(dst, x.Obs) })
	p.Feed(1, func(dst []float32) { copy(dst, x.State) })
	p.FeedInt(2, func(dst []int32) { copy(dst, x.Act.Discrete) })
	p.Feed(3, func(dst []float32) { graphtest.Fill(dst, 1) })
	p.Feed(4, func(dst []float32) {
		for i := range dst {
			if x.Act.Discrete[i] == pays[i%2] {
				dst[i] = 1
			}
		}
	})
	for range 150 {
		must.Do(t, p.Run())
	}
	// The variance of a contribution that a third of uniform actions has is 2/9, the least squared error of a value.
	if loss := p.Scalar(0); math.Abs(loss-2.0/9) > 0.03 {
		t.Errorf("the value's squared error is %.3f, want about 0.222", loss)
	}
	d := rl.NewDist(s, 0)
	must.Do(t, m.Behave(0, &rl.Obs{Obs: x.Obs[:s.NumEnvs*4], State: x.State[:s.NumEnvs]}, d))
	for row := range s.NumEnvs * 2 {
		for k, l := range d.Other[row*3 : row*3+3] {
			if best := d.Other[row*3+int(pays[row%2])]; int32(k) != pays[row%2] && l > best-1 {
				t.Errorf("agent %d explores with logits %v, want choice %d to stand out", row%2, d.Other[row*3:row*3+3], pays[row%2])
			}
		}
	}
	if d.Share != 0.2 || !d.OffPolicy {
		t.Errorf("π^x takes a share of %g", d.Share)
	}
}

// TestContributionIsTheDivergenceOfTheCodes by the formula: two Gaussians of two components.
func TestContributionIsTheDivergenceOfTheCodes(t *testing.T) {
	m := newICES(t, smallICES(), icesSpec())
	inputs := []nn.Input{nn.F32("mean", 2), nn.F32("spread", 2), nn.F32("other mean", 2), nn.F32("other spread", 2)}
	mean, spread, otherMean, otherSpread := []float32{0.5, -1}, []float32{0.3, 2}, []float32{0, 1}, []float32{0.6, 1.5}
	kl := graphtest.Outputs(m.build, inputs, func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		a, b := gauss{in[0], in[1]}, gauss{in[2], in[3]}
		return []*graph.Node{componentKL(a, b)}
	}, mean, spread, otherMean, otherSpread)[0]
	for k, want := range nntest.KL(nntest.Wide(mean), nntest.Wide(spread), nntest.Wide(otherMean), nntest.Wide(otherSpread)) {
		if math.Abs(float64(kl[k])-want) > 1e-5 { // float32 against float64
			t.Errorf("component %d: %g, want %g", k, kl[k], want)
		}
	}
}

// TestOneTableOfEmbeddingsServesAllAgents, drawn from N(0, 1); and the gradients of the codes are clamped element by
// element.
func TestOneTableOfEmbeddingsServesAllAgents(t *testing.T) {
	c := smallICES()
	c.Embed = 100
	m := newICES(t, c, icesSpec())
	tables := 0
	for _, v := range nn.Variables(m.build.Store, "/"+icesScope) {
		if !strings.HasSuffix(v.Path(), "/actions") || strings.Contains(v.Path(), "/adam/") {
			continue
		}
		tables++
		flat := must.Value(tensors.CopyFlatData[float32](v.MustValue()))
		var over rl.Running
		for _, x := range flat {
			over.Add(float64(x))
		}
		// 300 values: the standard deviation has an error of 0.04
		if !slices.Equal(v.Shape().Dimensions, []int{3, 100}) || math.Abs(over.Std()-1) > 0.15 {
			t.Errorf("%s is %v with standard deviation %.2f, want a row for each action with 1", v.Path(), v.Shape().Dimensions, over.Std())
		}
	}
	if tables != 4 { // of both models' first predictions and codes
		t.Errorf("%d tables, want 4", tables)
	}
	if a := DefaultICES().codeAdam(); !a.Elementwise || a.Clip != 0.1 || DefaultICES().Entropy != 0.002 {
		t.Errorf("the codes' optimiser is %+v, the weight of the entropy %g", a, DefaultICES().Entropy)
	}
}

func TestICESPaysNothing(t *testing.T) {
	s := icesSpec()
	m, x := newICES(t, smallICES(), s), icesRollout(s, 4)
	must.Value(m.Reward(t.Context(), x))
	if slices.ContainsFunc(x.Intrinsic, func(r float32) bool { return r != 0 }) {
		t.Errorf("it pays %v", x.Intrinsic)
	}
}

func TestICESTrainsOnTheLearnersReplayIfThereIsOne(t *testing.T) {
	s, c := icesSpec(), smallICES()
	c.Steps = 3
	x := icesRollout(s, 16)
	shared := must.Value(rl.NewReplay(s, 1000, 1<<20, 0, 1))
	for range 2 {
		must.Do(t, shared.Add(x))
	}
	m := newICES(t, c, s)
	x.Replay = shared
	must.Value(m.Update(t.Context(), x))
	x.Replay = nil
	if shared.Len() != 2*x.T*x.E {
		t.Errorf("the learner's replay has %d frames, want %d", shared.Len(), 2*x.T*x.E)
	}
	alone := newICES(t, c, s)
	for range 3 { // its own is as large as a rollout batch, however many come
		must.Value(alone.Update(t.Context(), x))
	}
	if got := alone.replay.Len(); got != x.T*x.E {
		t.Errorf("its own replay has %d frames, want %d", got, x.T*x.E)
	}
}

func TestICESRefusesTasksItCannotModel(t *testing.T) {
	for want, change := range map[string]func(*envs.Spec){
		"task.discrete": func(s *envs.Spec) { s.Act = envs.ActSpec{Dim: 1, Low: []float32{-1}, High: []float32{1}} },
		"state":         func(s *envs.Spec) { s.State = 0 },
	} {
		s := icesSpec()
		change(s)
		_, err := smallICES().Build(graphtest.Build(s, 1))
		must.Refuse(t, err, want)
	}
}
