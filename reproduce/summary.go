// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"cermic/cermiclib/results"
	"cermic/cermiclib/run"
	"cermic/envs"
	"cermic/reproduce/paper"
	"cermic/viz"

	"gonum.org/v1/gonum/stat"
)

// summarise prints the outcome of es, seeds of one method on one task together, and everything that a reader must know
// to judge it.
func summarise(out io.Writer, es []run.Experiment, st *results.Store) error {
	for len(es) > 0 {
		first := es[0]
		same := func(e run.Experiment) bool {
			return e.Task.Kind() == first.Task.Kind() && e.Label() == first.Label() && e.Budget == first.Budget
		}
		var records []*results.Record
		for _, e := range es {
			if !same(e) {
				continue
			}
			id, err := e.ID()
			if err != nil {
				return err
			}
			r, err := st.Get(id)
			if err != nil {
				return err
			}
			records = append(records, r)
		}
		es = slices.DeleteFunc(es, same)
		if err := printOutcome(out, first, records); err != nil {
			return err
		}
	}
	return nil
}

// printOutcome prints the last evaluation of every seed of e, and the conditions under which it was reached.
func printOutcome(out io.Writer, e run.Experiment, records []*results.Record) error {
	var scores, early, success []float64
	groups := map[string][]float64{}
	var each []string
	for _, r := range records {
		last := r.Evals[len(r.Evals)-1]
		scores, early, success = append(scores, last.Score()), append(early, last.Early...), append(success, last.Success...)
		each = append(each, fmt.Sprintf("%.4g", last.Score()))
		for name, returns := range last.Groups {
			groups[name] = append(groups[name], returns...)
		}
	}
	env, err := e.Task.Build(1, 1)
	if err != nil {
		return err
	}
	spec := env.Spec()
	fmt.Fprintf(out, "\n%s  %s\n", e.Task.Kind(), e.Label())
	fmt.Fprintf(out, "  score      %.4g %s, %s (%s) of %d episodes\n", stat.Mean(scores, nil), spec.Metric, plural(len(scores), "seed"),
		strings.Join(each, " "), e.Budget.EvalEpisodes)
	printBeside(out, spec, early, success, groups)
	fmt.Fprintf(out, "  trained    budget %s, %s frames, preset %s\n", e.Budget.Name, viz.Short(float64(records[0].Frames)), paper.Preset(e.Label()))
	fmt.Fprintf(out, "  reward     %s\n", rewardMode(e.Task.Shared().Reward, spec))
	for _, d := range paper.Deviations(records[0].Experiment) {
		fmt.Fprintf(out, "  departs in %s\n", d)
	}
	return nil
}

// printBeside prints what evaluations note of episodes beside their scores, where the task has it.
func printBeside(out io.Writer, spec *envs.Spec, early, success []float64, groups map[string][]float64) {
	for _, g := range spec.Groups {
		fmt.Fprintf(out, "  %-10s %.4g\n", g.Name, stat.Mean(groups[g.Name], nil))
	}
	if len(early) > 0 {
		fmt.Fprintf(out, "  early      %.4g in the first %d steps\n", stat.Mean(early, nil), spec.Early)
	}
	if len(success) > 0 {
		fmt.Fprintf(out, "  success    %.0f %% of episodes\n", 100*stat.Mean(success, nil))
	}
}

// rewardMode says what was trained on and what is scored.
func rewardMode(reward envs.Reward, spec *envs.Spec) string {
	switch {
	case reward == envs.Dense && spec.Horizon != spec.EvalHorizon:
		return fmt.Sprintf("trained on the benchmark's own over %d steps, scored on the first %d of them", spec.Horizon, spec.EvalHorizon)
	case reward == envs.Dense:
		return fmt.Sprintf("trained and scored on the benchmark's own over %d steps", spec.EvalHorizon)
	}
	return fmt.Sprintf("trained on the sparse one over %d steps, scored on the benchmark's own over %d", spec.Horizon, spec.EvalHorizon)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
