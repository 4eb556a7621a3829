// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
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
	var write bool
	cmd := &cobra.Command{
		Use:   "results",
		Short: "Print every complete run beside random play, BenchMARL and the paper",
		RunE: onStore(readStore, func(cmd *cobra.Command, st *results.Store, _ []string) error {
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
			text, err := resultsPage(st)
			fmt.Fprint(cmd.OutOrStdout(), text)
			return err
		}),
	}
	storeFlag(cmd.Flags())
	cmd.Flags().BoolVar(&write, "write", false,
		"write "+resultsFile+" from the committed records, and the scores of random and scripted play")
	return cmd
}

// familyResults are the tables of a family of tasks.
type familyResults struct {
	Name  string
	Tasks []taskTable
}

type taskTable struct{ Name, Table string }

func resultsPage(st *results.Store) (string, error) {
	all, err := st.Find(results.Query{Complete: true})
	if err != nil {
		return "", err
	}
	runs := map[string][]*results.Record{}
	for _, r := range all {
		runs[r.Task] = append(runs[r.Task], r)
	}
	var families []familyResults
	for _, t := range plan.Tasks() {
		if len(runs[t.ID]) == 0 {
			continue
		}
		table, err := taskResults(t, runs[t.ID])
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(families, func(f familyResults) bool { return f.Name == path.Dir(t.ID) })
		if i < 0 {
			i, families = len(families), append(families, familyResults{Name: path.Dir(t.ID)})
		}
		families[i].Tasks = append(families[i].Tasks, taskTable{path.Base(t.ID), table.Markdown()})
	}
	return renderPage("results.md", struct {
		Runs, Unbuildable int
		Caution           string
		Families          []familyResults
	}{len(all), unbuildable(all), stats.Caution, families})
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
	out := viz.Table{Header: []string{
		"method", "reward", "budget", "score (" + plan.Score(t) + ")", fmt.Sprintf("first %d steps", steps), "success, %",
		"seeds × frames", "published",
	}}
	count := fmt.Sprintf("%d episodes", episodes)
	out.Rows = [][]string{{"random play", "", "", short(random), short(firstRandom), "", count, ""}}
	if !math.IsNaN(script) {
		out.Rows = append(out.Rows, []string{"script", "", "", short(script), short(firstScript), "", count, ""})
	}
	for _, g := range plan.Groups(rs, "task.reward") {
		row, err := resultRow(t, g)
		if err != nil {
			return out, err
		}
		if n := unbuildable(g.Runs); n > 0 {
			row[6] += fmt.Sprintf(", %d†", n)
		}
		out.Rows = append(out.Rows, row)
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
		out.Rows = append(out.Rows, row)
	}
	if steps == 0 {
		out.Header = slices.Delete(out.Header, 4, 5)
		for i, row := range out.Rows {
			out.Rows[i] = slices.Delete(row, 4, 5)
		}
	}
	return out, nil
}

func unbuildable(rs []*results.Record) (n int) {
	for _, r := range rs {
		if !records.Rebuildable(r.Host) {
			n++
		}
	}
	return n
}

// firstSteps are the scores over an episode's first steps, a dash if some run did not record them.
func firstSteps(g results.Group) string {
	var x []float64
	for _, r := range g.Runs {
		early := r.Last().Early
		if len(early) == 0 {
			return viz.Missing
		}
		x = append(x, stat.Mean(early, nil))
	}
	return seeds(x)
}

func resultRow(t paper.Task, g results.Group) ([]string, error) {
	scores, err := g.Scores()
	if err != nil {
		return nil, err
	}
	r := g.Runs[0]
	reward := paper.Setting(r.Experiment, "task.reward")
	// Reward and budget have columns of their own.
	label := strings.NewReplacer(" task.reward="+reward, "", " budget.name="+r.Budget, "").Replace(g.Label)
	published := ""
	if starred := reward == "sparse"; starred == t.Star {
		published = paper.Sota.Published(t.ID, label)
	}
	count := fmt.Sprintf("%d × %s", len(scores), viz.Short(float64(r.Frames)))
	return []string{label, reward, r.Budget, seeds(scores), firstSteps(g), successes(g), count, published}, nil
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
		if success := r.Last().Success; len(success) > 0 {
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
