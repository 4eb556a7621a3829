// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/envs/envtest/must"
)

// TestElementwiseClampByHand takes two steps on gradients with components beyond the bound. Each element is clamped by
// itself, before it enters the moments. Scaling by the global norm would make the second element of the first gradient
// a hundred times as small.
func TestElementwiseClampByHand(t *testing.T) {
	b := goBuild(t, 1)
	a := Adam{LR: 0.01, Eps: 1e-6, Clip: 0.1, Elementwise: true}
	p := must.Value(NewProgram(b, "step", []Input{F32("gradient", 2)}, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		x := Weight(sc.At("net"), in[0], "x", AllZero, 2)
		return []*graph.Node{a.Minimize(sc.At("net"), graph.ReduceAllSum(graph.Mul(x, in[0])))}
	}))
	var x, m, v [2]float64
	for k, gradient := range [][]float32{{10, 0.05}, {-0.02, -3}} {
		p.Feed(0, func(dst []float32) { copy(dst, gradient) })
		must.Do(t, p.Run())
		now := must.Value(tensors.CopyFlatData[float32](b.Store.GetVariable("/net/x").MustValue()))
		for i, g := range gradient {
			d := min(max(float64(g), -0.1), 0.1)
			m[i], v[i] = 0.9*m[i]+0.1*d, 0.999*v[i]+0.001*d*d
			steps := float64(k + 1)
			x[i] -= 0.01 * m[i] / (1 - math.Pow(0.9, steps)) / (math.Sqrt(v[i]/(1-math.Pow(0.999, steps))) + 1e-6)
			if math.Abs(float64(now[i])-x[i]) > 1e-6 { // float32
				t.Errorf("step %d, element %d: %g, want %g", k, i, now[i], x[i])
			}
		}
	}
}
