// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"gonum.org/v1/gonum/floats"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/graphtest"
	"cermic/cermiclib/nn/nntest"
	"cermic/envs"
	"cermic/envs/rng"
)

// spectra computes the mixer in float64.
func (r *tdReference) spectra(p map[string][]float64, in mixed) float64 {
	w1, b1 := r.hyper(p, "mixer/first", in)
	w2, b2 := r.hyper(p, "mixer/second", in)
	hidden := make([]float64, len(in.chosen))
	for k := range hidden {
		for i, q := range in.chosen {
			hidden[k] += q * math.Abs(w1[i][k])
		}
		if hidden[k] += b1[k]; hidden[k] < 0 {
			hidden[k] = math.Exp(hidden[k]) - 1
		}
	}
	total := 0.0
	for k := range hidden {
		total += b2[k]
		for i, h := range hidden {
			total += h * math.Abs(w2[i][k])
		}
	}
	return total
}

// hyper returns weights [N][N] and biases [N].
func (r *tdReference) hyper(p map[string][]float64, name string, in mixed) (weight [][]float64, bias []float64) {
	cfg, n, o := r.cfg.Mixer.(SPECTra), len(in.chosen), r.spec.ObsLen()
	x := make([][]float64, n)
	for i := range x {
		x[i] = nntest.Linear(p, name+"/embed", nntest.Wide(in.obs[i*o:(i+1)*o]), false)
	}
	tokens := func(kind string, z []float64) []float64 {
		return nntest.Apply(nntest.Linear(p, name+"/"+kind+"_out", nntest.Apply(nntest.Linear(p, name+"/"+kind, z, false), nntest.ReLU), false), nntest.ReLU)
	}
	t, u := make([][]float64, n), make([][]float64, n)
	for i, heard := range attend(p, name+"/attention", x, cfg.Heads) {
		floats.Add(heard, x[i])
		nntest.Normalize(heard)
		t[i], u[i] = tokens("weight", heard), tokens("bias", heard)
	}
	weight, bias = make([][]float64, n), make([]float64, n)
	project := func(kind string, rows ...[]float64) (out [][]float64) {
		for _, x := range rows {
			out = append(out, nntest.Linear(p, name+"/"+kind, x, false))
		}
		return out
	}
	queries, keys := project("weight_query", t...), project("weight_key", t...)
	asks, offers := project("bias_query", p[name+"/seed"]), project("bias_key", u...)
	for i := range n {
		weight[i] = make([]float64, n)
		for j := range n {
			weight[i][j] = headMean(queries[i], keys[j], cfg.Heads)
		}
		bias[i] = headMean(asks[0], offers[i], cfg.Heads)
	}
	return weight, bias
}

// headMean is the mean over heads of scaled dot products.
func headMean(a, b []float64, heads int) float64 {
	part, mean := len(a)/heads, 0.0
	for h := range heads {
		mean += floats.Dot(a[h*part:(h+1)*part], b[h*part:(h+1)*part]) / math.Sqrt(float64(part)) / float64(heads)
	}
	return mean
}

// attend is attention of every row of x to all rows.
func attend(p map[string][]float64, name string, x [][]float64, heads int) [][]float64 {
	part := len(x[0]) / heads
	all := map[string][][]float64{}
	for _, kind := range []string{"query", "key", "value"} {
		for _, row := range x {
			all[kind] = append(all[kind], nntest.Linear(p, name+"/"+kind, row, false))
		}
	}
	of := func(kind string, row, h int) []float64 { return all[kind][row][h*part : (h+1)*part] }
	out := make([][]float64, len(x))
	for i := range x {
		for h := range heads {
			scores, heard := make([]float64, len(x)), make([]float64, part)
			for j := range x {
				scores[j] = floats.Dot(of("query", i, h), of("key", j, h)) / math.Sqrt(float64(part))
			}
			for j, weight := range nntest.Softmax(scores) {
				floats.AddScaled(heard, weight, of("value", j, h))
			}
			out[i] = append(out[i], heard...)
		}
	}
	return out
}

func TestSPECTraUpdateFollowsAnIndependentFloat64Implementation(t *testing.T) {
	for _, double := range []bool{false, true} {
		c := sixSteps(SPECTra{Embed: 4, Heads: 2})
		c.DoubleQ = double
		checkUpdate(t, c, plain, tdSpec(double))
	}
}

// TestSPECTraWeighsBySignedAndAsymmetricProducts: W_ik of agent i and hidden number k differs from W_ki. Products have
// both signs, so |W| is more than W. The learned seed starts as N(0,1).
func TestSPECTraWeighsBySignedAndAsymmetricProducts(t *testing.T) {
	const rows, agents, obs, embed = 50, 4, 5, 256
	b := graphtest.Build(&envs.Spec{Name: "fake", Agents: agents, Obs: []int{obs}}, 1)
	c := DefaultSPECTra()
	c.Embed = embed
	w := graphtest.Outputs(b, []nn.Input{nn.F32("obs", rows, agents, obs)}, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		w, _ := spectra{c}.hyper(sc.At("first"), in[0])
		return []*graph.Node{w}
	}, graphtest.Normal(rng.New(1, "rows"), make([]float32, rows*agents*obs)))[0]
	negative, crossed := 0, 0.0
	for at := range w {
		row, i, k := at/(agents*agents), at/agents%agents, at%agents
		if w[at] < 0 {
			negative++
		}
		crossed = max(crossed, math.Abs(float64(w[at]-w[row*agents*agents+k*agents+i])))
	}
	if negative == 0 || negative == len(w) || crossed < 1e-3 {
		t.Errorf("%d of %d weights are negative, and W differs from its transpose by at most %g", negative, len(w), crossed)
	}
	seed := values(b.Store, "/first/seed")
	square := floats.Dot(seed, seed) / embed
	if math.Abs(square-1) > 4*math.Sqrt(2./embed) { // four standard errors of a variance
		t.Errorf("the seed's mean square is %g, want that of N(0,1)", square)
	}
}
