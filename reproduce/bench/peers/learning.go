// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"cermic/cermiclib/results"
	"cermic/cermiclib/results/export"
	"cermic/cermiclib/stats"
	"cermic/viz"

	"gonum.org/v1/plot/vg"
)

// LearningGroup trains BenchMARL's MAPPO on Balance of VMAS and on ours, with the settings of the recorded BenchMARL
// curves.
const LearningGroup = "learning"

// learningSides are the tasks of the comparison: names of the script, which are also those of files, and labels of
// curves.
var learningSides = []struct{ id, label string }{{"cermic", "Balance of cermic_envs"}, {"vmas", "Balance of VMAS"}}

// learningFile is where the curves of a side are kept.
func learningFile(root, side string) string {
	return filepath.Join(root, "envs", "python", "learning", side+".json.gz")
}

// learn trains what is missing, and writes the curves, the figure and the table.
func (m *Machine) learn(ctx context.Context, out io.Writer) error {
	if err := m.install(ctx, out, LearningGroup); err != nil {
		return err
	}
	for _, side := range learningSides {
		cmd := m.benchMARL.command(ctx, "-W", "ignore", "-c", script, "learn", side.id,
			filepath.Join(m.Root, Folder, "learning"), learningFile(m.Root, side.id))
		cmd.Env, cmd.Stderr = append(os.Environ(), "OMP_NUM_THREADS=1", "TQDM_DISABLE=1"), out
		said, err := output(cmd)
		if err != nil {
			return fmt.Errorf("BenchMARL's MAPPO on %s: %w", side.label, err)
		}
		fmt.Fprint(out, said)
	}
	return showLearning(out, m.Root)
}

// showLearning draws the kept curves and prints the table of them.
func showLearning(out io.Writer, root string) error {
	var series []viz.Series
	var runs [2][]*results.Record
	for i, side := range learningSides {
		data, err := os.ReadFile(learningFile(root, side.id))
		if err != nil {
			return err
		}
		if runs[i], err = export.Import(data); err != nil {
			return err
		}
		s := viz.Evals(results.Groups(runs[i]))[0]
		s.Label, s.Reference = side.label, i == 1
		series = append(series, s)
	}
	figure := viz.Figure{Title: "BenchMARL's MAPPO on Balance, dense reward", X: "frames", Y: "mean return"}
	curves, err := viz.Curves(figure, series...)
	if err != nil {
		return err
	}
	file := filepath.Join(root, "envs", "python", "learning.png")
	if err := viz.Write(file, curves, 18*vg.Centimeter, 10*vg.Centimeter); err != nil {
		return err
	}
	for k := range runs[0][0].Evals {
		fmt.Fprintln(out, learningRow(runs[0], runs[1], k))
	}
	return nil
}

// learningRow is a row of the table: the k-th evaluation of two sides, mean returns over runs with intervals of
// Student's t, their difference with Welch's, and whether each mean lies in the other's interval.
func learningRow(here, there []*results.Record, k int) string {
	at := func(runs []*results.Record) (means []float64) {
		for _, r := range runs {
			means = append(means, r.Evals[k].Score())
		}
		return means
	}
	text := func(i stats.Interval) string {
		return strings.ReplaceAll(fmt.Sprintf("%.1f [%.1f, %.1f]", i.Value, i.Low, i.High), "-", "−")
	}
	a, b, agree := stats.Student(at(here)), stats.Student(at(there)), "yes"
	if b.Excludes(a.Value) || a.Excludes(b.Value) {
		agree = "no"
	}
	difference := stats.Welch(at(here), at(there))
	return fmt.Sprintf("| %d | %s | %s | %s | %s |", here[0].Evals[k].Frames, text(a), text(b), text(difference), agree)
}
