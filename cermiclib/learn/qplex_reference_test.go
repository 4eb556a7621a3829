// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cermic/cermiclib/nn/nntest"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// qplex computes the mixer in float64.
func (r *tdReference) qplex(p map[string][]float64, in mixed) float64 {
	cfg, s, n := r.cfg.Mixer.(QPLEX), nntest.Wide(in.state), len(in.chosen)
	weight, bias := r.qplexHead(p, cfg, in)
	advantage, frozen := r.frozen[in.frame]
	if !frozen || in.frame < 0 {
		advantage = make([]float64, n)
		for i := range advantage {
			advantage[i] = weight[i] * (in.chosen[i] - in.max[i])
		}
		if in.frame >= 0 {
			r.frozen[in.frame] = advantage
		}
	}
	joint := slices.Clone(s)
	for _, choice := range in.choice {
		hot := make([]float64, r.spec.Act.Choices)
		hot[choice] = 1
		joint = append(joint, hot...)
	}
	lambda, total := make([]float64, n), 0.0
	for k := range cfg.Heads {
		part := func(name string, x []float64) []float64 {
			return deep(p, fmt.Sprintf("mixer/advantage/%s_%d", name, k), x, cfg.AdvLayers)
		}
		key, agents, action := part("key", s), part("agents", s), part("action", joint)
		for i := range n {
			lambda[i] += math.Abs(key[0]) * nntest.Sigmoid(agents[i]) * nntest.Sigmoid(action[i])
		}
	}
	for i := range n {
		total += weight[i]*in.chosen[i] + bias[i] + (lambda[i]-1)*advantage[i]
	}
	return total
}

// qplexHead returns w and b, [N] each.
func (r *tdReference) qplexHead(p map[string][]float64, cfg QPLEX, in mixed) (weight, bias []float64) {
	s, n := nntest.Wide(in.state), len(in.chosen)
	if cfg.Head == HeadDueling {
		return nntest.Apply(deep(p, "mixer/weight", s, 2), math.Abs), deep(p, "mixer/bias", s, 2)
	}
	weight, bias = make([]float64, n), make([]float64, n)
	value := deep(p, "mixer/value", s, 2)[0]
	for _, scores := range r.attention(p, cfg, in) {
		floats.Add(weight, nntest.Softmax(scores))
	}
	floats.AddConst(value/float64(n), bias)
	return weight, bias
}

// attention is the logit of every head to every agent.
func (r *tdReference) attention(p map[string][]float64, cfg QPLEX, in mixed) [][]float64 {
	o, query, logits := r.spec.ObsLen(), deep(p, "mixer/query", nntest.Wide(in.state), 2), make([][]float64, cfg.Attention)
	keys := make([][]float64, len(in.chosen))
	for i := range keys {
		keys[i] = nntest.Linear(p, "mixer/key", nntest.Wide(in.obs[i*o:(i+1)*o]), false)
	}
	for h := range logits {
		logits[h] = make([]float64, len(in.chosen))
		for i, key := range keys {
			for e := h * cfg.Embed; e < (h+1)*cfg.Embed; e++ {
				logits[h][i] += query[e] * key[e] / math.Sqrt(float64(cfg.Embed))
			}
		}
	}
	return logits
}

// attentionCost is the share of one frame in the penalty of large logits.
func (r *tdReference) attentionCost(p map[string][]float64, in mixed) float64 {
	cfg, ok := r.cfg.Mixer.(QPLEX)
	if !ok || cfg.Head != HeadQatten {
		return 0
	}
	sum := 0.0
	for _, logits := range r.attention(p, cfg, in) {
		sum += floats.Dot(logits, logits)
	}
	return cfg.Penalty * sum / float64(cfg.Attention*len(in.chosen))
}

// deep is a network of some layers with ReLU between.
func deep(p map[string][]float64, name string, x []float64, layers int) []float64 {
	for i := range layers - 1 {
		x = nntest.Apply(nntest.Linear(p, fmt.Sprintf("%s/layer_%d", name, i), x, false), nntest.ReLU)
	}
	return nntest.Linear(p, name+"/out", x, false)
}

func TestQPLEXUpdateFollowsAnIndependentFloat64Implementation(t *testing.T) {
	for _, head := range []string{HeadDueling, HeadQatten} {
		for layers := 1; layers <= 2; layers++ {
			for _, masked := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/layers=%d/masked=%v", head, layers, masked), func(t *testing.T) {
					if testing.Short() && masked == (layers == 1) {
						t.Skip("every head, depth and mask comes once")
					}
					c := sixSteps(QPLEX{Head: head, Hidden: 4, Heads: 2, AdvLayers: layers, Attention: 2, Embed: 3, Penalty: 0.5})
					c.DoubleQ = true
					checkUpdate(t, c, plain, tdSpec(masked))
				})
			}
		}
	}
}
