// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
)

// Inspect records the module's view of x, a rollout batch that begins with an episode. It covers s_t, the mean of x_t,
// the decoded prediction, r^i, and the memory's graphs if it has any.
func (m *module) Inspect(ctx context.Context, x *rl.Rollout, into *results.Trace) (err error) {
	if x, err = m.read(x, &m.view); err != nil {
		return err
	}
	m.fit(x)
	if err := m.form.look(ctx, m.raw, x); err != nil {
		return err
	}
	into.Bonus = wide(m.raw)
	if err = m.codes(ctx, x, into); err != nil {
		return err
	}
	if g, ok := m.mem.(memory.Detecting); ok {
		into.Graphs, err = g.Inspect(x)
	}
	return err
}

// codes appends s_t, the mean of x_t and the ŝ_{t+1} decoded from it for every agent step. Without L_explore there is
// no decoder.
func (m *module) codes(ctx context.Context, x *rl.Rollout, into *results.Trace) error {
	c := m.cfg
	s, err := newScorer(m.build, "cermic.inspect", func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		s := c.embed(sc, x.Spec, in[0])
		mean, _ := c.latent(sc, s, in[1])
		if c.Alpha == 0 { // the decoder is untrained
			return []*graph.Node{s, mean}
		}
		return []*graph.Node{s, mean, c.decode(sc, mean)}
	})
	if err != nil {
		return err
	}
	codes := []*[][]float64{&into.Embed, &into.Latent, &into.Predicted}
	return s.each(ctx, x.Rows(), stepsOf(x), func(output, _ int, values []float32) {
		*codes[output] = append(*codes[output], wide(values))
	})
}

func wide(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}
