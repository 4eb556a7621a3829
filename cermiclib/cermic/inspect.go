// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/memory"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
)

// Inspect records the module's view of x, a rollout batch that begins with an episode: s_t, the mean of x_t, the
// decoded prediction, r^i, and the memory's graphs if it has any.
func (m *module) Inspect(ctx context.Context, x *rl.Rollout, into *results.Trace) (err error) {
	if x, err = m.read(x, &m.view); err != nil {
		return err
	}
	m.fit(x)
	if err := m.form.look(ctx, m.raw, x); err != nil {
		return err
	}
	into.Bonus = make([]float64, x.Rows())
	for row, r := range m.raw {
		into.Bonus[row] = float64(r)
	}
	if err = m.codes(x, into); err != nil {
		return err
	}
	if g, ok := m.mem.(memory.Detecting); ok {
		into.Graphs, err = g.Inspect(x)
	}
	return err
}

// codes appends s_t, the mean of x_t and the ŝ_{t+1} decoded from it for every agent step. Without L_explore there is
// no decoder.
func (m *module) codes(x *rl.Rollout, into *results.Trace) error {
	o, a, c := x.Spec.InLen(), m.cfg.actLen(x.Spec), m.cfg
	inputs := []nn.Input{nn.F32("obs", scoreBatch, o), nn.F32("act", scoreBatch, a)}
	p, err := nn.NewProgram(m.build, "cermic.inspect", inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		s := c.embed(sc.At(scope), x.Spec, in[0])
		mean, _ := c.latent(sc.At(scope), s, in[1])
		if c.Alpha == 0 { // the decoder is untrained
			return []*graph.Node{s, mean}
		}
		return []*graph.Node{s, mean, c.decode(sc.At(scope), mean)}
	})
	if err != nil {
		return err
	}
	codes := []struct {
		width int
		flat  []float32
		rows  *[][]float64
	}{
		{c.Embed, make([]float32, scoreBatch*c.Embed), &into.Embed},
		{c.Latent, make([]float32, scoreBatch*c.Latent), &into.Latent},
		{c.Embed, make([]float32, scoreBatch*c.Embed), &into.Predicted},
	}
	if c.Alpha == 0 {
		codes = codes[:2]
	}
	for from := 0; from < x.Rows(); from += scoreBatch {
		count := min(scoreBatch, x.Rows()-from)
		p.Feed(0, func(dst []float32) { x.GatherFrom(dst[:count*o], from) })
		p.Feed(1, func(dst []float32) {
			for k := range count {
				c.action(x, dst[k*a:(k+1)*a], from+k)
			}
		})
		if err := p.Run(); err != nil {
			return err
		}
		for i, code := range codes {
			p.Read(i, code.flat)
			for k := range count {
				*code.rows = append(*code.rows, wide(code.flat[k*code.width:(k+1)*code.width]))
			}
		}
	}
	return nil
}

func wide(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}
