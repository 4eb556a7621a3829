// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"math"
	"testing"
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
		x[i] = linear(p, name+"/embed", wide(in.obs[i*o:(i+1)*o]), false)
	}
	tokens := func(kind string, z []float64) []float64 {
		return apply(linear(p, name+"/"+kind+"_out", apply(linear(p, name+"/"+kind, z, false), relu), false), relu)
	}
	t, u := make([][]float64, n), make([][]float64, n)
	for i, heard := range attend(p, name+"/attention", x, cfg.Heads) {
		for e := range heard {
			heard[e] += x[i][e]
		}
		normalize(heard)
		t[i], u[i] = tokens("weight", heard), tokens("bias", heard)
	}
	weight, bias = make([][]float64, n), make([]float64, n)
	for i := range n {
		weight[i] = make([]float64, n)
		for j := range n {
			weight[i][j] = headMean(t[i], t[j], cfg.Heads)
		}
		bias[i] = headMean(p[name+"/seed"], u[i], cfg.Heads)
	}
	return weight, bias
}

// headMean is the mean over heads of scaled dot products.
func headMean(a, b []float64, heads int) float64 {
	part, mean := len(a)/heads, 0.0
	for h := range heads {
		mean += dot(a[h*part:(h+1)*part], b[h*part:(h+1)*part]) / math.Sqrt(float64(part)) / float64(heads)
	}
	return mean
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// attend lets every row of x ask all rows.
func attend(p map[string][]float64, name string, x [][]float64, heads int) [][]float64 {
	part := len(x[0]) / heads
	of := func(kind string, row []float64, h int) []float64 {
		return linear(p, name+"/"+kind, row, false)[h*part : (h+1)*part]
	}
	out := make([][]float64, len(x))
	for i := range x {
		for h := range heads {
			heard, sum := make([]float64, part), 0.0
			for j := range x {
				weight := math.Exp(dot(of("query", x[i], h), of("key", x[j], h)) / math.Sqrt(float64(part)))
				sum += weight
				for e, v := range of("value", x[j], h) {
					heard[e] += weight * v
				}
			}
			out[i] = append(out[i], apply(heard, func(v float64) float64 { return v / sum })...)
		}
	}
	return out
}

// normalize shifts and scales v to mean 0 and variance 1.
func normalize(v []float64) {
	mean, square := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		square += (x - mean) * (x - mean) / float64(len(v))
	}
	apply(v, func(x float64) float64 { return (x - mean) / math.Sqrt(square+1e-5) })
}

func TestSPECTraUpdateFollowsAnIndependentFloat64Implementation(t *testing.T) {
	for _, double := range []bool{false, true} {
		c := sixSteps(SPECTra{Embed: 4, Heads: 2})
		c.DoubleQ = double
		checkUpdate(t, c, plain, tdSpec(double))
	}
}
