// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"cermic/envs/rng"
)

// MDP is a finite linear MDP with a fixed horizon: P(·|s,a) = η(s,a)ᵀμ and r(s,a) = η(s,a)ᵀθ hold exactly for some
// measures μ and a vector θ. Pairs (s,a) are numbered s·Actions + a.
type MDP struct {
	States, Actions, Horizon, Start, Dims int
	Feature                               []float64 // η [S·A, d]
	Next                                  []float64 // P(s'|s,a) [S·A, S]
	Reward                                []float64 // [S·A]
}

// Chain is a line of states with one-hot features of length norm, hence d = 2·states. Action 0 goes left; action 1 goes
// right with probability 0.9 and stays otherwise. Going left in the leftmost state gives 0.01, going right in the
// rightmost gives 1: a greedy learner without a bonus settles for the cent.
func Chain(states, horizon int, norm float64) (*MDP, error) {
	if states < 2 || horizon < 1 || !(norm > 0) {
		return nil, fmt.Errorf("theory: chain with %d states, horizon %d and feature norm %g, want at least 2, at least 1 and above 0",
			states, horizon, norm)
	}
	m := empty(states, 2, 2*states, horizon)
	for pair := range states * 2 {
		m.Feature[pair*m.Dims+pair] = norm
	}
	for s := range states {
		m.Next[2*s*states+max(s-1, 0)] = 1
		right := m.Next[(2*s+1)*states:][:states]
		right[s] += 0.1
		right[min(s+1, states-1)] += 0.9
	}
	m.Reward[0], m.Reward[2*states-1] = 0.01, 1
	return m, nil
}

// simplex is a general linear MDP: every feature is drawn uniformly from the simplex of dims corners, so ‖η‖ ≤ 1, every
// corner has its own law of the next state, drawn likewise, and its own reward, uniform in [0,1].
func simplex(states, actions, dims, horizon int, seed uint64) *MDP {
	m := empty(states, actions, dims, horizon)
	r := rng.New(seed, "theory/simplex")
	measure, theta := make([]float64, dims*states), make([]float64, dims)
	for k := range dims {
		dirichlet(measure[k*states:][:states], r)
		theta[k] = r.Float64()
	}
	for pair := range states * actions {
		eta := m.Feature[pair*dims:][:dims]
		dirichlet(eta, r)
		for k, weight := range eta {
			m.Reward[pair] += weight * theta[k]
			for s := range states {
				m.Next[pair*states+s] += weight * measure[k*states+s]
			}
		}
	}
	return m
}

func empty(states, actions, dims, horizon int) *MDP {
	pairs := states * actions
	return &MDP{
		States: states, Actions: actions, Horizon: horizon, Dims: dims,
		Feature: make([]float64, pairs*dims), Next: make([]float64, pairs*states), Reward: make([]float64, pairs),
	}
}

// dirichlet fills dst with a uniform draw from the simplex: normalised exponentials.
func dirichlet(dst []float64, r *rng.Rand) {
	sum := 0.0
	for i := range dst {
		dst[i] = -math.Log(1 - r.Float64())
		sum += dst[i]
	}
	floats.Scale(1/sum, dst)
}

// eta is η of a pair [d].
func (m *MDP) eta(pair int) *mat.VecDense {
	return mat.NewVecDense(m.Dims, m.Feature[pair*m.Dims:][:m.Dims])
}

// maxNorm returns the largest ‖η(s,a)‖.
func (m *MDP) maxNorm() float64 {
	largest := 0.0
	for pair := range m.States * m.Actions {
		largest = max(largest, floats.Norm(m.Feature[pair*m.Dims:][:m.Dims], 2))
	}
	return largest
}

// value returns the exact expected return of policy [H,S] from the start state, by backward induction.
func (m *MDP) value(policy []int) float64 {
	return m.backward(func(h, s int, q []float64) float64 { return q[policy[h*m.States+s]] })
}

// optimal returns V*, the exact best expected return from the start state.
func (m *MDP) optimal() float64 {
	return m.backward(func(_, _ int, q []float64) float64 { return floats.Max(q) })
}

// backward runs V_h(s) = pick(h, s, [r(s,a) + Σ P(s'|s,a)·V_{h+1}(s')]_a) from the horizon to the first step.
func (m *MDP) backward(pick func(h, s int, q []float64) float64) float64 {
	value, next, q := make([]float64, m.States), make([]float64, m.States), make([]float64, m.Actions)
	for h := m.Horizon - 1; h >= 0; h-- {
		value, next = next, value
		for s := range m.States {
			for a := range q {
				pair := s*m.Actions + a
				q[a] = m.Reward[pair] + floats.Dot(m.Next[pair*m.States:][:m.States], next)
			}
			value[s] = pick(h, s, q)
		}
	}
	return value[m.Start]
}
