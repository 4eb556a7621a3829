// SPDX-License-Identifier: Apache-2.0

package theory

import "math"

// Linspace returns n ≥ 2 evenly spaced numbers from low to high.
func Linspace(low, high float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = low + (high-low)*float64(i)/float64(n-1)
	}
	return x
}

// Sandwich is Theorem 1 drawn over x: the reward between its two bounds, until it leaves them at Root.
type Sandwich struct {
	X, Lower, Reward, Upper []float64 // ρ·r^ucb, r^i, √2·ρ·r^ucb
	Root                    float64
}

// SandwichBand evaluates the theorem at every x for c outputs; ζ cancels.
func SandwichBand(x []float64, c int) Sandwich {
	s := Sandwich{X: x, Root: Root()}
	for _, v := range x {
		lower := Rho(c, 1) * UCBBonus(v, 1)
		s.Lower, s.Upper = append(s.Lower, lower), append(s.Upper, math.Sqrt2*lower)
		s.Reward = append(s.Reward, IntrinsicReward(v, c))
	}
	return s
}

// Violations relates ‖η‖²/λ to how often, and how far, an LSVI run leaves the sandwich.
type Violations struct {
	Scale       []float64 // ‖η‖²/λ
	MinRatio    []float64 // smallest r^i/(ρ·r^ucb); below 1 is a violation
	Violations  []int
	FirstVisits []int
}

// ViolationScan runs settings on m once per scale, with λ = ‖η‖²max/scale. An error other than one about the settings
// means that Theorem 1 failed where it is proved.
func ViolationScan(m *MDP, settings LSVI, scales []float64) (Violations, error) {
	var v Violations
	for _, scale := range scales {
		l := settings
		l.Lambda = m.MaxNorm() * m.MaxNorm() / scale
		trace, err := l.Run(m)
		if err == nil {
			err = trace.Check()
		}
		if err != nil {
			return v, err
		}
		low, _ := trace.Ratios()
		v.Scale, v.MinRatio = append(v.Scale, scale), append(v.MinRatio, low)
		v.Violations, v.FirstVisits = append(v.Violations, trace.Violations()), append(v.FirstVisits, trace.FirstVisits())
	}
	return v, nil
}

// Learning is one LSVI run as a curve over episodes, all [K].
type Learning struct {
	Bonus      Bonus
	Zeta       float64
	Seed       uint64
	MeanBonus  []float64
	Regret     []float64 // of the episode
	Cumulative []float64 // regret so far
}

// LearningCurves runs settings on m with r^ucb for every ζ and then with r^i, which has no ζ, each with every seed: the
// data of the bonus-decay and of the regret figure.
func LearningCurves(m *MDP, settings LSVI, zetas []float64, seeds []uint64) ([]Learning, error) {
	var curves []Learning
	add := func(l LSVI) error {
		for _, l.Seed = range seeds {
			trace, err := l.Run(m)
			if err != nil {
				return err
			}
			curves = append(curves, Learning{l.Bonus, l.Zeta, l.Seed, trace.MeanBonus, trace.Regret, cumulative(trace.Regret)})
		}
		return nil
	}
	l := settings
	l.Bonus = UCB
	for _, l.Zeta = range zetas {
		if err := add(l); err != nil {
			return nil, err
		}
	}
	l = settings
	l.Bonus = Information
	err := add(l)
	return curves, err
}

func cumulative(x []float64) []float64 {
	total, sums := 0.0, make([]float64, len(x))
	for i, v := range x {
		total += v
		sums[i] = total
	}
	return sums
}

// Surprises compares the realised surprise with what Theorem 1 says about its mean.
type Surprises struct {
	Output              int       // c
	X                   []float64 // > 0
	Expected, Low, High []float64 // nats: (c/2)·log(1+x) and the theorem's band around it
	Sampled             []float64 // mean of the draws, nats
	Outside, SampledOut []float64 // probability of leaving the band: exact, and among the draws
}

// SurpriseCurve evaluates formulas and draws at every x > 0.
func SurpriseCurve(x []float64, c, draws int, seed uint64) Surprises {
	s := Surprises{Output: c, X: x}
	for _, v := range x {
		low, high := SurpriseBand(v, c)
		mean, _, outside := SampleSurprise(v, c, draws, seed)
		s.Expected, s.Low, s.High = append(s.Expected, InformationGain(v, c)), append(s.Low, low), append(s.High, high)
		s.Sampled = append(s.Sampled, mean)
		s.Outside, s.SampledOut = append(s.Outside, OutsideBand(v, c)), append(s.SampledOut, outside)
	}
	return s
}

// Worst is the worst-case probability of s̃ ≤ b, in closed form and by search.
type Worst struct {
	Set               Ambiguity
	B, Closed, Search []float64 // B in standard deviations of Ψ
}

// WorstCurve evaluates both at every b, the search on points × points moments.
func WorstCurve(a Ambiguity, b []float64, points int) Worst {
	w := Worst{Set: a, B: b}
	for _, v := range b {
		found, _, _ := a.Search(v, points)
		w.Closed, w.Search = append(w.Closed, a.WorstCase(v)), append(w.Search, found)
	}
	return w
}

// Multipliers is β over the chance level ε, beside what a Gaussian Ψ would need.
type Multipliers struct {
	Set                   Ambiguity
	Epsilon, Beta, Enough []float64
}

// MultiplierCurve evaluates β at every ε in (0, 1).
func MultiplierCurve(a Ambiguity, epsilon []float64) Multipliers {
	m := Multipliers{Set: a, Epsilon: epsilon}
	for _, e := range epsilon {
		beta := a.Multiplier(e)
		_, enough := GaussianCoverage(beta, e)
		m.Beta, m.Enough = append(m.Beta, beta), append(m.Enough, enough)
	}
	return m
}

// Informations is the six estimators over the true mutual information, all in nats.
type Informations struct {
	Information                             []float64
	MainLower, AppendixLower, SoundLower    []float64
	MainUpper, AppendixUpper, ContrastUpper []float64
}

// InformationCurve estimates the six bounds at every true mutual information, with the other settings of proto.
func InformationCurve(proto Pair, informations []float64) (Informations, error) {
	v := Informations{Information: informations}
	for _, proto.Information = range informations {
		b, err := proto.Estimate()
		if err != nil {
			return v, err
		}
		v.MainLower, v.MainUpper = append(v.MainLower, b.MainLower), append(v.MainUpper, b.MainUpper)
		v.AppendixLower, v.AppendixUpper = append(v.AppendixLower, b.AppendixLower), append(v.AppendixUpper, b.AppendixUpper)
		v.SoundLower, v.ContrastUpper = append(v.SoundLower, b.SoundLower), append(v.ContrastUpper, b.ContrastUpper)
	}
	return v, nil
}
