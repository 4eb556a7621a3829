// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/results"
	"cermic/cermiclib/results/export"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
	"cermic/viz"
)

func resultsCommand() *cobra.Command {
	var store string
	var write bool
	cmd := &cobra.Command{
		Use:   "results",
		Short: "Print every complete run beside random play, BenchMARL and the paper",
		Args:  arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if write {
				if err := only(cmd, "-write", "write"); err != nil {
					return err
				}
				anchors, err := plan.PlayAnchors()
				if err == nil {
					err = results.WriteFile(plan.AnchorsFile, anchors)
				}
				if err != nil {
					return err
				}
				return writeGenerated(resultsFile, resultsPage)
			}
			st, err := readStore(store)
			if err != nil {
				return err
			}
			text, err := resultsPage(st)
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
	storeFlag(cmd.Flags(), &store)
	cmd.Flags().BoolVar(&write, "write", false, "write "+resultsFile+" from the committed records, and the scores of random and scripted play")
	return cmd
}

const resultsHead = `# Results

Generated from the committed records by ` + "`go run ./reproduce results -write`" + `; a test keeps it current. ` + "`go run ./reproduce results`" + ` includes your own runs.
What the records say of the paper's claims: [CLAIMS.md](CLAIMS.md). Curves, intervals and films: [notebooks](../notebooks/README.md).

Each line is one experiment: the score of the last evaluation (mean over its episodes) of each seed or, of more than five seeds, the mean with its bootstrap 95 %%
interval; the share of its episodes that succeed; seeds × frames. Evaluations take the most likely actions, at budget explore sampled ones, and score by the benchmark's own
metric, whatever the reward of training. Random play and the hand-written script of each task give the scale; BenchMARL's lines are its recorded runs with the
same settings; published numbers are the paper's, after 3,000,000 frames with Table 1's reward. A method that is missing has no committed run of its present program.
Methods that end in -ucb or -st have CERMIC's module with a bonus of ours: they fill no row of the paper's tables and decide none of its claims.
† counts runs that cannot be rebuilt from the commit in their record, because none is named, it is not in the history, or files were changed: %d of %d.
`

// resultNotes explain the scores of a family.
var resultNotes = map[string]string{
	"meltingpot": "There are two scores, both mean over players: the return of whole episodes, and that of their first 100 steps, which BenchMARL counts by default. " +
		"The paper does not say which it prints, so the last column may compare with either. A dash: these runs did not note it; `evaluate ID -set task.score=mean100` scores " +
		"a run that has its weights so.",
	"explore": "A success here is an episode that solves the task; tasks and budget are not the paper's.",
}

// resultsPage is the text of resultsFile.
func resultsPage(st *results.Store) (string, error) {
	all, err := st.Find(results.Query{Complete: true})
	if err != nil {
		return "", err
	}
	of := map[string][]*results.Record{}
	for _, r := range all {
		of[r.Task] = append(of[r.Task], r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, resultsHead, unbuildable(all), len(all))
	b.WriteString(stats.Caution + "\n")
	var families []string
	for _, t := range plan.Tasks() {
		if f := path.Dir(t.ID); len(of[t.ID]) > 0 && !slices.Contains(families, f) {
			families = append(families, f)
		}
	}
	for _, family := range families {
		fmt.Fprintf(&b, "\n## %s\n", family)
		if note := resultNotes[family]; note != "" {
			fmt.Fprintf(&b, "\n%s\n", note)
		}
		for _, t := range plan.Tasks() {
			if len(of[t.ID]) == 0 || path.Dir(t.ID) != family {
				continue
			}
			table, err := taskResults(t, of[t.ID])
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "\n### %s\n\n%s", path.Base(t.ID), table.Markdown())
		}
	}
	return b.String(), nil
}

// taskResults has a line for random play, for the script, for each experiment on a task, and for BenchMARL's runs.
func taskResults(t paper.Task, rs []*results.Record) (viz.Table, error) {
	random, script, episodes, err := plan.Anchors(t.ID)
	if err != nil {
		return viz.Table{}, err
	}
	firstRandom, firstScript, steps, err := plan.FirstAnchors(t.ID)
	if err != nil {
		return viz.Table{}, err
	}
	out := viz.Table{Header: []string{"method", "reward", "budget", "score (" + plan.Score(t) + ")", "success, %", "seeds × frames", "published"}}
	const at = 4 // the column of the first steps
	if steps > 0 {
		out.Header = slices.Insert(out.Header, at, fmt.Sprintf("first %d steps", steps))
	}
	add := func(row []string, first string) {
		if steps > 0 {
			row = slices.Insert(row, at, first)
		}
		out.Rows = append(out.Rows, row)
	}
	count := fmt.Sprintf("%d episodes", episodes)
	add([]string{"random play", "", "", short(random), "", count, ""}, short(firstRandom))
	if !math.IsNaN(script) {
		add([]string{"script", "", "", short(script), "", count, ""}, short(firstScript))
	}
	for _, g := range plan.Groups(rs, "task.reward") {
		row, err := resultRow(t, g)
		if err != nil {
			return out, err
		}
		if n := unbuildable(g.Runs); n > 0 {
			row[5] += fmt.Sprintf(", %d†", n)
		}
		add(row, firstSteps(g))
	}
	for _, learner := range []string{"mappo", "qmix"} {
		recorded, err := export.BenchMARL(learner, t.ID)
		if err != nil {
			continue // most tasks have none
		}
		row, err := resultRow(t, results.Group{Label: "BenchMARL " + learner, Runs: recorded})
		if err != nil {
			return out, err
		}
		row[1] = "dense"
		add(row, viz.Missing)
	}
	return out, nil
}

// unbuildable counts the runs that cannot be rebuilt from the commit that they name.
func unbuildable(rs []*results.Record) (n int) {
	for _, r := range rs {
		if !records.Rebuildable(r.Host) {
			n++
		}
	}
	return n
}

// lastEval is the last evaluation of a run, empty before the first.
func lastEval(r *results.Record) results.Eval {
	if len(r.Evals) == 0 {
		return results.Eval{}
	}
	return r.Evals[len(r.Evals)-1]
}

// firstSteps are the scores over an episode's first steps, a dash if some run did not record them.
func firstSteps(g results.Group) string {
	var x []float64
	for _, r := range g.Runs {
		early := lastEval(r).Early
		if len(early) == 0 {
			return viz.Missing
		}
		x = append(x, stat.Mean(early, nil))
	}
	return seeds(x)
}

// resultRow is the line of an experiment.
func resultRow(t paper.Task, g results.Group) ([]string, error) {
	scores, err := g.Scores()
	if err != nil {
		return nil, err
	}
	r := g.Runs[0]
	reward := paper.Setting(r.Experiment, "task.reward")
	label := strings.NewReplacer(" task.reward="+reward, "", " budget.name="+r.Budget, "").Replace(g.Label) // these have columns
	row := []string{label, reward, r.Budget, seeds(scores), successes(g), fmt.Sprintf("%d × %s", len(scores), viz.Short(float64(r.Frames))), ""}
	starred := map[bool]string{true: "sparse", false: "dense"}[t.Star]
	if p, ok := paper.Sota.Published(t.ID, label); ok && reward == starred {
		row[6] = p
	}
	return row, nil
}

// seeds lists up to five scores; of more it gives the mean and its interval.
func seeds(x []float64) string {
	if len(x) > 5 {
		i := stats.Bootstrap([][]float64{x}, stats.Mean, 2000, rng.New(0, "reproduce/results"))
		return fmt.Sprintf("%s [%s, %s]", short(i.Value), short(i.Low), short(i.High))
	}
	return list(x)
}

// successes are the success rates of the last evaluations in percent, of more than five seeds the range; empty if the
// task has no success.
func successes(g results.Group) string {
	var x []float64
	for _, r := range g.Runs {
		if success := lastEval(r).Success; len(success) > 0 {
			x = append(x, math.Round(100*stat.Mean(success, nil)))
		}
	}
	if len(x) > 5 {
		return fmt.Sprintf("%.0f to %.0f", slices.Min(x), slices.Max(x))
	}
	return list(x)
}

func list(x []float64) string {
	var out []string
	for _, v := range x {
		out = append(out, short(v))
	}
	return strings.Join(out, ", ")
}

// short writes three significant digits, and whole numbers in full.
func short(x float64) string {
	if math.Abs(x) >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
