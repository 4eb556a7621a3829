// SPDX-License-Identifier: Apache-2.0

package cermic

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/nn"
)

func TestDivergencesOfPairsOfGaussians(t *testing.T) {
	b := &nn.Build{Spec: fakeSpec(1), Backend: pureGo(t), Store: nn.NewStore(1)}
	p, err := nn.NewProgram(b, "test", []nn.Input{nn.F32("p", 2, 4), nn.F32("q", 3, 4)}, func(_ *model.Scope, in []*Node) []*Node {
		p, q := Split(in[0], -1, 2), Split(in[1], -1, 2)
		return []*Node{divergences(p[0], p[1], q[0], q[1])}
	})
	if err != nil {
		t.Fatal(err)
	}
	codes := []float32{0.3, -1, 0.2, -0.7, 2, 1, -1, 0.4}
	priors := []float32{0, 0, 0, 0, 0.3, -1, 0.2, -0.7, -1, 0.5, 0.3, -0.2}
	p.Feed(0, func(dst []float32) { copy(dst, codes) })
	p.Feed(1, func(dst []float32) { copy(dst, priors) })
	if err := p.Run(); err != nil {
		t.Fatal(err)
	}
	got := make([]float32, 6)
	p.Read(0, got)
	for i := range 2 {
		for j := range 3 {
			mean, scale := make([]float64, 2), make([]float64, 2) // in units of q: KL does not change with them
			for d := range 2 {
				q := math.Exp(float64(priors[j*4+2+d]))
				mean[d] = (float64(codes[i*4+d]) - float64(priors[j*4+d])) / q
				scale[d] = float64(codes[i*4+2+d] - priors[j*4+2+d])
			}
			want, _ := PsiMoments(mean, scale)
			if math.Abs(float64(got[i*3+j])-want) > 1e-5 { // float32
				t.Errorf("KL of %d from %d is %g, want %g", i, j, got[i*3+j], want)
			}
		}
	}
}

func TestMixtureLeavesTheOwnEpisodeOut(t *testing.T) {
	f := &aggregate{past: &reservoir{Episode: []uint64{1, 2, 2, 3}}}
	kl := []float32{0, 1, 3, 800} // the last is beyond exp
	if got, want := f.mixture(kl, 1), -math.Log((math.Exp(-1)+math.Exp(-3)+math.Exp(-800))/3); math.Abs(got-want) > 1e-12 {
		t.Errorf("without the own episode the divergence is %g, want %g", got, want)
	}
	f.past.Episode = []uint64{1, 1, 1, 1}
	if got := f.mixture(kl, 1); got != 0 {
		t.Errorf("with no other episode it is %g, want 0", got)
	}
}
