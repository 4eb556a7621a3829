// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/conf"
	"cermic/envs/rng"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Memories are the complete runs of a learner without CERMIC and with it, on one task. The settings of CERMIC's runs
// differ only in the memory and its initial weights; changes ("key=value" as for -set) apply to all of them. They are
// named after that: "mappo", "mlp", "graph", "graph, pre-trained: full". The learner comes first, then the memories
// in alphabetical order.
func Memories(st *results.Store, task, learner, budget string, changes ...string) ([]results.Group, error) {
	plain, err := plan.At(st, budget).Runs(paper.Trial{Task: task, Method: learner})
	if err != nil {
		return nil, err
	}
	curious, err := plan.New(plan.Request{Task: task, Method: learner + "-cermic", Budget: budget, Set: changes})
	if err != nil {
		return nil, err
	}
	like, err := conf.Marshal(curious)
	if err != nil {
		return nil, err
	}
	records, err := st.Find(results.Query{Task: curious.Task.Kind(), Budget: budget, Complete: true})
	if err != nil {
		return nil, err
	}
	records = slices.DeleteFunc(records, func(r *results.Record) bool { return !onlyMemory(r.Experiment, like) })
	memories := plan.Named(results.Groups(records), func(r *results.Record) (method, label string) {
		label = paper.Setting(r.Experiment, "explore.memory")
		if start := paper.Setting(r.Experiment, "explore.memory.pretrain"); start != "" && start != "none" {
			label += ", pre-trained: " + start
		}
		return learner + "-cermic", label
	})
	slices.SortStableFunc(memories, func(a, b results.Group) int { return strings.Compare(a.Label, b.Label) })
	if len(plain.Runs) > 0 {
		memories = slices.Insert(memories, 0, plain)
	}
	return memories, nil
}

// onlyMemory reports whether two experiments, in their JSON form, differ only in CERMIC's memory and the seed.
func onlyMemory(a, b json.RawMessage) bool {
	rest := func(text json.RawMessage) map[string]string {
		values, _ := conf.Values(text)
		maps.DeleteFunc(values, func(key, _ string) bool { return key == "seed" || strings.HasPrefix(key, "explore.memory") })
		return values
	}
	return maps.Equal(rest(a), rest(b))
}

// Comparison compares each group's runs with the first group's. It shows the mean over seeds of the last evaluation,
// its difference and the probability of improvement, with bootstrap 95 % intervals.
func Comparison(gs []results.Group) (viz.Table, error) {
	t := viz.Table{
		Header: []string{"", "seeds", "last score", "difference", "probability of improvement", "episodes that succeed"},
		Notes: []string{"Mean over seeds and bootstrap 95 % interval; each seed's score is the mean of 60 episodes at " +
			"most. " + stats.Caution + " °: no significant difference, Welch's 95 % interval includes 0. The last " +
			"column is of the last evaluation, seed by seed: the score is the benchmark's own, and " +
			"need not rise with success."}}
	if len(gs) == 0 {
		return t, nil
	}
	t.Title = gs[0].Runs[0].Task
	r := rng.New(0, "plan/against")
	var first []float64
	for i, g := range gs {
		score, scores := lastScore(g, r)
		successes := mapped(g.Runs, func(r *results.Record) string { return percent(lastSuccess(r)) })
		row := []string{g.Label, fmt.Sprint(len(g.Runs)), score, viz.Missing, viz.Missing, strings.Join(successes, ", ")}
		if i == 0 {
			first = scores
		} else {
			row[3] = differenceCell(scores, first, r)
			row[4] = stats.BootstrapTwo([][]float64{scores}, [][]float64{first}, stats.Improvement, comparisonReps, r).String()
		}
		t.Rows = append(t.Rows, row)
	}
	return t, cmp.Or(mapped(gs, results.Group.Check)...)
}

// diagnostic is a scalar of CERMIC's module with the title of its column.
type diagnostic struct{ title, scalar string }

// diagnostics are the scalars that explain how CERMIC's module works, in the order of its data flow.
var diagnostics = []diagnostic{
	{"std of s_t", "enc_std"}, {"KL / d_x", "kl"}, {"L_UB active", "upper_active"}, {"L_LB active", "lower_active"},
	{"std of f_n", "context_std"}, {"steps with f_{n−1}", "context_before"},
	{"γ_lo / its limit", "gamma_share"}, {"γ_hi", "gamma_hi"}, {"detector above chance", "detector_gain"},
	{"correction of h", "calib_mean"}, {"its std", "calib_std"}, {"decoder's error", "decoder_rmse"},
	{"σ_ψ", "decoder_std"}, {"r^i", "int_mean"}, {"std / mean of r^i", "int_variation"},
}

// Diagnostics shows the state of the module for each group of runs with CERMIC, over the last tenth of training: means
// over seeds.
func Diagnostics(gs []results.Group) viz.Table {
	t := viz.Table{Notes: []string{"Means over the last tenth of training and over seeds. " +
		"Active: the share of agent steps on which the loss is not zero. Corrections of h for L_UB are " +
		"in units of √Σ_Ψ, the decoder's error and σ_ψ in units of s_{t+1}'s standard deviation. Detector above " +
		"chance: its accuracy minus that of the constant answer. A dash: the memory has no such part."}}
	t.AddColumn("", mapped(gs, labelOf)...)
	addEnds(&t, gs, diagnostics)
	t.Rows = slices.DeleteFunc(t.Rows, func(row []string) bool {
		return !slices.ContainsFunc(row[1:], func(cell string) bool { return cell != viz.Missing })
	})
	return t
}

func labelOf(g results.Group) string { return g.Label }

// addEnds adds columns of scalars of CERMIC's module at the end of training.
func addEnds(t *viz.Table, gs []results.Group, scalars []diagnostic) {
	for _, s := range scalars {
		t.AddColumn(s.title, mapped(gs, func(g results.Group) string {
			return number(paper.AtEnd(g, "cermic/"+s.scalar))
		})...)
	}
}

// Mechanisms shows for each group of runs with CERMIC whether its memory and its calibration were active at the end
// of training. Values are means over the last tenth and over seeds. Claims about an inactive mechanism are not
// tested.
func Mechanisms(gs []results.Group) viz.Table {
	gs = slices.DeleteFunc(slices.Clone(gs), func(g results.Group) bool {
		return math.IsNaN(paper.AtEnd(g, "cermic/calib_std"))
	})
	t := viz.Table{Title: "Are memory and calibration active?",
		Notes: []string{fmt.Sprintf("Means over the last tenth of training and over seeds. By the labels: the share of "+
			"agent steps with an earlier sighting by the simulator's labels. Corrections are in units of √Σ_Ψ. "+
			"Active: steps with f_{n−1} at least %g and corrections with a standard deviation of at least %g. "+
			"A dash: not recorded, or no such part.", paper.LeastBefore, paper.LeastCalib)}}
	t.AddColumn("task", mapped(gs, func(g results.Group) string { return g.Runs[0].Task })...)
	t.AddColumn("", mapped(gs, labelOf)...)
	addEnds(&t, gs, []diagnostic{{"steps with f_{n−1}", "context_before"}, {"by the labels", "context_labels"},
		{"detector above chance", "detector_gain"}, {"γ_lo", "gamma_lo"}, {"γ_hi", "gamma_hi"},
		{"std of h's correction", "calib_std"}})
	t.AddColumn("active", mapped(gs, func(g results.Group) string {
		return map[bool]string{true: "no", false: "yes"}[paper.Idle(g)]
	})...)
	return t
}
