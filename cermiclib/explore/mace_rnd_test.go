// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// rndSpec is a made-up task of 3 agents that observe 18 numbers, as many as in Navigation.
func rndSpec() *envs.Spec {
	return &envs.Spec{Name: "fake", NumEnvs: 20, Agents: 3, Obs: []int{18}, State: 1, Act: envs.ActSpec{Choices: 2}}
}

// TestRandomTargetVariesOverInputs: on standard normal observations, each output has a variance of about 0.28 with the
// authors' initialisation; torch's default gives 0.005.
func TestRandomTargetVariesOverInputs(t *testing.T) {
	const rows = 2000
	s := rndSpec()
	b := graphtest.Build(s, 3)
	m := must.Value(DefaultMACE().Build(b)).(*mace)
	obs := graphtest.Normal(rng.New(1, "observations"), make([]float32, s.Agents*rows*18))
	out := graphtest.Outputs(b, []nn.Input{nn.F32("obs", s.Agents, rows, 18)}, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		return []*graph.Node{m.novelty.net(sc.At(maceScope).At(targetScope), in[0], m.NoveltyLayers)}
	}, obs)[0]
	variance, outputs := 0.0, s.Agents*m.NoveltyOut
	for k := range outputs {
		var over rl.Running
		for row := range rows {
			over.Add(float64(out[(k/m.NoveltyOut*rows+row)*m.NoveltyOut+k%m.NoveltyOut]))
		}
		variance += over.Std() * over.Std() / float64(outputs)
	}
	t.Logf("variance %.4f", variance)
	if variance < 0.2 || variance > 0.4 {
		t.Errorf("the target's outputs have a variance of %.4f over inputs, want about 0.28", variance)
	}
}

// wideRollout is rollout batch k of standard normal observations.
func wideRollout(t *testing.T, m *mace, k int, scale float32) *rl.Rollout {
	t.Helper()
	s := rndSpec()
	x, r, step := rl.NewRollout(s, 100, 0), rng.New(uint64(k), "wide"), envs.NewStep(s)
	x.Iteration = k
	graphtest.Fill(step.Alive, 1)
	for now := range x.T + 1 {
		for i := range step.Obs {
			step.Obs[i] = r.Norm()
			if i/18%3 == 1 {
				step.Obs[i] *= scale
			}
		}
		x.Observe(now, step)
	}
	for range x.T {
		must.Do(t, m.Behave(0, nil, rl.NewDist(s, 0)))
	}
	graphtest.Fill(x.LogP, float32(-math.Log(2)))
	return x
}

// TestRareObservationsStayNew: after three rollout batches, observations of one environment in twenty are at least 1.6
// times as new as the rest. With a target that hardly varies the ratio is 1.35.
func TestRareObservationsStayNew(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	c := DefaultMACE()
	c.Influence = 0
	m, _ := newMACE(t, c, rndSpec())
	var rare, common float64
	for k := range 4 {
		x := wideRollout(t, m, k, 1)
		for row := range (x.T + 1) * x.E * x.N {
			if row/x.N%x.E == 0 {
				for i := range 6 {
					x.ObsRow(row)[i] += 2
				}
			}
		}
		must.Value(m.Reward(t.Context(), x))
		rare, common = 0, 0
		for row, u := range m.new {
			if row/x.N%x.E == 0 {
				rare += float64(u) / float64(x.T*x.N)
			} else {
				common += float64(u) / float64(x.T*x.N*(x.E-1))
			}
		}
		t.Logf("rollout batch %d: novelty %.4f where one environment is, %.4f elsewhere", k, rare, common)
		must.Value(m.Update(t.Context(), x))
	}
	if rare < 1.6*common {
		t.Errorf("novelty is %.4f where one environment is and %.4f elsewhere, want at least 1.6 times as much", rare, common)
	}
}

// TestEveryAgentsNoveltyHasItsOwnScale: u of each agent has a standard deviation of 1.
func TestEveryAgentsNoveltyHasItsOwnScale(t *testing.T) {
	c := DefaultMACE()
	c.Influence = 0
	m, _ := newMACE(t, c, rndSpec())
	x := wideRollout(t, m, 0, 0) // agent 1 always observes the same, whose novelty does not vary, but for rounding
	for row := range x.Rows() {
		if row%3 == 1 && row/60%2 == 0 {
			x.ObsRow(row)[0] = 0.1 // beside this: its novelty is on a scale of its own
		}
	}
	must.Value(m.Reward(t.Context(), x))
	var spread [3]rl.Running
	for row, u := range m.new {
		spread[row%3].Add(float64(u))
	}
	for i, s := range spread {
		if math.Abs(s.Std()-1) > 0.01 {
			t.Errorf("agent %d's novelty has a standard deviation of %.3f, want 1", i, s.Std())
		}
	}
}

// TestScaleOfFutureNoveltyFollowsTheBuffer: once the rollout batches of great novelty have left the buffer, the scale
// is that of the rest.
func TestScaleOfFutureNoveltyFollowsTheBuffer(t *testing.T) {
	c := smallMACE()
	c.HindsightBuffer, c.Influence = 3, 0.1
	m, _ := newMACE(t, c, maceSpec(true))
	z, x := make([]float32, 24), maceRollout(maceSpec(true), 4)
	must.Do(t, m.novelty.encoder.watch(t.Context(), x))
	for k, level := range []float32{100, 100, 1, 1, 1} {
		graphtest.Fill(z, level)
		x.Iteration = k
		acted(t, m, x)
		got := must.Value(m.hindsight.reward(t.Context(), make([]float32, 24), z, x))
		want := 200.0 // the sum of two peers' z
		if k == 4 {
			want = 2
		}
		if got["mace/z_upper"] != want {
			t.Errorf("rollout batch %d: the scale is %g, want %g", k, got["mace/z_upper"], want)
		}
	}
}

// TestNegativeInfluenceDrawsAWarning after as many rollout batches in a row as the buffer holds.
func TestNegativeInfluenceDrawsAWarning(t *testing.T) {
	h := &hindsight{MACE: MACE{HindsightBuffer: 3}}
	for k, c := range []struct{ influence, want float64 }{{-1, 0}, {-1, 0}, {0.1, 0}, {-1, 0}, {-1, 0}, {-1, 1}, {-1, 1}, {0, 0}} {
		if got := h.check(c.influence); got != c.want {
			t.Errorf("rollout batch %d: warn_influence is %g, want %g", k, got, c.want)
		}
	}
}
