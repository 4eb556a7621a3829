// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// What the formulas of r^i other than Theorem 1's come to in a linear MDP, where the code of a pair is N(η, codeVariance·I) and nothing
// is left to learn but what has been visited. All are multiplied by ζ. UCB is the elliptical form itself.
const (
	Divergence Bonus = "kl"        // √KL to N(0, I) of a code that the losses hold in one band: 1 everywhere
	Aggregate  Bonus = "aggregate" // √(−log Σ_j (n_j/n)·exp(−KL(p‖p_j))) over the pairs visited at this step; 0 while there are none
	Context    Bonus = "context"   // √KL to the Gaussian of the codes visited; there are no peers whose context it could depend on
	Progress   Bonus = "progress"  // (c/2)·[log(1+x before the last episode) − log(1+x)], the mean gain of log-likelihood
)

// bonuses are all names of a bonus.
var bonuses = []string{string(UCB), string(Information), string(Divergence), string(Aggregate), string(Context), string(Progress)}

// codeVariance makes the KL between the codes of two pairs with orthogonal features of length 1 ten nats.
const codeVariance = 0.1

// bonus is the exploration bonus of a pair at step h, with uncertainty x.
func (p *planner) bonus(h, pair int, x float64) float64 {
	l, g := p.settings, p.stages[h]
	switch l.Bonus {
	case Information:
		return IntrinsicReward(x, l.Output)
	case Divergence:
		return l.Zeta
	case Aggregate:
		return l.Zeta * math.Sqrt(g.aggregate(p.m, pair))
	case Context:
		return l.Zeta * math.Sqrt(g.gaussian(p.m, pair))
	case Progress:
		before := p.before[h*p.m.States*p.m.Actions+pair]
		return l.Zeta * max(InformationGain(before, l.Output)-InformationGain(x, l.Output), 0)
	}
	return UCBBonus(x, l.Zeta)
}

// aggregate is −log of the mixture of the visited codes, in nats, the estimate that the module uses.
func (g *stage) aggregate(m *MDP, pair int) float64 {
	if g.total == 0 {
		return 0
	}
	eta, mixture := m.Feature[pair*m.Dims:][:m.Dims], 0.0
	for j, n := range g.count {
		if n > 0 {
			apart := floats.Distance(eta, m.Feature[j*m.Dims:][:m.Dims], 2)
			mixture += n / g.total * math.Exp(-apart*apart/(2*codeVariance))
		}
	}
	return max(-math.Log(mixture), 0)
}

// gaussian is the KL, in nats, from the Gaussian with the mean and the variances of the visited codes.
func (g *stage) gaussian(m *MDP, pair int) (kl float64) {
	if g.total == 0 {
		return 0
	}
	for d := range m.Dims {
		mean, square := 0.0, 0.0
		for j, n := range g.count {
			v := m.Feature[j*m.Dims+d]
			mean, square = mean+n/g.total*v, square+n/g.total*v*v
		}
		variance := codeVariance + max(square-mean*mean, 0)
		off := m.Feature[pair*m.Dims+d] - mean
		kl += 0.5 * ((codeVariance+off*off)/variance - 1 + math.Log(variance/codeVariance))
	}
	return max(kl, 0)
}

// FormCurves runs settings on m with every formula of r^i, each with every seed: how its bonus decays, and what it costs in regret.
func FormCurves(m *MDP, settings LSVI, seeds []uint64) ([]Learning, error) {
	var curves []Learning
	for _, name := range bonuses {
		l := settings
		l.Bonus = Bonus(name)
		for _, l.Seed = range seeds {
			trace, err := l.Run(m)
			if err != nil {
				return nil, err
			}
			curves = append(curves, Learning{l.Bonus, l.Zeta, l.Seed, trace.MeanBonus, trace.Regret, cumulative(trace.Regret)})
		}
	}
	return curves, nil
}
