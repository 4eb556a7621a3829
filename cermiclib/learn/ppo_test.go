// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/nn/nntest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// ppoReference computes the actor's steps in float64, from formulas alone: forward in plain loops, gradients by finite
// differences.
type ppoReference struct {
	l      *mappo
	x      *rl.Rollout
	params map[string][]float64
	names  []string
	adam   nntest.Adam
}

// logProb is log π of agent step row, from the network's output y.
func (r *ppoReference) logProb(y []float64, row int) float64 {
	a := &r.x.Spec.Act
	if k := a.Choices; k > 0 {
		total := 0.0
		for i := range k {
			if r.x.Mask == nil || r.x.Mask[row*k+i] != 0 {
				total += math.Exp(y[i])
			}
		}
		return y[r.x.Act.Discrete[row]] - math.Log(total)
	}
	logp := 0.0
	for d := range a.Dim {
		scale := math.Log1p(math.Exp(y[a.Dim+d]+math.Log(math.Exp(0.99)-1))) + 0.01
		logp += nntest.LogTanhNormal(float64(r.x.Raw[row*a.Dim+d]), y[d], scale, a.Low[d], a.High[d])
	}
	return logp
}

// logUniform is the log-probability of a uniform action of agent step row.
func (r *ppoReference) logUniform(row int) float64 {
	a := &r.x.Spec.Act
	sum := 0.0
	for k := range a.Choices {
		if r.x.Mask == nil || r.x.Mask[row*a.Choices+k] != 0 {
			sum++
		}
	}
	if a.Choices > 0 {
		return -math.Log(sum)
	}
	for d := range a.Dim {
		sum -= math.Log(float64(a.High[d] - a.Low[d]))
	}
	return sum
}

// loss is the clipped surrogate of the whole rollout batch.
func (r *ppoReference) loss() float64 {
	sum, count, eps := 0.0, 0.0, float64(r.x.Eps)
	for row := range r.x.Rows() {
		if r.x.Alive[row] == 0 {
			continue
		}
		y := nntest.Linear(r.params, "out", nntest.Apply(nntest.Linear(r.params, "layer_0", nntest.Wide(r.x.ObsRow(row)), true), math.Tanh), true)
		p := math.Exp(r.logProb(y, row))
		if eps > 0 {
			p = (1-eps)*p + eps*math.Exp(r.logUniform(row))
		}
		w, adv := p/math.Exp(float64(r.x.LogP[row])), float64(r.l.adv[row])
		sum += math.Min(w*adv, math.Min(math.Max(w, 1-r.l.Clip), 1+r.l.Clip)*adv)
		count++
	}
	return -sum / count
}

// behaved samples the actions of x from the learner's own policy with a share of uniform actions.
func behaved(t *testing.T, l Learner, x *rl.Rollout, eps float32, offPolicy bool) {
	t.Helper()
	s := x.Spec
	d, act, r := rl.NewDist(s, 0), envs.NewActions(s), rng.New(1, "behaviour")
	rows := x.E * x.N
	for k := range x.T {
		in := rl.Obs{Obs: x.Obs[k*rows*s.ObsLen() : (k+1)*rows*s.ObsLen()]}
		if x.Mask != nil {
			in.Mask = x.Mask[k*rows*s.Act.Choices : (k+1)*rows*s.Act.Choices]
		}
		must.Do(t, l.Act(&in, d))
		d.Eps, d.OffPolicy = eps, offPolicy
		for row := range rows {
			x.LogP[k*rows+row] = d.Sample(row, r, act)
		}
		copy(x.Importance[k*rows:], d.Importance)
		copy(x.Act.Discrete[k*rows*min(1, len(x.Act.Discrete)):], act.Discrete)
		copy(x.Act.Continuous[k*rows*s.Act.Dim:], act.Continuous)
		copy(x.Raw[k*rows*s.Act.Dim:], d.Raw)
	}
	if !offPolicy {
		x.Eps = eps
	}
}

// box is tdSpec with continuous actions.
func box() *envs.Spec {
	s := tdSpec(false)
	s.Act = envs.ActSpec{Dim: 2, Low: []float32{-1, 0}, High: []float32{1, 3}}
	return s
}

func TestPPOUpdateFollowsAnIndependentFloat64Implementation(t *testing.T) {
	for name, spec := range map[string]*envs.Spec{"discrete": tdSpec(false), "masked": tdSpec(true), "continuous": box()} {
		for _, eps := range []float32{0, 0.4} {
			t.Run(fmt.Sprintf("%s/eps=%g", name, eps), func(t *testing.T) {
				c := DefaultMAPPO()
				c.Frames, c.Epochs, c.Minibatch, c.CriticHidden = 20, 5, 20, []int{4}
				c.LR, c.Eps, c.Adam.Clip = 0.05, 1e-3, 0.5
				b := graphtest.Build(spec, 5)
				l := must.Value(c.Build(b, plain)).(*mappo)
				x := randomRollout(spec, 10)
				behaved(t, l, x, eps, false)
				ref := &ppoReference{l: l, x: x, params: map[string][]float64{}, adam: nntest.Adam{LR: c.LR, Eps: c.Eps, Clip: c.Adam.Clip}}
				for _, v := range nn.Variables(b.Store, "/actor") {
					if v.Trainable {
						name := strings.TrimPrefix(v.Path(), "/actor/")
						ref.names = append(ref.names, name)
						ref.params[name] = values(b.Store, v.Path())
					}
				}
				got := must.Value(l.Update(t.Context(), x))
				for range c.Epochs {
					ref.adam.Step(ref.params, ref.names, ref.loss)
				}
				if got["clip_fraction"] == 0 {
					t.Error("no ratio left its band: the test does not reach the clip")
				}
				for _, name := range ref.names {
					for i, v := range values(b.Store, "/actor/"+name) {
						// float32 against float64 with finite differences, over five steps of 0.05
						if math.Abs(v-ref.params[name][i]) > 1e-4 {
							t.Errorf("%s[%d] is %g, want %g", name, i, v, ref.params[name][i])
						}
					}
				}
			})
		}
	}
}

// TestFirstRatioOfAMixtureIsOne: before any gradient step, the policy is the behaviour policy, so the host's log μ and
// the graph's must agree for all draws.
func TestFirstRatioOfAMixtureIsOne(t *testing.T) {
	for name, spec := range map[string]*envs.Spec{"masked": tdSpec(true), "continuous": box()} {
		for _, eps := range []float32{0.01, 0.8, 1} {
			c := DefaultMAPPO()
			c.Frames, c.Epochs, c.Minibatch = 400, 1, 400
			built := must.Value(c.Build(graphtest.Build(spec, 5), plain))
			x := randomRollout(spec, 200)
			behaved(t, built, x, eps, false)
			got := must.Value(built.Update(t.Context(), x))
			if math.Abs(got["ratio"]-1) > 1e-5 || math.Abs(got["kl"]) > 1e-5 || got["clip_fraction"] != 0 {
				t.Errorf("%s, ε = %g: mean ratio %g, KL %g, clipped %g; want 1, 0, 0", name, eps, got["ratio"], got["kl"], got["clip_fraction"])
			}
		}
	}
}

// TestOffPolicyActionsWeighAdvantages: w = π_new/μ_old, clipped relative to its initial value, equals π_new/π_old with
// each advantage multiplied by π_old/μ_old.
func TestOffPolicyActionsWeighAdvantages(t *testing.T) {
	c := DefaultMAPPO()
	c.Frames, c.Epochs, c.Minibatch = 40, 1, 40
	built := must.Value(c.Build(graphtest.Build(tdSpec(true), 5), plain))
	x := randomRollout(tdSpec(true), 20)
	behaved(t, built, x, 0.5, true)
	got := must.Value(built.Update(t.Context(), x))
	if math.Abs(got["ratio"]-1) > 1e-5 {
		t.Errorf("the ratio to the policy that acted is %g, want 1", got["ratio"])
	}
	l := built.(*mappo)
	moved := 0
	for row, a := range l.adv {
		// the target is advantage plus value, so the unweighted advantage follows from it but for rounding
		if want := (l.ret[row] - x.Value[row]) * x.Importance[row]; math.Abs(float64(a-want)) > 1e-5 {
			t.Fatalf("agent step %d: advantage %g, want %g", row, a, want)
		}
		if x.Importance[row] != 1 {
			moved++
		}
	}
	if moved == 0 {
		t.Error("every weight is 1: nothing was tested")
	}
}

// TestOwnCriticNeverSeesTheState: it also gives agents with different observations different values.
func TestOwnCriticNeverSeesTheState(t *testing.T) {
	c := DefaultMAPPO()
	c.Frames, c.Epochs, c.Minibatch, c.CriticHidden, c.Critic = 40, 1, 16, []int{4}, OwnCritic
	b := graphtest.Build(tdSpec(true), 5)
	built := must.Value(c.Build(b, plain))
	x := randomRollout(tdSpec(true), 20)
	behaved(t, built, x, 0, false)
	graphtest.Fill(x.State, float32(math.NaN()))
	got, err := built.Update(t.Context(), x)
	if err != nil || math.IsNaN(got["critic_loss"]) {
		t.Fatalf("critic's loss %g, %v", got["critic_loss"], err)
	}
	if first := values(b.Store, "/critic/layer_0/weights"); len(first) != 4*x.Spec.ObsLen() {
		t.Errorf("the critic has %d first weights, want 4 for each observed number", len(first))
	}
	if x.Value[0] == x.Value[1] {
		t.Errorf("two agents that see different things are both worth %g", x.Value[0])
	}
}
