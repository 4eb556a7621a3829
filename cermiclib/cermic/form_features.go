// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
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

// fourier maps features [B,F] to cosines of random mixtures [B,Waves] (Rahimi and Recht 2007). Their inner products are about
// exp(−‖f−f'‖²/(2·F·bandwidth²)) of features that are normalised in each step, so that Λ is that of a kernel: with a narrow one √x counts
// visits of what is near, where Λ of the features themselves knows no place that lies between others.
func (e Elliptical) fourier(f *Node, seed uint64) *Node {
	width := f.Shape().Dimensions[1]
	r := rng.New(seed, "cermic waves")
	mix, phase := make([]float32, width*e.Waves), make([]float32, e.Waves)
	normal(mix, r)
	for i := range mix {
		mix[i] /= float32(e.Bandwidth * math.Sqrt(float64(width)))
	}
	for i := range phase {
		phase[i] = r.Uniform(0, 2*math.Pi)
	}
	g := f.Graph()
	w, at := Reshape(Const(g, mix), width, e.Waves), Reshape(Const(g, phase), 1, e.Waves)
	return Cos(Add(Dot(nn.Normalize(f), w).Product(), at))
}

// width is the length F of the features.
func (e Elliptical) width(c Config) int {
	if e.Squash == SquashFourier {
		return e.Waves
	}
	switch e.Features {
	case FeatureCode:
		return c.Latent
	case FeatureHidden:
		return c.phi()
	}
	return c.Embed
}
