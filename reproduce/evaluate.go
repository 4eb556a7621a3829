// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// summarize prints the outcome of each experiment over its seeds, and the conditions under which it was reached.
func summarize(out io.Writer, es []experiment.Config, st *results.Store) error {
	var records []*results.Record
	of := map[string]experiment.Config{}
	for _, e := range es {
		id, err := e.ID()
		if err != nil {
			return err
		}
		r, err := st.Get(id)
		if err != nil {
			return err
		}
		records, of[id] = append(records, r), e
	}
	for _, g := range plan.Groups(records) {
		if err := printOutcome(out, of[g.Runs[0].ID], g); err != nil {
			return err
		}
	}
	return nil
}

func printOutcome(out io.Writer, e experiment.Config, g results.Group) error {
	if err := g.Check(); err != nil {
		return err
	}
	var scores []float64
	var each []string
	all := results.Eval{Groups: map[string][]float64{}}
	for _, r := range g.Runs {
		last := r.Last()
		scores, each = append(scores, last.Score()), append(each, fmt.Sprintf("%.4g", last.Score()))
		all.Early, all.Success = append(all.Early, last.Early...), append(all.Success, last.Success...)
		for name, returns := range last.Groups {
			all.Groups[name] = append(all.Groups[name], returns...)
		}
	}
	spec, err := envs.SpecOf(e.Task)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s  %s\n", e.Task.Kind(), g.Label)
	fmt.Fprintf(out, "  score      %.4g %s, %s (%s) of %d episodes\n",
		stat.Mean(scores, nil), spec.Metric, viz.Count(len(scores), "seed"),
		strings.Join(each, " "), e.Budget.EvalEpisodes)
	printDetails(out, spec, all)
	fmt.Fprintf(out, "  trained    budget %s, %s frames, preset %s\n",
		e.Budget.Name, viz.Short(float64(g.Runs[0].Frames)), paper.Preset(g))
	fmt.Fprintf(out, "  reward     %s\n", rewardMode(e.Task.Shared().Reward, spec))
	for _, d := range paper.Deviations(g.Runs[0].Experiment) {
		fmt.Fprintf(out, "  departs in %s\n", d)
	}
	return nil
}

func printDetails(out io.Writer, spec *envs.Spec, e results.Eval) {
	for _, g := range spec.Groups {
		fmt.Fprintf(out, "  %-10s %.4g\n", g.Name, stat.Mean(e.Groups[g.Name], nil))
	}
	if len(e.Early) > 0 {
		fmt.Fprintf(out, "  early      %.4g in the first %d steps\n", stat.Mean(e.Early, nil), spec.Early)
	}
	if len(e.Success) > 0 {
		fmt.Fprintf(out, "  success    %.0f %% of episodes%s\n", 100*stat.Mean(e.Success, nil), tooShort(spec))
	}
}

// tooShort explains a success of 0 % on a task whose episodes are too short for one.
func tooShort(spec *envs.Spec) string {
	if spec.Horizon >= spec.SolvableIn {
		return ""
	}
	return fmt.Sprintf(": %d steps, the benchmark's own, are too few for one; with task.reward=sparse there are %d",
		spec.Horizon, spec.SolvableIn)
}

func rewardMode(reward envs.Reward, spec *envs.Spec) string {
	switch {
	case reward == envs.Dense && spec.Horizon != spec.EvalHorizon:
		return fmt.Sprintf("trained on the benchmark's own over %d steps, scored on the first %d of them",
			spec.Horizon, spec.EvalHorizon)
	case reward == envs.Dense:
		return fmt.Sprintf("trained and scored on the benchmark's own over %d steps", spec.EvalHorizon)
	}
	return fmt.Sprintf("trained on the sparse one over %d steps, scored on the benchmark's own over %d",
		spec.Horizon, spec.EvalHorizon)
}

// runIDs describes the argument of a command about a stored run.
const runIDs = "the ID of a run, or its beginning, which go run ./reproduce status prints"

func evaluateCommand() *cobra.Command {
	var set []string
	cmd := &cobra.Command{
		Use:     "evaluate ID",
		Short:   "Evaluate a trained run: with sampled actions, more episodes or another score",
		Example: "  evaluate 0123abcd\n  evaluate 0123abcd -set budget.sampled=true budget.eval_episodes=200",
		Args:    arguments(1, 1, runIDs),
		RunE: onStore(readStore, func(cmd *cobra.Command, st *results.Store, args []string) error {
			trained, as, err := plan.Evaluation(st, args[0], set)
			if err != nil {
				return usageError{err}
			}
			e, err := experiment.Evaluate(cmd.Context(), trained, as, st)
			if err != nil {
				return err
			}
			spec, err := envs.SpecOf(as.Task)
			if err != nil {
				return err
			}
			how := "greedy"
			if as.Budget.Sampled {
				how = "sampled"
			}
			precision := ""
			if n := float64(len(e.Scores)); n > 1 {
				precision = fmt.Sprintf(" (standard error %.2g)", stat.StdErr(stat.StdDev(e.Scores, nil), n))
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "%s  %s, seed %d, at %d frames: %d %s episodes\n",
				trained.Task.Kind(), trained.Label(), trained.Seed, e.Frames, len(e.Scores), how)
			fmt.Fprintf(out, "  score      %.4g %s%s\n", e.Score(), spec.Metric, precision)
			printDetails(out, spec, *e)
			return nil
		}),
	}
	setFlag(cmd.Flags(), &set)
	storeFlag(cmd.Flags())
	backendFlag(cmd.Flags())
	return cmd
}
