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

// Inspect fills in what the module makes of x, a collection that begins with an episode: s_t, the mean of x_t, r^i, and the
// memory's graphs if it has any.
func (m *module) Inspect(ctx context.Context, x *rl.Rollout, into *results.Inside) (err error) {
	if err := m.scoreAll(ctx, x); err != nil {
		return err
	}
	into.Bonus = make([]float64, x.Rows())
	for row, r := range m.raw {
		into.Bonus[row] = float64(r)
	}
	if into.Embed, into.Latent, err = m.codes(x); err != nil {
		return err
	}
	if g, ok := m.mem.(memory.Inspector); ok {
		into.Graphs, err = g.Inspect(x)
	}
	return err
}

// codes are s_t and the mean of x_t of every agent step.
func (m *module) codes(x *rl.Rollout) (embed, latent [][]float64, err error) {
	o, a, c := x.Spec.InLen(), m.cfg.actLen(x.Spec), m.cfg
	inputs := []nn.Input{nn.F32("obs", scoreBatch, o), nn.F32("act", scoreBatch, a)}
	p, err := nn.NewProgram(m.build, "cermic.inspect", inputs, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		s := c.embed(sc.At(scope), x.Spec, in[0])
		mean, _ := c.latent(sc.At(scope), s, in[1])
		return []*graph.Node{s, mean}
	})
	if err != nil {
		return nil, nil, err
	}
	s, mean := make([]float32, scoreBatch*c.Embed), make([]float32, scoreBatch*c.Latent)
	for from := 0; from < x.Rows(); from += scoreBatch {
		count := min(scoreBatch, x.Rows()-from)
		p.Feed(0, func(dst []float32) { x.LookFrom(dst[:count*o], from) })
		p.Feed(1, func(dst []float32) {
			for k := range count {
				m.action(x, dst[k*a:(k+1)*a], from+k)
			}
		})
		if err := p.Run(); err != nil {
			return nil, nil, err
		}
		p.Read(0, s)
		p.Read(1, mean)
		for k := range count {
			embed = append(embed, wide(s[k*c.Embed:(k+1)*c.Embed]))
			latent = append(latent, wide(mean[k*c.Latent:(k+1)*c.Latent]))
		}
	}
	return embed, latent, nil
}

func wide(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}
