// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"cermic/cermiclib/nn/nntest"
)

// qplex computes the mixer in float64.
func (r *tdReference) qplex(p map[string][]float64, in mixed) float64 {
	cfg, s, n := r.cfg.Mixer.(QPLEX), nntest.Wide(in.state), len(in.chosen)
	weight, bias := nntest.Apply(deep(p, "mixer/weight", s, 2), math.Abs), deep(p, "mixer/bias", s, 2)
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

// deep is a network of some layers with ReLU between.
func deep(p map[string][]float64, name string, x []float64, layers int) []float64 {
	for i := range layers - 1 {
		x = nntest.Apply(nntest.Linear(p, fmt.Sprintf("%s/layer_%d", name, i), x, false), nntest.ReLU)
	}
	return nntest.Linear(p, name+"/out", x, false)
}

func TestQPLEXUpdateFollowsAnIndependentFloat64Implementation(t *testing.T) {
	for layers := 1; layers <= 2; layers++ {
		for _, masked := range []bool{false, true} {
			t.Run(fmt.Sprintf("layers=%d/masked=%v", layers, masked), func(t *testing.T) {
				if testing.Short() && masked == (layers == 1) {
					t.Skip("every depth and mask comes once")
				}
				c := sixSteps(QPLEX{Hidden: 4, Heads: 2, AdvLayers: layers})
				c.DoubleQ = true
				checkUpdate(t, c, plain, tdSpec(masked))
			})
		}
	}
}
