// SPDX-License-Identifier: Apache-2.0

package memory

import (
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

// probe compiles the memory alone for b agent steps; its outputs are f_n, f_{n-1} and the mask of f_{n-1}. The pure Go
// backend compiles at once.
func probe(t *testing.T, c Config, spec *envs.Spec, b int) (Memory, *nn.Program, *model.Store) {
	t.Helper()
	build := graphtest.Build(spec, 1)
	m := must.Value(c.Build(build))
	p := must.Value(nn.NewProgram(build, "probe", m.Inputs(b), func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		f := m.Context(sc.At("memory"), in)
		return []*graph.Node{f.Now, f.Before, f.Exists}
	}))
	return m, p, build.Store
}

// features runs the probe on rows of x and returns f_n [B,F], f_{n-1} [B,F] and the mask of f_{n-1} [B].
func features(t *testing.T, m Memory, p *nn.Program, x *rl.Rollout, rows []int32) (now, before, exists []float32) {
	t.Helper()
	m.Gather(p, 0, x, rows)
	must.Do(t, p.Run())
	b, f := len(rows), m.Shape().Width
	now, before, exists = make([]float32, b*f), make([]float32, b*f), make([]float32, b)
	p.Read(0, now)
	p.Read(1, before)
	p.Read(2, exists)
	return now, before, exists
}

// wander fills a rollout of t steps with random observations; started lists the rows t·E + c that begin an episode.
func wander(spec *envs.Spec, t int, seed uint64, started ...int) *rl.Rollout {
	x := rl.NewRollout(spec, t, 0)
	graphtest.Normal(rng.New(seed, "wander"), x.Obs)
	graphtest.Fill(x.Alive, 1)
	for _, row := range started {
		x.IsFirst[row] = 1
		if row >= x.E {
			x.Truncated[row-x.E] = 1
		}
	}
	return x
}
