// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
	"cermic/envs"
	"cermic/envs/rng"
)

// features of agent steps [B,F].
func (e Elliptical) features(c Config, b *nn.Build, sc *model.Scope, obs, act *Node) (f *Node) {
	s := c.embed(sc, b.Spec, obs)
	switch e.Features {
	case FeatureCode:
		f, _ = c.latent(sc, s, act)
	case FeatureHidden:
		f = c.hidden(sc, s, act)
	case FeaturePred:
		mean, _ := c.latent(sc, s, act)
		f = c.decode(sc, mean)
	default:
		f = s
	}
	switch e.Squash {
	case SquashReLU:
		f = nn.ReLU(f)
	case SquashTanh:
		f = Tanh(f)
	case SquashFourier:
		f = e.fourier(f, b.Seed)
	}
	return f
}

// acts is the length of the actions that the features depend on: 0 where they are embeddings of observations.
func (e Elliptical) acts(c Config, spec *envs.Spec) int {
	switch e.Features {
	case FeatureCode, FeatureHidden, FeaturePred:
		return c.actLen(spec)
	}
	return 0
}

// ready tells that features are η as they come.
func (e Elliptical) ready() bool { return e.Squash == SquashFourier }

// fourier maps features [B,F] to cosines of random mixtures (Rahimi and Recht 2007). Their inner products are about
// exp(−‖f−f'‖²/(2·F·bandwidth²)) of features that are normalised in each step, so that Λ is that of a kernel: with a narrow one √x counts
// visits of what is near, where Λ of the features themselves knows no place that lies between others. They are η as they are, [B,Waves+1]: a
// cosine's mean square over all phases is 1/2, and the last number is the constant.
func (e Elliptical) fourier(f *Node, seed uint64) *Node {
	width := f.Shape().Dimensions[1]
	r := rng.New(seed, "cermic waves")
	mix, phase := make([]float32, width*e.Waves), make([]float32, e.Waves)
	normal(mix, r)
	for i := range mix {
		mix[i] /= float32(2 * math.Pi * e.Bandwidth * math.Sqrt(float64(width)))
	}
	for i := range phase {
		phase[i] = r.Uniform(0, 1)
	}
	g := f.Graph()
	w, at := Reshape(Const(g, mix), width, e.Waves), Reshape(Const(g, phase), 1, e.Waves)
	waves := MulScalar(cosine(Add(Dot(nn.Normalize(f), w).Product(), at)), math.Sqrt2)
	return Concatenate([]*Node{waves, Ones(g, shapes.Make(waves.DType(), waves.Shape().Dimensions[0], 1))}, 1)
}

// cosine is cos(2π·turns) by a series for a quarter of a turn about zero, good to 1e-7: XLA on CPUs takes the cosine of one number at a time,
// and sums and products of sixteen.
func cosine(turns *Node) *Node {
	x := MulScalar(AddScalar(Abs(Sub(turns, Round(turns))), -0.25), -2*math.Pi) // cos(2πt) = sin(2π(1/4 - |t|))
	square := Square(x)
	sum := AddScalar(MulScalar(square, -1.0/39916800), 1.0/362880)
	for _, c := range []float64{-1.0 / 5040, 1.0 / 120, -1.0 / 6, 1} {
		sum = AddScalar(Mul(sum, square), c)
	}
	return Mul(x, sum)
}

// width is the length F of the features, of fourier's that of η.
func (e Elliptical) width(c Config) int {
	if e.ready() {
		return e.Waves + 1
	}
	switch e.Features {
	case FeatureCode:
		return c.Latent
	case FeatureHidden:
		return c.phi()
	}
	return c.Embed
}
