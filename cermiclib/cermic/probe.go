// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"context"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/rl"
	"cermic/envs"
)

// probe measures how much of each part of the observation s_t and x̄_t keep, on tasks that show a screen of random
// numbers. For each span of the observation it fits a linear map from the features on half of the environments. It
// reports R² on the other half: 1 if the features keep the whole span, 0 if they keep none of it. The probe does not
// train the module and draws no random numbers.
type probe struct {
	*scorer
	widths [len(probeKinds)]int // of s and x
	spans  []envs.Entity
}

// probeKinds are the kinds of features in the names of scalars, cermic/probe_<span>_<kind>.
var probeKinds = [...]string{"s", "x"}

const (
	probeRows  = 2048 // largest number of probed agent steps of a rollout batch
	probeRidge = 1e-3 // ridge term of the linear map, per fitted row
)

// newProbe returns nil for a task without a screen.
func (c Config) newProbe(b *nn.Build) (*probe, error) {
	p := &probe{widths: [...]int{c.Embed, c.Latent}}
	for _, span := range b.Spec.Entities {
		if span.Name == envs.ScreenSpan || span.Kind == envs.Own {
			p.spans = append(p.spans, span)
		}
	}
	if !slices.ContainsFunc(p.spans, func(e envs.Entity) bool { return e.Name == envs.ScreenSpan }) {
		return nil, nil
	}
	var err error
	p.scorer, err = newScorer(b, "cermic.probe", func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		s := c.embed(sc, b.Spec, in[0])
		mean, _ := c.latent(sc, s, in[1])
		return []*graph.Node{s, mean}
	})
	return p, err
}

// measure adds R² of each span from each kind of features to out. A span that does not vary is left out.
func (p *probe) measure(ctx context.Context, x *rl.Rollout, out rl.Scalars) error {
	frame := x.E * x.N
	every := max(1, (x.Rows()+probeRows-1)/probeRows) // time steps
	var rows []int
	for row := range x.Rows() {
		if row/frame%every == 0 && x.Alive[row] != 0 {
			rows = append(rows, row)
		}
	}
	// Rows of even environments come first.
	slices.SortStableFunc(rows, func(a, b int) int { return a/x.N%x.E%2 - b/x.N%x.E%2 })
	fitted := 0
	for fitted < len(rows) && rows[fitted]/x.N%x.E%2 == 0 {
		fitted++
	}
	if fitted == 0 || fitted == len(rows) {
		return nil
	}
	from := stepsOf(x).only(rows)
	var features [len(probeKinds)]*mat.Dense
	for kind, width := range p.widths {
		features[kind] = mat.NewDense(len(rows), width+1, nil)
	}
	err := p.each(ctx, len(rows), from, func(kind, k int, values []float32) {
		features[kind].SetRow(k, append(wide(values), 1))
	})
	if err != nil {
		return err
	}
	obs := make([]float32, x.Spec.InLen())
	for _, span := range p.spans {
		target := mat.NewDense(len(rows), span.To-span.From, nil)
		for k := range rows {
			from.obs(obs, k)
			target.SetRow(k, wide(obs[span.From:span.To]))
		}
		for i, kind := range probeKinds {
			if r2, ok := linearProbe(features[i], target, fitted); ok {
				out["cermic/probe_"+span.Name+"_"+kind] = r2
			}
		}
	}
	return nil
}

// linearProbe fits targets [R,K] on features [R,F] of the first fitted rows by ridge regression. It returns R² over all
// columns on the other rows, and false if the targets do not vary there or the fit fails.
func linearProbe(features, targets *mat.Dense, fitted int) (r2 float64, ok bool) {
	rows, width := features.Dims()
	_, columns := targets.Dims()
	f, y := features.Slice(0, fitted, 0, width), targets.Slice(0, fitted, 0, columns)
	var gram mat.SymDense
	gram.SymOuterK(1, f.T())
	for i := range width {
		gram.SetSym(i, i, gram.At(i, i)+probeRidge*float64(fitted))
	}
	var factor mat.Cholesky
	var product, weights, predicted mat.Dense
	product.Mul(f.T(), y)
	if !factor.Factorize(&gram) || factor.SolveTo(&weights, &product) != nil {
		return 0, false
	}
	predicted.Mul(features.Slice(fitted, rows, 0, width), &weights)
	left, all := 0.0, 0.0
	for j := range columns {
		column := mat.Col(nil, j, targets)[fitted:]
		mean := stat.Mean(column, nil)
		for k, v := range column {
			all += (v - mean) * (v - mean)
			left += (v - predicted.At(k, j)) * (v - predicted.At(k, j))
		}
	}
	return 1 - left/all, all > 0
}
