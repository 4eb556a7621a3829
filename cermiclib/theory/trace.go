// SPDX-License-Identifier: Apache-2.0

package theory

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"gonum.org/v1/gonum/floats"
)

// Trace is what one LSVI run saw: one entry per visited pair (K·H, in the order of play) or per episode (K).
type Trace struct {
	Env      string
	Horizon  int
	MaxNorm  float64 // largest ‖η‖
	Optimal  float64 // V*
	Settings LSVI

	Pair      []int     // s·A + a [K·H]
	X         []float64 // ηᵀΛ⁻¹η before the visit [K·H]
	UCB       []float64 // ζ√x [K·H]
	Intrinsic []float64 // √((c/2)·log(1+x)) [K·H]
	First     []bool    // no earlier episode visited this pair at this step [K·H]

	MeanBonus []float64 // mean over the episode of the bonus that was used [K]
	Regret    []float64 // V* minus the exact value of the policy that was played [K]
}

func newTrace(m *MDP, l LSVI) *Trace {
	visits := l.Episodes * m.Horizon
	return &Trace{
		Env: m.Name, Horizon: m.Horizon, MaxNorm: m.MaxNorm(), Optimal: m.Optimal(), Settings: l,
		Pair: make([]int, visits), X: make([]float64, visits), UCB: make([]float64, visits),
		Intrinsic: make([]float64, visits), First: make([]bool, visits),
		MeanBonus: make([]float64, l.Episodes), Regret: make([]float64, l.Episodes),
	}
}

func (t *Trace) visit(episode, step, pair int, x float64, first bool) {
	i := episode*t.Horizon + step
	t.Pair[i], t.X[i] = pair, x
	t.UCB[i], t.Intrinsic[i] = UCBBonus(x, t.Settings.Zeta), IntrinsicReward(x, t.Settings.Output)
	t.First[i] = first
}

// Violations counts the visits at which Theorem 1's sandwich failed.
func (t *Trace) Violations() int {
	n := 0
	for _, x := range t.X {
		if Violates(x) {
			n++
		}
	}
	return n
}

// FirstVisits counts the visits to a pair that no earlier episode made at the same step.
func (t *Trace) FirstVisits() int {
	n := 0
	for _, first := range t.First {
		if first {
			n++
		}
	}
	return n
}

// MaxX returns the largest x of the run.
func (t *Trace) MaxX() float64 { return floats.Max(t.X) }

// Ratios returns the smallest and the largest r^i/(ρ·r^ucb) of the run; Theorem 1 allows 1 to √2. They are computed from
// the two recorded rewards, not from x.
func (t *Trace) Ratios() (low, high float64) {
	rho := Rho(t.Settings.Output, t.Settings.Zeta)
	for i := range t.X {
		ratio := t.Intrinsic[i] / (rho * t.UCB[i])
		if i == 0 {
			low, high = ratio, ratio
		}
		low, high = min(low, ratio), max(high, ratio)
	}
	return low, high
}

// Check returns an error if the sandwich failed although λ ≥ ‖η‖²max/x*, where it is proved: the code would be wrong.
func (t *Trace) Check() error {
	if n := t.Violations(); n > 0 && t.Settings.Lambda >= SafeLambda(t.MaxNorm) {
		return fmt.Errorf("theory: %s with λ = %g violates Theorem 1 at %d visits, although λ ≥ %.4f excludes that",
			t.Env, t.Settings.Lambda, n, SafeLambda(t.MaxNorm))
	}
	return nil
}

// WriteCSV writes one line per visited pair.
func (t *Trace) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"episode", "step", "pair", "x", "ucb", "intrinsic", "ratio", "first", "violation", "episode_regret"})
	for i, x := range t.X {
		k := i / t.Horizon
		out.Write([]string{
			strconv.Itoa(k + 1), strconv.Itoa(i%t.Horizon + 1), strconv.Itoa(t.Pair[i]),
			exact(x), exact(t.UCB[i]), exact(t.Intrinsic[i]), exact(Ratio(x)),
			strconv.FormatBool(t.First[i]), strconv.FormatBool(Violates(x)), exact(t.Regret[k]),
		})
	}
	out.Flush()
	return out.Error() // also reports what the writes above ran into
}

// exact prints v with as few digits as give v back.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
