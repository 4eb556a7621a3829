// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/reproduce/paper"
	"cermic/viz"

	"gonum.org/v1/gonum/stat"
)

// Memories are the complete runs of a learner without CERMIC and with it, on one task, whose settings differ in nothing but the memory
// and what it starts with, changes ("key=value" as for -set) to all of CERMIC's apart. They are named after that: "mappo", "mlp", "graph",
// "graph, pre-trained: full". The learner comes first, then the memories in alphabetical order.
func Memories(st *results.Store, task, learner, budget string, changes ...string) ([]*results.Record, error) {
	found, err := FindTask(task)
	if err != nil {
		return nil, err
	}
	all, err := st.Find(results.Query{Task: found.ID, Budget: budget, Complete: true})
	if err != nil {
		return nil, err
	}
	var out []*results.Record
	for _, r := range all {
		named := *r // the store's records are shared
		set := strings.Fields(r.Method)
		switch {
		case r.Method == learner:
		case set[0] == learner+"-cermic" && onlyMemory(set[1:], changes):
			named.Method = paper.Setting(r.Experiment, "explore.memory")
			if start := paper.Setting(r.Experiment, "explore.memory.pretrain"); start != "" && start != "none" {
				named.Method += ", pre-trained: " + start
			}
		default:
			continue
		}
		out = append(out, &named)
	}
	slices.SortStableFunc(out, func(a, b *results.Record) int {
		if (a.Method == learner) != (b.Method == learner) {
			return map[bool]int{true: -1, false: 1}[a.Method == learner]
		}
		return strings.Compare(a.Method, b.Method)
	})
	return out, nil
}

// onlyMemory reports whether a label's settings are all the changes and else such of the memory.
func onlyMemory(set, changes []string) bool {
	for _, c := range changes {
		if !slices.Contains(set, c) {
			return false
		}
	}
	return !slices.ContainsFunc(set, func(s string) bool { return !strings.HasPrefix(s, "explore.memory") && !slices.Contains(changes, s) })
}

// Against says how each label's runs stand to those of the first one: the mean over seeds of the last evaluation, its difference to
// the first label's and the probability that a run scores higher than one of the first, with bootstrap 95 % intervals.
func Against(rs []*results.Record) viz.Table {
	t := viz.Table{Header: []string{"", "seeds", "last score", "difference", "probability of improvement", "episodes that succeed"},
		Notes: []string{"Mean over seeds and bootstrap 95 % interval; each seed's score is the mean of 60 episodes at most. " + stats.Caution +
			" °: not surely a difference, Welch's interval includes 0. The last column is of the last evaluation, seed by seed: the score is the benchmark's own, and need not rise with success."}}
	if len(rs) == 0 {
		return t
	}
	t.Title = rs[0].Task
	r := rng.New(0, "plan/against")
	var first [][]float64
	for _, group := range labelled(rs) {
		x := [][]float64{nil}
		for _, run := range group {
			x[0] = append(x[0], run.Score())
		}
		row := []string{group[0].Method, fmt.Sprint(len(group)), spanned(stats.Bootstrap(x, stats.Mean, comparisonReps, r)), viz.Missing, viz.Missing, successes(group)}
		if first == nil {
			first = x
		} else {
			row[3] = versus(x[0], first[0], r)
			row[4] = spanned(stats.BootstrapTwo(x, first, stats.Improvement, comparisonReps, r))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// successes are the shares of episodes of the last evaluation that succeeded, one a run.
func successes(rs []*results.Record) string {
	var out []string
	for _, r := range rs {
		out = append(out, percent(lastSuccess(r)))
	}
	return strings.Join(out, ", ")
}

// lastSuccess is the share of episodes of the last evaluation that succeeded, NaN where a task knows no success.
func lastSuccess(r *results.Record) float64 {
	n := len(r.Evals)
	if n == 0 || len(r.Evals[n-1].Success) == 0 {
		return math.NaN()
	}
	return stat.Mean(r.Evals[n-1].Success, nil)
}

// versus writes how much higher the mean of x is than that of y, with ° where that is not sure.
func versus(x, y []float64, r *rng.Rand) string {
	d := stats.Difference([][]float64{x}, [][]float64{y}, stats.Mean, comparisonReps, r)
	if stats.Differ(x, y, d) {
		return spanned(d)
	}
	return spanned(d) + "°"
}

// spanned writes an estimate with its interval.
func spanned(i stats.Interval) string {
	if math.IsNaN(i.Low) {
		return fmt.Sprintf("%.3g", i.Value)
	}
	return fmt.Sprintf("%.3g [%.3g, %.3g]", i.Value, i.Low, i.High)
}

// labelled groups runs by their label, in the order in which labels first appear.
func labelled(rs []*results.Record) (groups [][]*results.Record) {
	for _, r := range rs {
		i := slices.IndexFunc(groups, func(g []*results.Record) bool { return g[0].Method == r.Method })
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// vitals are what explains how CERMIC's module does, in the order of its data flow.
var vitals = []struct{ title, scalar string }{
	{"spread of s_t", "enc_std"}, {"KL / d_x", "kl"}, {"L_UB active", "upper_active"}, {"L_LB active", "lower_active"},
	{"spread of f_n", "context_std"}, {"steps with f_{n−1}", "context_before"}, {"γ_lo / its limit", "gamma_share"}, {"γ_hi", "gamma_hi"},
	{"detector over guessing", "detector_gain"}, {"correction of h", "calib_mean"}, {"its spread", "calib_std"},
	{"decoder's error", "decoder_rmse"}, {"σ_ψ", "decoder_std"}, {"r^i", "int_mean"}, {"std / mean of r^i", "int_variation"},
}

// Vitals says for each label of runs with CERMIC in what state its module was over the last tenth of training, mean over seeds.
func Vitals(rs []*results.Record) viz.Table {
	t := viz.Table{Header: []string{""}, Notes: []string{"Means over the last tenth of training and over seeds. " +
		"Active: the share of agent steps on which the loss is not zero. Corrections of h for L_UB are in units of √Σ_Ψ, the decoder's error and σ_ψ in units of s_{t+1}'s spread. Detector over guessing: how much more often it is right than always saying the same. A dash: the memory has no such part."}}
	for _, v := range vitals {
		t.Header = append(t.Header, v.title)
	}
	for _, group := range labelled(rs) {
		row := []string{group[0].Method}
		known := false
		for _, v := range vitals {
			var mean average
			for _, r := range group {
				points := r.Scalars["cermic/"+v.scalar]
				for _, p := range points[min(len(points)*9/10, max(0, len(points)-1)):] {
					mean.add(p.Value)
				}
			}
			row = append(row, number(mean.mean()))
			known = known || mean.n > 0
		}
		if known {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
