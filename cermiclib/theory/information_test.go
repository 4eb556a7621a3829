// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/diff/fd"

	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// The published row for I nats, with N = 16 marginal negatives and a sigmoid critic.
var published = map[float64]Bounds{
	0: {2.833, 0, 0, 2.833, 5.545, 0},
	2: {2.229, 0.662, 0.604, 3.563, 6.305, 0.718},
	8: {1.969, 0.954, 0.864, 3.765, 6.514, 0.963},
}

// An independent trainer with other draws differs by 0.01 nat at most. The critic at I = 8 still improves after 600
// steps and is then 0.03 short.
func TestEstimatorsReproduceThePublishedRows(t *testing.T) {
	for _, information := range []float64{0, 2, 8} {
		p := DefaultPair(information)
		if testing.Short() {
			p.Steps = 600
		}
		b := must.Value(p.estimate())
		for i, want := range published[information] {
			near(t, []string{"Lm", "La", "Lr", "Um", "Ua", "Uc"}[i], b[i], want, 0.05)
		}
		violated := map[float64][6]bool{0: {true}, 2: {true, false, false, false, false, true}, 8: {false, false, false, true, true, true}}[information]
		if b.violated(information) != violated {
			t.Errorf("I = %g: violated bounds %v, want %v", information, b.violated(information), violated)
		}
		if limit := BoundedLimit(p.Negatives); b[SoundLower] > limit {
			t.Errorf("I = %g: Lr is %g, above its limit %g", information, b[SoundLower], limit)
		}
	}
}

// Published for an unbounded critic: La = 2.521 at I = 2. It is above the truth by fifty times the tolerance.
func TestAppendixLowerBoundFailsForAnUnboundedCritic(t *testing.T) {
	p := DefaultPair(2)
	p.Squash, p.Steps = Unbounded, 500
	b := must.Value(p.estimate())
	near(t, "La", b[AppendixLower], 2.521, 0.1)
	if v := b.violated(2); !v[1] || v[2] || v[5] {
		t.Errorf("violated bounds %v of %+v, want La but neither Lr nor Uc", v, b)
	}
}

// Published for noise of one standard deviation: 0.253 although z and f are independent.
func TestNoiseNegativesMeasureDenoisingInsteadOfInformation(t *testing.T) {
	p := DefaultPair(0)
	p.Noise, p.Steps = 1, 300
	b := must.Value(p.estimate())
	near(t, "Lr at independence", b[SoundLower], 0.253, 0.05)
	if !b.violated(0)[2] {
		t.Error("Lr counts as a valid bound, want it violated")
	}
}

// log p(f|z)/p(f) = −½log(1−ρ²) − [ρ²z² + ρ²f² − 2ρzf] / 2(1−ρ²) per coordinate. With it as score, Lr is a lower bound
// and the contrastive difference is I plus the reverse divergence, hence above I.
func TestCriticContainsTheExactLogRatio(t *testing.T) {
	p := DefaultPair(1)
	rho, d := p.correlation(), p.Dim
	near(t, "true information", -float64(d)/2*math.Log(1-rho*rho), 1, 1e-14)
	c := newCritic(d, 1, Unbounded)
	for i := range d { // weights: zᵢfᵢ, the squares, the constant 1
		squares := -rho * rho / (2 * (1 - rho*rho))
		c.weight[i*d+i], c.weight[d*d+2*d+i], c.weight[d*d+3*d+i] = rho/(1-rho*rho), squares, squares
		c.weight[d*d+4*d] -= math.Log(1-rho*rho) / 2
	}
	r := rng.New(2, "test/ratio")
	z, f, want := make([]float64, d), make([]float64, d), 0.0
	for i := range d {
		z[i], f[i] = float64(r.Norm()), float64(r.Norm())
		want += -math.Log(1-rho*rho)/2 - square(f[i]-rho*z[i])/(2*(1-rho*rho)) + f[i]*f[i]/2
	}
	near(t, "log-ratio", c.score(z, f)[0], want, 1e-13)
	judged := newCritic(d, p.Negatives+1, Unbounded)
	judged.weight = c.weight
	if b := p.judge(judged); b[SoundLower] > 1 || b[ContrastUpper] < 1 || b[AppendixLower] < 1 {
		t.Errorf("%+v, want Lr below 1, Uc above and La on the wrong side", b)
	}
}

// Central differences with step 1e-6 of a function of size one are good to about 1e-9.
func TestCriticGradientIsThatOfItsLoss(t *testing.T) {
	const dim, negatives = 3, 4
	for _, squash := range []Squash{Unbounded, Sigmoid} {
		r := rng.New(4, "test/gradient")
		c := newCritic(dim, negatives+1, squash)
		z, candidates := normals(r, dim), normals(r, (negatives+1)*dim)
		copy(c.weight, normals(r, len(c.weight)))
		loss := func(w []float64) float64 {
			other := newCritic(dim, negatives+1, squash)
			other.weight = w
			return other.loss(z, candidates, make([]float64, len(w)))
		}
		grad := make([]float64, len(c.weight))
		c.loss(z, candidates, grad)
		for i, want := range fd.Gradient(nil, loss, c.weight, &fd.Settings{Formula: fd.Central}) {
			near(t, string(squash)+": gradient", grad[i], want, 1e-7)
		}
	}
}

func normals(r *rng.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(r.Norm())
	}
	return x
}

// Scores of one for the true pair and zero for all others are the best a bounded critic can do.
func TestBoundedLimitIsReachedByPerfectScores(t *testing.T) {
	for n, limit := range map[int]float64{8: 0.83, 16: 0.90, 64: 0.97} {
		scores := make([]float64, n+1)
		scores[0] = 1
		near(t, "Lr of perfect scores", terms(scores)[SoundLower], BoundedLimit(n), 1e-14)
		near(t, "limit", BoundedLimit(n), limit, 0.0051) // published with two decimals
	}
}

// coins are fair coins z and f, equal with probability same. The critic is 1 where they are equal and 0 elsewhere, with
// n independent negatives. It returns their mutual information and the expectations of the estimates, all exact, in
// nats.
func coins(same float64, n int) (information float64, b Bounds) {
	weight := math.Pow(0.5, float64(n)) // that k of the negatives equal z: binomial
	for k := range n + 1 {
		for positive, p := range []float64{1 - same, same} {
			scores := make([]float64, n+1)
			scores[0] = float64(positive)
			for j := range k {
				scores[1+j] = 1
			}
			for e, v := range terms(scores) {
				b[e] += weight * p * v
			}
		}
		weight *= float64(n-k) / float64(k+1)
	}
	return math.Ln2 + same*math.Log(same) + (1-same)*math.Log(1-same), b
}

// With scores in [0,1] and independent negatives, the appendix' I^c + log N is above the truth here. The sound bound is
// not.
func TestTheAppendixBoundFailsForTwocoins(t *testing.T) {
	for n, want := range map[int]float64{2: 0.1899, 8: 0.1438, 16: 0.1367} {
		information, b := coins(0.75, n)
		near(t, "I", information, 0.1308, 5e-5)
		near(t, "I^c + log N", b[AppendixLower], want, 5e-5)
		if b[AppendixLower] <= information || b[SoundLower] >= information {
			t.Errorf("N = %d: the appendix' estimate is %g, the sound one %g, the truth %g", n, b[AppendixLower], b[SoundLower], information)
		}
	}
	// By hand at N = 2: ¾ + log 2 - (¼·log 2e + ½·log(e+1) + ¼·log 2).
	_, b := coins(0.75, 2)
	near(t, "by hand", b[AppendixLower], 0.75+math.Ln2-(math.Log(2*math.E)/4+math.Log(math.E+1)/2+math.Ln2/4), 1e-14)
	if information, b := coins(0.5, 8); information != 0 || b[SoundLower] > 0 {
		t.Errorf("coins that know nothing of each other share %g, and the sound bound is %g", information, b[SoundLower])
	}
}

func TestImpossiblePairsAreRefused(t *testing.T) {
	for _, change := range []func(*Pair){func(p *Pair) { p.Information = -1 }, func(p *Pair) { p.Dim = 0 }, func(p *Pair) { p.Negatives = p.Batch }} {
		p := DefaultPair(1)
		change(&p)
		if _, err := p.estimate(); err == nil {
			t.Errorf("%+v was tested", p)
		}
	}
}
