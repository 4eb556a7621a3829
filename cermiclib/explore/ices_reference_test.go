// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math"
	"testing"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/nntest"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// icesReference computes the losses of ICES in float64, from its formulas alone: forward in plain loops over frames.
type icesReference struct {
	m      *ices
	params map[string][]float64 // by path below /ices/
	slots  []int
	hidden []int       // [B] the agent whose action the local model does not see
	noise  [][]float64 // [2·B] of the codes, the global model first
}

// icesParams reads the variables.
func icesParams(m *ices) map[string][]float64 {
	return nntest.Read(nn.Variables(m.build.Store, "/"+icesScope), "/"+icesScope+"/")
}

// net is a network of one hidden layer.
func (r *icesReference) net(name string, act func(float64) float64, x ...float64) []float64 {
	hidden := nntest.Apply(nntest.Linear(r.params, name+"/layer_0", x, true), act)
	return nntest.Linear(r.params, name+"/out", hidden, true)
}

// given is the state of frame b beside the embedded actions, without that of one agent (-1: with all).
func (r *icesReference) given(net, model string, b, without int) []float64 {
	out := []float64{float64(r.m.replay.At(r.slots[b]).State[0])}
	for i, choice := range r.m.replay.Discrete(r.slots[b]) {
		at := int(choice) * r.m.Embed
		for _, v := range r.params[net+"/"+model+"/actions"][at : at+r.m.Embed] {
			if i == without {
				v = 0
			}
			out = append(out, v)
		}
	}
	return out
}

// delta is the standardised change of the state of frame b.
func (r *icesReference) delta(b int) float64 {
	d, slot := r.m.delta[0], r.slots[b]
	v := (float64(r.m.replay.Next(slot).State[0]) - float64(r.m.replay.At(slot).State[0]) - d.Mean) / d.Std()
	return min(max(v, -r.m.DeltaClip), r.m.DeltaClip)
}

func (r *icesReference) predicted(model string, b, without int) float64 {
	return math.Tanh(r.net(icesBase+"/"+model, nntest.ReLU, r.given(icesBase, model, b, without)...)[0])
}

// code is mean and spread of a Gaussian that a network of the codes returns.
func (r *icesReference) code(name string, x ...float64) (mean, spread []float64) {
	y := r.net(icesCode+"/"+name, nntest.ReLU, x...)
	mean, spread = y[:len(y)/2], y[len(y)/2:]
	for i := range spread {
		spread[i] = math.Exp(min(max(spread[i], math.Log(0.01)), math.Log(10)))
	}
	return mean, spread
}

func (r *icesReference) prior(model string, b, without int) (mean, spread []float64) {
	return r.code(model+"/prior", append(r.given(icesCode, model, b, without), r.predicted(model, b, without))...)
}

// models returns the squared error of both first predictions, and the negative bounds of both codes.
func (r *icesReference) models() (prediction, bound float64) {
	n := len(r.slots)
	for k, model := range []string{"global", "local"} {
		for b := range n {
			without := -1
			if k == 1 {
				without = r.hidden[b]
			}
			d := r.delta(b)
			miss := r.predicted(model, b, without) - d
			prediction += miss * miss / float64(n)
			mean, spread := r.prior(model, b, without)
			seen, width := r.code(model+"/recognition", append(r.given(icesCode, model, b, without), d)...)
			z := make([]float64, len(seen))
			for i := range z {
				z[i] = seen[i] + width[i]*r.noise[k*n+b][i]
			}
			out, scale := r.code("decoder", z...)
			miss = (d - math.Tanh(out[0])) / scale[0]
			likelihood := -miss*miss/2 - math.Log(scale[0]) - math.Log(2*math.Pi)/2
			bound += (floats.Sum(nntest.KL(seen, width, mean, spread)) - likelihood) / float64(n)
		}
	}
	return prediction, bound
}

// contribution is r_i of frame b.
func (r *icesReference) contribution(b, i int) float64 {
	mean, spread := r.prior("global", b, -1)
	other, otherSpread := r.prior("local", b, i)
	return 1 - math.Exp(-stat.Mean(nntest.KL(mean, spread, other, otherSpread), nil))
}

// explorers returns the losses of π^x and V^x, given the contributions and, for π^x, the output of V^x. Neither is
// trained through these.
func (r *icesReference) explorers(pay, baseline []float64) (policy, value float64) {
	s, p := r.m.build.Spec, r.m.replay
	rows := float64(len(r.slots) * s.Agents)
	for b, slot := range r.slots {
		for i := range s.Agents {
			row := b*s.Agents + i
			logits := r.net(icesPolicy, math.Tanh, r.look(b, i)...)
			total := floats.LogSumExp(logits)
			for _, l := range logits {
				policy += r.m.Entropy * math.Exp(l-total) * (l - total) / rows
			}
			policy -= (pay[row] - baseline[row]) * (logits[p.Discrete(slot)[i]] - total) / rows
			miss := pay[row] - r.value(b, i)
			value += miss * miss / rows
		}
	}
	return policy, value
}

// look returns the input of π^x and V^x: the agent's observation and the state.
func (r *icesReference) look(b, i int) []float64 {
	o := r.m.build.Spec.ObsLen()
	obs := nntest.Wide(r.m.replay.At(r.slots[b]).Obs[i*o : (i+1)*o])
	return append(obs, float64(r.m.replay.At(r.slots[b]).State[0]))
}

func (r *icesReference) value(b, i int) float64 {
	return r.net(icesValue, math.Tanh, r.look(b, i)...)[0]
}

// TestICESFollowsAnIndependentFloat64Implementation compares the losses of both world models' parts, of π^x and of V^x.
// It also compares one step of each of the four optimisers, none of which moves another's variables.
func TestICESFollowsAnIndependentFloat64Implementation(t *testing.T) {
	c := smallICES()
	c.Hidden, c.PolicyWidth, c.Batch, c.Steps, c.Embed = []int{5}, []int{5}, 6, 1, 3
	c.Entropy, c.Clip, c.BaseClip, c.CodeClamp = 0.1, 1e6, 1e6, 1e6 // Adam's first step hides clipping
	m := newICES(t, c, icesSpec())
	r := &icesReference{m: m, params: icesParams(m), slots: make([]int, c.Batch)}
	got := must.Value(m.Update(t.Context(), icesRollout(icesSpec(), 4)))
	after := icesParams(m)
	draw := rng.New(3, "ices", 0, 0)
	m.replay.SampleFrames(r.slots, draw)
	for range r.slots {
		r.hidden = append(r.hidden, draw.IntN(2))
	}
	for range 2 * len(r.slots) {
		r.noise = append(r.noise, []float64{float64(draw.Norm()), float64(draw.Norm())})
	}
	var pay, baseline []float64
	mean := 0.0
	for b := range r.slots {
		for i := range 2 {
			pay, baseline = append(pay, r.contribution(b, i)), append(baseline, r.value(b, i))
			mean += pay[len(pay)-1] / float64(2*len(r.slots))
		}
	}
	prediction, bound := r.models()
	policy, value := r.explorers(pay, baseline)
	for name, want := range map[string]float64{
		"ices/prediction_loss": prediction, "ices/code_loss": bound, "ices/policy_loss": policy, "ices/value_loss": value, "ices/contribution": mean,
	} {
		if math.Abs(got[name]-want) > 1e-4*(1+math.Abs(want)) { // float32 against float64
			t.Errorf("%s is %g, want %g", name, got[name], want)
		}
	}
	for _, part := range []struct {
		scope string
		lr    float64
		loss  func() float64
	}{
		{icesBase, c.ModelLR, func() float64 { l, _ := r.models(); return l }},
		{icesCode, c.ModelLR, func() float64 { _, l := r.models(); return l }},
		{icesPolicy, c.LR, func() float64 { l, _ := r.explorers(pay, baseline); return l }},
		{icesValue, c.LR, func() float64 { _, l := r.explorers(pay, baseline); return l }},
	} {
		r.checkStep(t, part.scope, part.lr, after, part.loss)
	}
}

// checkStep compares a sample of the weights below scope after one step of Adam with differences of the loss.
func (r *icesReference) checkStep(t *testing.T, scope string, lr float64, after map[string][]float64, loss func() float64) {
	t.Helper()
	moved := 0
	nntest.FirstSteps(r.params, scope, 6, lr, r.m.Eps, loss, func(name string, i int, want, g float64) {
		// float32 against float64: a gradient near Adam's ε of 1e-6 says little
		if !(math.Abs(g) > 1e-4) {
			return
		}
		moved++
		if math.Abs(after[name][i]-want) > 0.02*lr {
			t.Errorf("%s[%d] went to %g, want %g (gradient %g)", name, i, after[name][i], want, g)
		}
	})
	if moved < 8 {
		t.Errorf("only %d weights of the sample below %s have a gradient", moved, scope)
	}
}
