// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"cermic/envs/rng"
)

// bonus names the exploration bonus that an LSVI run adds to its Q-values.
type bonus string

// The two bonuses whose relation Theorem 1 is about.
const (
	UCB         bonus = "ucb"         // r^ucb = ζ√x
	Information bonus = "information" // r^i = √((c/2)·log(1+x))
)

// LSVI holds the settings of least-squares value iteration with an optimistic bonus (Jin et al. 2020), one regression
// per step of the horizon.
type LSVI struct {
	Episodes int
	Lambda   float64 // λ of the ridge regression, and of the Gaussian prior N(0, I/λ)
	Zeta     float64 // ζ of r^ucb
	Output   int     // c, the dimension of the next state that the linear model predicts
	Bonus    bonus   // exploration bonus
	Seed     uint64
}

// DefaultLSVI returns 1,500 episodes with λ = 1, where Theorem 1 holds for unit features, ζ = 0.5, c = 6 and the UCB
// bonus.
func DefaultLSVI() LSVI {
	return LSVI{Episodes: 1500, Lambda: 1, Zeta: 0.5, Output: 6, Bonus: UCB}
}

// validate reports impossible settings.
func (l LSVI) validate() error {
	if l.Episodes < 1 || l.Output < 1 || !(l.Lambda > 0) || !(l.Zeta > 0) || l.Bonus != UCB && l.Bonus != Information {
		return fmt.Errorf("theory: %+v: want at least 1 episode and output, λ and ζ above 0, and bonus %s or %s",
			l, UCB, Information)
	}
	return nil
}

// trace records one LSVI run: one entry per visited pair (K·H, in the order of play) or per episode (K).
type trace struct {
	x         []float64 // ηᵀΛ⁻¹η before the visit [K·H]
	first     []bool    // no earlier episode visited this pair at this step [K·H]
	meanBonus []float64 // mean over the episode of the bonus that was used [K]
	regret    []float64 // V* minus the exact value of the policy that was played [K]
}

// run lets the learner play on m. In each episode it plans once, backwards from the horizon, and then acts greedily;
// ties go to the lower action.
func (l LSVI) run(m *MDP) (*trace, error) {
	if err := l.validate(); err != nil {
		return nil, err
	}
	t, optimal := &trace{}, m.optimal()
	var stages []*stage
	for range m.Horizon {
		stages = append(stages, newStage(m, l.Lambda))
	}
	for k := range l.Episodes {
		l.plan(m, stages)
		r := rng.New(l.Seed, "theory/lsvi", uint64(k))
		s, sum := m.Start, 0.0
		for _, g := range stages {
			pair := s*m.Actions + g.policy[s]
			x := g.uncertainty[pair]
			t.x, t.first = append(t.x, x), append(t.first, !g.visited[pair])
			sum += l.bonus(x)
			s = draw(m.Next[pair*m.States:][:m.States], r)
			g.observe(m, pair, s)
		}
		t.meanBonus = append(t.meanBonus, sum/float64(m.Horizon))
		played := m.value(func(h, s int, q []float64) float64 { return q[stages[h].policy[s]] })
		t.regret = append(t.regret, optimal-played)
	}
	return t, nil
}

// bonus is the exploration bonus of a pair with uncertainty x.
func (l LSVI) bonus(x float64) float64 {
	if l.Bonus == Information {
		return intrinsicReward(x, l.Output)
	}
	return ucbBonus(x, l.Zeta)
}

// violations counts the visits at which Theorem 1's sandwich failed.
func (t *trace) violations() int { return floats.Count(Violates, t.x) }

// firstVisits counts the visits to a pair that no earlier episode made at the same step.
func (t *trace) firstVisits() (n int) {
	for _, first := range t.first {
		if first {
			n++
		}
	}
	return n
}

// ratios returns the smallest and the largest r^i/(ρ·r^ucb) of a run with settings l; Theorem 1 allows 1 to √2.
func (t *trace) ratios(l LSVI) (low, high float64) {
	low = math.Inf(1)
	for _, x := range t.x {
		ratio := intrinsicReward(x, l.Output) / (rho(l.Output, l.Zeta) * ucbBonus(x, l.Zeta))
		low, high = min(low, ratio), max(high, ratio)
	}
	return low, high
}

// draw returns an index with the probabilities in p, which sum to one.
func draw(p []float64, r *rng.Rand) int {
	u := r.Float64()
	for i, v := range p {
		if u < v {
			return i
		}
		u -= v
	}
	return len(p) - 1 // reached only when rounding leaves the sum a little below one
}

// plan computes χ_h = Λ_h⁻¹ Σ η·(r + max_a Q_{h+1}(s',a)) and Q_h = min(ηᵀχ_h + bonus, H−h) for h = H−1 … 0. With steps
// counted from zero, H−h is the largest possible remaining return.
func (l LSVI) plan(m *MDP, stages []*stage) {
	value := mat.NewVecDense(m.States, nil) // max_a Q_{h+1}(s', a)
	var target, chi mat.VecDense
	for h, g := range slices.Backward(stages) {
		target.MulVec(g.next, value)
		target.AddVec(&target, g.reward)
		chi.MulVec(g.inverse, &target)
		for s := range m.States {
			best := math.Inf(-1)
			for a := range m.Actions {
				pair := s*m.Actions + a
				eta := m.eta(pair)
				x := mat.Inner(eta, g.inverse, eta)
				g.uncertainty[pair] = x
				if q := min(mat.Dot(eta, &chi)+l.bonus(x), float64(m.Horizon-h)); q > best {
					best, g.policy[s] = q, a
				}
			}
			value.SetVec(s, best)
		}
	}
}

// stage is the regression of one step, and the last plan for it. The targets change with every plan, but they are
// linear in max_a Q_{h+1}, so sums of η over next states replace the list of transitions.
type stage struct {
	inverse *mat.SymDense // Λ_h⁻¹ [d,d]
	next    *mat.Dense    // Σ η(s,a)·1[s']ᵀ [d,S]
	reward  *mat.VecDense // Σ η(s,a)·r [d]
	visited []bool        // [S·A]

	policy      []int     // greedy actions [S]
	uncertainty []float64 // x = ηᵀΛ_h⁻¹η [S·A]
}

func newStage(m *MDP, lambda float64) *stage {
	g := &stage{
		inverse: mat.NewSymDense(m.Dims, nil),
		next:    mat.NewDense(m.Dims, m.States, nil),
		reward:  mat.NewVecDense(m.Dims, nil),
		visited: make([]bool, m.States*m.Actions),
		policy:  make([]int, m.States), uncertainty: make([]float64, m.States*m.Actions),
	}
	for i := range m.Dims {
		g.inverse.SetSym(i, i, 1/lambda)
	}
	return g
}

// observe adds one transition; the inverse follows by Sherman and Morrison:
// (Λ + ηηᵀ)⁻¹ = Λ⁻¹ − (Λ⁻¹η)(Λ⁻¹η)ᵀ / (1 + ηᵀΛ⁻¹η).
func (g *stage) observe(m *MDP, pair, next int) {
	g.visited[pair] = true
	eta := m.eta(pair)
	var half mat.VecDense // Λ⁻¹η
	half.MulVec(g.inverse, eta)
	g.inverse.SymRankOne(g.inverse, -1/(1+mat.Dot(eta, &half)), &half)
	g.reward.AddScaledVec(g.reward, m.Reward[pair], eta)
	for i := range m.Dims {
		g.next.Set(i, next, g.next.At(i, next)+eta.AtVec(i))
	}
}

// MDP is a finite linear MDP with a fixed horizon. P(·|s,a) = η(s,a)ᵀμ and r(s,a) = η(s,a)ᵀθ hold exactly for some
// measures μ and a vector θ. Pairs (s,a) are numbered s·Actions + a.
type MDP struct {
	States, Actions, Horizon, Start, Dims int
	Feature                               []float64 // η [S·A, d]
	Next                                  []float64 // P(s'|s,a) [S·A, S]
	Reward                                []float64 // [S·A]
}

// Chain is a line of states with one-hot features of length norm, hence d = 2·states. Action 0 goes left; action 1 goes
// right with probability 0.9 and stays otherwise. Going left in the leftmost state gives 0.01, going right in the
// rightmost gives 1. A greedy learner without a bonus settles for the 0.01.
func Chain(states, horizon int, norm float64) (*MDP, error) {
	if states < 2 || horizon < 1 || !(norm > 0) {
		return nil, fmt.Errorf("theory: chain with %d states, horizon %d and feature norm %g, want at least 2, at least 1 "+
			"and above 0", states, horizon, norm)
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

// simplex is a general linear MDP. Every feature is drawn uniformly from the simplex of dims corners, so ‖η‖ ≤ 1. Every
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

// optimal returns V*, the exact best expected return from the start state.
func (m *MDP) optimal() float64 {
	return m.value(func(_, _ int, q []float64) float64 { return floats.Max(q) })
}

// value returns the exact expected return from the start state by backward induction:
// V_h(s) = pick(h, s, [r(s,a) + Σ P(s'|s,a)·V_{h+1}(s')]_a). pick returns the value of the action that is taken.
func (m *MDP) value(pick func(h, s int, q []float64) float64) float64 {
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
