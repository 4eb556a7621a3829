// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/viz"
)

// comparison is one number that the claim says to be above 0 (of a ratio: above 1), from the runs of some trials.
type comparison struct {
	on        string // task, or what stands for it
	of        string // "MAPPO-CERMIC − MAPPO"
	trials    []Trial
	score     func(results.Group) ([]float64, error) // one number a run; nil: the last evaluation
	measure   func(groups [][]float64) measured
	null      float64 // 1 for a ratio of variances
	mechanism bool    // the claim is about a mechanism of CERMIC, which must be active in its runs
}

// measured is the number of a comparison with its interval and p value.
type measured struct {
	estimate stats.Interval
	p        float64
	pair     []int // indices of the two groups that it compares; nil: all
}

// Finding is a comparison that has runs.
type Finding struct {
	On, Of   string
	Estimate stats.Interval // 95 %
	Null     float64        // the estimate without a difference: 0, or 1 for a ratio
	P        float64        // two-sided, adjusted by Holm over the Family; NaN: not tested
	Family   int            // comparisons of the question, tested or not
	Trivial  float64        // effects of at most this size make no difference that matters; 0: not known
	Untested string         // why runs that are enough tell nothing; empty: they do
	Seeds    []int          // of each group of runs
	Frames   int            // of a run
	groups   [][]float64    // that it compares
}

// significant reports whether the estimate differs from Null at 5 %.
func (f Finding) significant() bool { return f.P < 1-stats.Level }

// trivialShare of the distance between random and scripted play on a task is an effect that makes no difference.
const trivialShare = 0.01

// matters reports whether a significant estimate lies with all of its interval beyond trivial effects.
func (f Finding) matters() bool {
	return f.significant() && (f.Trivial == 0 || f.Estimate.Low > f.Trivial || f.Estimate.High < -f.Trivial)
}

// findings measures the comparisons whose trials all have runs, and enough of them. Comparisons that cannot be tested
// yet count in Holm's correction, so that p does not change with what else has been run.
func findings(tests []comparison, src Source) (out []Finding, err error) {
	all, ps := make([]*Finding, len(tests)), slices.Repeat([]float64{1}, len(tests))
	for i, t := range tests {
		if all[i], err = t.find(src); err != nil {
			return nil, err
		}
		if f := all[i]; f != nil && !math.IsNaN(f.P) {
			ps[i] = f.P
		}
	}
	for i, p := range stats.Holm(ps) {
		f := all[i]
		if f == nil {
			continue
		}
		if f.Family = len(tests); !math.IsNaN(f.P) {
			f.P = p
		}
		out = append(out, *f)
	}
	return out, nil
}

// find measures a comparison; P is not adjusted, and NaN if the runs cannot be tested. It is nil unless all trials have
// runs, and for the variance of one run or relative gains of nothing.
func (t comparison) find(src Source) (*Finding, error) {
	f := &Finding{On: t.on, Of: t.of, Null: t.null}
	var runs []results.Group
	for _, trial := range t.trials {
		g, err := src.Runs(trial)
		if err != nil {
			return nil, err
		}
		score := trial.scores
		if t.score != nil {
			score = t.score
		}
		scores, err := score(g)
		if err != nil || len(scores) == 0 {
			return nil, err
		}
		f.groups, runs = append(f.groups, scores), append(runs, g)
		f.Seeds, f.Frames = append(f.Seeds, len(scores)), g.Runs[0].Frames
	}
	m := t.measure(f.groups)
	if math.IsNaN(m.estimate.Value) {
		return nil, nil
	}
	f.Estimate, f.P = m.estimate, m.p
	if m.pair != nil {
		x, y := m.pair[0], m.pair[1]
		f.groups, runs = [][]float64{f.groups[x], f.groups[y]}, []results.Group{runs[x], runs[y]}
		f.Seeds = []int{f.Seeds[x], f.Seeds[y]}
		f.Of += fmt.Sprintf(" (%s − %s)", DisplayName(t.trials[x].Method), DisplayName(t.trials[y].Method))
	}
	if f.Untested = t.untested(runs); f.Untested != "" {
		f.P = math.NaN()
	}
	var err error
	f.Trivial, err = t.trivial(src)
	return f, err
}

// scored reports whether the number is a difference of scores on one task, not a ratio or one of shares.
func (t comparison) scored() bool {
	return t.null == 0 && !slices.ContainsFunc(t.trials, func(u Trial) bool { return u.Task != t.trials[0].Task })
}

// trivial is the size of effects on the comparison's task that make no difference; 0 where none is known.
func (t comparison) trivial(src Source) (float64, error) {
	if !t.scored() {
		return 0, nil
	}
	scale, err := src.Scale(t.trials[0].Task)
	return trivialShare * (scale.To - scale.From) / float64(max(1, t.trials[0].Agents)), err
}

// untested is the reason why the runs of a comparison are no evidence for it; it is empty if they are.
func (t comparison) untested(runs []results.Group) string {
	switch {
	case NeverRewarded(runs...):
		return "never rewarded"
	case t.mechanism && slices.ContainsFunc(runs, Idle):
		return "with an inactive mechanism"
	}
	return ""
}

// String is the finding in one line: estimate, interval and its kind, p, seeds × frames.
func (f Finding) String() string {
	interval, test := "no interval", "too few seeds for a test"
	if f.Untested != "" {
		test = "not tested: " + f.Untested
	}
	if !math.IsNaN(f.Estimate.Low) {
		interval = fmt.Sprintf("95 %% t interval %s to %s", digits(f.Estimate.Low), digits(f.Estimate.High))
	}
	if !math.IsNaN(f.P) {
		test = fmt.Sprintf("p = %.2g", f.P)
		if f.P < 0.001 {
			test = "p < 0.001"
		}
		test += fmt.Sprintf(" (Holm over %s)", viz.Count(f.Family, "comparison"))
		limit := digits(f.Trivial)
		switch {
		case f.matters():
			test += ", significant"
		case !f.significant():
			test += ", not significant"
		case f.Estimate.Low >= -f.Trivial && f.Estimate.High <= f.Trivial:
			test += ", no difference that matters: within ±" + limit
		default:
			test += ", significant, but it may not matter: not all beyond ±" + limit
		}
	}
	seeds := "seeds " + strings.ReplaceAll(strings.Trim(fmt.Sprint(f.Seeds), "[]"), " ", " and ")
	if len(f.Seeds) > 2 {
		seeds = fmt.Sprintf("%d to %d seeds each", slices.Min(f.Seeds), slices.Max(f.Seeds))
	}
	return fmt.Sprintf("%s: %s = %s [%s], %s; %s × %s frames", f.On, f.Of, digits(f.Estimate.Value), interval, test,
		seeds, viz.Short(float64(f.Frames)))
}

// digits writes three significant ones with a real minus sign.
func digits(x float64) string { return strings.ReplaceAll(fmt.Sprintf("%.3g", x), "-", "−") }

// rewardScalar is the mean reward of a rollout batch, a number an agent and step, without any bonus.
const rewardScalar = "extrinsic"

// RewardedShare is the share of a run's rollout batches in which any agent was rewarded. It is defined for runs on
// VMAS's sparse reward, which is never negative. ok is false for others and for a run that kept no rewards.
func RewardedShare(r *results.Record) (share float64, ok bool) {
	batches := r.Scalars[rewardScalar]
	if len(batches) == 0 || !strings.HasPrefix(r.Task, "vmas/") || Setting(r.Experiment, "task.reward") != "sparse" {
		return 0, false
	}
	n := 0
	for _, b := range batches {
		if b.Value > 0 {
			n++
		}
	}
	return float64(n) / float64(len(batches)), true
}

// NeverRewarded reports whether runs were trained on VMAS's sparse reward and none of those ever met it. They have
// learned nothing from success, so that their scores say nothing of training on it.
func NeverRewarded(groups ...results.Group) bool {
	sparse := false
	for _, r := range results.Flat(groups) {
		share, ok := RewardedShare(r)
		if share > 0 {
			return false
		}
		sparse = sparse || ok
	}
	return sparse
}

// CERMIC's memory, L_exploit and γ are inactive below these means over a group's runs. The first is the share of
// agent steps with a feature f_{n−1}. The second is the standard deviation of h's corrections in units of √Σ_Ψ.
const (
	LeastBefore = 0.05
	LeastCalib  = 0.001
)

// Idle reports whether the memory and the calibration of CERMIC's module do next to nothing at the end of a group's
// training. A group without the module, or without L_exploit, is not idle.
func Idle(g results.Group) bool {
	return AtEnd(g, "cermic/context_before") < LeastBefore || AtEnd(g, "cermic/calib_std") < LeastCalib
}

// AtEnd is the mean of a scalar over the last tenth of training and over a group's runs, NaN where none has it.
func AtEnd(g results.Group, scalar string) float64 {
	sum, n := 0.0, 0.0
	for _, r := range g.Runs {
		points := r.Scalars[scalar]
		for _, p := range points[min(len(points)*9/10, max(0, len(points)-1)):] {
			sum, n = sum+p.Value, n+1
		}
	}
	return sum / n
}
