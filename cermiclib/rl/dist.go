// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"math"

	"cermic/envs"
	"cermic/envs/rng"
)

// Dist is the action distribution of every agent of every environment. It is a mixture of the policy's base π, an
// explorer's policy π^x, and the uniform distribution u over allowed actions.
//
//	μ(a|o) = (1 − ε)·( (1 − ρ)·π(a|o) + ρ·π^x(a|o) ) + ε·u(a|o)
//
// The base is a masked categorical over Logits, a tanh-squashed Gaussian of Mean and Scale, or, if Greedy, the mode
// alone.
type Dist struct {
	Spec        *envs.ActSpec
	Logits      []float32 // [E,N,K] discrete; utilities where Greedy
	Mask        []uint8   // [E,N,K] the step's mask, or nil
	Mean, Scale []float32 // [E,N,D] continuous: u ~ N(Mean, Scale²), action = centre + half·tanh(u)
	Raw         []float32 // [E,N,D] u of the sampled actions; inverting the squash would lose digits near the bounds
	Hidden      []float32 // [E,N,C] policy state after this step
	Importance  []float32 // [E,N] weight of the sampled actions in a policy-gradient loss: 1, or π/μ if OffPolicy

	Other []float32 // [E,N,K] logits of π^x, for discrete actions; read while Share is above 0
	Share float32   // ρ, set by an explorer that has a policy of its own

	Greedy bool    // the base is its mode, for value learners
	Eps    float32 // ε, set by a value learner or an explorer

	// OffPolicy lets a policy-gradient learner train π on actions of μ, each weighted by π/μ: unbiased, of high variance.
	// Else it trains μ itself, with a ratio μ_new/μ_old that starts at 1.
	OffPolicy bool
}

// NewDist allocates the buffers for spec; hidden is C.
func NewDist(s *envs.Spec, hidden int) *Dist {
	rows := s.NumEnvs * s.Agents
	d := &Dist{Spec: &s.Act, Hidden: make([]float32, rows*hidden), Importance: make([]float32, rows)}
	if s.Act.Choices > 0 {
		d.Logits = make([]float32, rows*s.Act.Choices)
	} else {
		n := rows * s.Act.Dim
		d.Mean, d.Scale, d.Raw = make([]float32, n), make([]float32, n), make([]float32, n)
	}
	return d
}

// Sample draws the action of row from its stream r and writes it into act. It returns the log-probability, or the
// log-density in physical units, of the mixture; of the base alone if OffPolicy.
func (d *Dist) Sample(row int, r *rng.Rand, act *envs.Actions) float32 {
	switch {
	case d.Eps > 0 && r.Float64() < float64(d.Eps):
		d.uniform(row, r, act)
	case d.Share > 0 && r.Float64() < float64(d.Share):
		act.Discrete[row] = int32(d.categorical(d.Other, row, r))
	default:
		d.Draw(row, r, act)
	}
	base := d.logBase(row, act)
	d.Importance[row] = 1
	if d.Eps == 0 && d.Share == 0 {
		return float32(base)
	}
	mixture := d.logMixture(row, base, act)
	if d.OffPolicy {
		d.Importance[row] = float32(math.Exp(base - mixture))
		return float32(base)
	}
	return float32(mixture)
}

// Draw samples the action of row from the base alone.
func (d *Dist) Draw(row int, r *rng.Rand, act *envs.Actions) {
	if d.Greedy {
		d.Mode(row, act)
		return
	}
	if d.Spec.Choices > 0 {
		act.Discrete[row] = int32(d.categorical(d.Logits, row, r))
		return
	}
	n := d.Spec.Dim
	for i := range n {
		mean, scale := float64(d.Mean[row*n+i]), float64(d.Scale[row*n+i])
		u := float32(mean + scale*float64(r.Norm()))
		d.Raw[row*n+i] = u
		act.Continuous[row*n+i] = squash(float64(u), d.Spec, i)
	}
}

// logBase is the base's log-probability of row's action in act.
func (d *Dist) logBase(row int, act *envs.Actions) float64 {
	if d.Spec.Choices > 0 {
		if !d.Greedy {
			return d.logProbOf(d.Logits, row, int(act.Discrete[row]))
		}
		if int(act.Discrete[row]) == d.best(row) {
			return 0
		}
		return math.Inf(-1)
	}
	n := d.Spec.Dim
	logp := 0.0
	for i := range n {
		u := float64(d.Raw[row*n+i])
		half := float64(d.Spec.High[i]-d.Spec.Low[i]) / 2
		logp += logNormal(u, float64(d.Mean[row*n+i]), float64(d.Scale[row*n+i])) - math.Log(half) - logTanhSlope(u)
	}
	return logp
}

// Mode writes the deterministic action of row into act: the most likely choice, or the squashed mean (torchrl's
// "deterministic sample"). It ignores Eps.
func (d *Dist) Mode(row int, act *envs.Actions) {
	if d.Spec.Choices > 0 {
		act.Discrete[row] = int32(d.best(row))
		return
	}
	n := d.Spec.Dim
	for i := range n {
		act.Continuous[row*n+i] = squash(float64(d.Mean[row*n+i]), d.Spec, i)
	}
}

// best is the first of row's allowed choices with the largest logit. It is 0 if none is allowed, which can happen after
// the end of an episode.
func (d *Dist) best(row int) int {
	best := -1
	for k := range d.Spec.Choices {
		if d.allowed(row, k) && (best < 0 || d.Logits[row*d.Spec.Choices+k] > d.Logits[row*d.Spec.Choices+best]) {
			best = k
		}
	}
	return max(best, 0)
}

func (d *Dist) allowed(row, k int) bool {
	return d.Mask == nil || d.Mask[row*d.Spec.Choices+k] != 0
}

// categorical draws from the softmax of logits [E,N,K] over row's allowed choices, by inversion in index order.
func (d *Dist) categorical(logits []float32, row int, r *rng.Rand) int {
	top, total := d.softmaxScale(logits, row)
	at, last := r.Float64()*total, 0
	for i, l := range logits[row*d.Spec.Choices : (row+1)*d.Spec.Choices] {
		if !d.allowed(row, i) {
			continue
		}
		last = i
		if at -= math.Exp(float64(l) - top); at < 0 {
			break
		}
	}
	return last
}

// softmaxScale returns the largest of row's allowed logits and Σ exp(logit − largest), summed in index order.
func (d *Dist) softmaxScale(logits []float32, row int) (largest, total float64) {
	logits = logits[row*d.Spec.Choices : (row+1)*d.Spec.Choices]
	largest = math.Inf(-1)
	for i, l := range logits {
		if d.allowed(row, i) {
			largest = max(largest, float64(l))
		}
	}
	for i, l := range logits {
		if d.allowed(row, i) {
			total += math.Exp(float64(l) - largest)
		}
	}
	return largest, total
}

func (d *Dist) logProbOf(logits []float32, row, choice int) float64 {
	top, total := d.softmaxScale(logits, row)
	return float64(logits[row*d.Spec.Choices+choice]) - top - math.Log(total)
}

// tanhMax keeps squashed actions inside their bounds, where the density is finite; torchrl also clamps at 1 - 1e-6.
const tanhMax = 1 - 1e-6

// squash maps u to the box: centre + half·tanh(u).
func squash(u float64, a *envs.ActSpec, i int) float32 {
	centre, half := float64(a.High[i]+a.Low[i])/2, float64(a.High[i]-a.Low[i])/2
	return float32(centre + half*min(max(math.Tanh(u), -tanhMax), tanhMax))
}

// logNormal is the log-density of N(mean, scale²) at u.
func logNormal(u, mean, scale float64) float64 {
	z := (u - mean) / scale
	return -0.5*z*z - math.Log(scale) - 0.5*math.Log(2*math.Pi)
}

// logTanhSlope is log(1 - tanh²u) = 2(log 2 - u - softplus(-2u)), stable for large |u|.
func logTanhSlope(u float64) float64 {
	softplus := math.Max(-2*u, 0) + math.Log1p(math.Exp(-math.Abs(2*u)))
	return 2 * (math.Ln2 - u - softplus)
}

// uniform samples from the allowed choices, or within the bounds.
func (d *Dist) uniform(row int, r *rng.Rand, act *envs.Actions) {
	if d.Spec.Choices > 0 {
		at := r.IntN(d.numAllowed(row))
		for k := range d.Spec.Choices {
			if !d.allowed(row, k) {
				continue
			}
			if at == 0 {
				act.Discrete[row] = int32(k)
				return
			}
			at--
		}
	}
	n := d.Spec.Dim
	for i := range n {
		u := float32(math.Atanh(min(max(2*r.Float64()-1, -tanhMax), tanhMax)))
		d.Raw[row*n+i] = u
		act.Continuous[row*n+i] = squash(float64(u), d.Spec, i)
	}
}

// logMixture is log μ of row's action in act; base is its log π.
func (d *Dist) logMixture(row int, base float64, act *envs.Actions) float64 {
	if share := float64(d.Share); share > 0 {
		other := d.logProbOf(d.Other, row, int(act.Discrete[row]))
		base = logSum(math.Log1p(-share)+base, math.Log(share)+other)
	}
	if eps := float64(d.Eps); eps > 0 {
		base = logSum(math.Log1p(-eps)+base, math.Log(eps)+d.logUniform(row))
	}
	return base
}

// logSum is log(exp a + exp b); one of them may be -Inf.
func logSum(a, b float64) float64 {
	top := max(a, b)
	return top + math.Log(math.Exp(a-top)+math.Exp(b-top))
}

// logUniform is log u, equal for all of row's allowed actions.
func (d *Dist) logUniform(row int) float64 {
	if d.Spec.Choices > 0 {
		return -math.Log(float64(d.numAllowed(row)))
	}
	volume := 0.0
	for i := range d.Spec.Dim {
		volume += math.Log(float64(d.Spec.High[i] - d.Spec.Low[i]))
	}
	return -volume
}

func (d *Dist) numAllowed(row int) int {
	n := 0
	for k := range d.Spec.Choices {
		if d.allowed(row, k) {
			n++
		}
	}
	return n
}

// logProbFloor is the lower bound of LogProbs, which a greedy policy's other actions would fall below.
const logProbFloor = -20

// LogProbs writes the log-probabilities of all discrete actions under the mixture μ into dst [E,N,K]. All are at least
// -20, also for forbidden actions.
func (d *Dist) LogProbs(dst []float32) {
	k := d.Spec.Choices
	for row := range len(dst) / k {
		var other func(choice int) float64
		if d.Share > 0 {
			other = d.probs(d.Other, row)
		}
		base := d.probs(d.Logits, row)
		if d.Greedy {
			best := d.best(row)
			base = func(choice int) float64 {
				if choice == best {
					return 1
				}
				return 0
			}
		}
		for choice := range k {
			p := 0.0
			if d.allowed(row, choice) {
				p = base(choice)
				if other != nil {
					p = (1-float64(d.Share))*p + float64(d.Share)*other(choice)
				}
				p = (1-float64(d.Eps))*p + float64(d.Eps)/float64(d.numAllowed(row))
			}
			dst[row*k+choice] = float32(max(math.Log(p), logProbFloor))
		}
	}
}

// probs returns row's masked softmax of logits [E,N,K].
func (d *Dist) probs(logits []float32, row int) func(choice int) float64 {
	top, total := d.softmaxScale(logits, row)
	logits = logits[row*d.Spec.Choices:]
	return func(choice int) float64 { return math.Exp(float64(logits[choice])-top) / total }
}

// Anneal interpolates linearly from one value to another over the given frames and is constant afterwards.
func Anneal(from, to float64, done, frames int) float64 {
	if done >= frames {
		return to
	}
	return from + (to-from)*float64(done)/float64(frames)
}
