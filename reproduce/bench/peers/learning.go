// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
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

// LearningGroup trains BenchMARL's MAPPO on Balance of VMAS and on ours, with the settings of the curves that results has recorded.
const LearningGroup = "learning"

// learningSeeds are trained on each side.
const learningSeeds = 3

// learningSides are the tasks of a comparison: what the script calls them, and the file of their curves.
var learningSides = []struct{ id, label string }{{"cermic", "Balance of cermic_envs"}, {"vmas", "Balance of VMAS"}}

// learningFile is where the curves of a side are kept.
func learningFile(root, side string) string {
	return filepath.Join(root, "envs", "python", "learning", side+".json.gz")
}

// learn trains what is missing, a run at a time, and writes the curves, the figure and the table.
func (m *Machine) learn(ctx context.Context, out io.Writer) error {
	if err := m.install(ctx, out, true, false); err != nil {
		return err
	}
	runs := map[string][]json.RawMessage{}
	for seed := 1; seed <= learningSeeds; seed++ {
		for _, side := range learningSides {
			run, err := m.learned(ctx, out, filepath.Join(m.Root, Folder, "learning"), side.id, seed)
			if err != nil {
				return err
			}
			runs[side.id] = append(runs[side.id], run)
		}
	}
	for _, side := range learningSides {
		if err := writeCurves(learningFile(m.Root, side.id), runs[side.id]); err != nil {
			return err
		}
	}
	return showLearning(out, m.Root)
}

// learned is the JSON of one run: of its file in dir, or trained now and kept there.
func (m *Machine) learned(ctx context.Context, out io.Writer, dir, side string, seed int) (json.RawMessage, error) {
	file := filepath.Join(dir, fmt.Sprintf("mappo-balance-%s-%d.json", side, seed))
	if text, err := os.ReadFile(file); err == nil {
		return bytes.TrimSpace(text), nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	text, err := m.benchMARL.Learn(ctx, side, seed, out)
	if err != nil {
		return nil, fmt.Errorf("BenchMARL's MAPPO on %s, seed %d: %w", side, seed, err)
	}
	return bytes.TrimSpace(text), results.WriteFile(file, text)
}

// writeCurves keeps runs in the form of recorded curves, which curves -with draws.
func writeCurves(file string, runs []json.RawMessage) error {
	text, err := json.Marshal(map[string]any{"schema": "benchmarl-curves/1", "algorithm": "mappo", "task": "balance", "reward": "dense", "runs": runs})
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(text); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return results.WriteFile(file, packed.Bytes())
}

// learning are the kept curves of a side, and the processor seconds of its parts, mean over runs.
func learning(root, side string) (runs []*results.Record, seconds map[string]float64, err error) {
	data, err := os.ReadFile(learningFile(root, side))
	if err != nil {
		return nil, nil, err
	}
	if runs, err = export.Import(data); err != nil {
		return nil, nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	var kept struct {
		Runs []struct {
			Seconds map[string]float64 `json:"processor_seconds"`
		} `json:"runs"`
	}
	if err := json.NewDecoder(z).Decode(&kept); err != nil {
		return nil, nil, err
	}
	seconds = map[string]float64{}
	for _, r := range kept.Runs {
		for part, s := range r.Seconds {
			seconds[part] += s / float64(len(kept.Runs))
		}
	}
	return runs, seconds, nil
}

// showLearning draws the kept curves and prints the table of them.
func showLearning(out io.Writer, root string) error {
	var series []viz.Series
	var runs [2][]*results.Record
	var seconds [2]map[string]float64
	for i, side := range learningSides {
		var err error
		if runs[i], seconds[i], err = learning(root, side.id); err != nil {
			return err
		}
		s := viz.Evals(results.Groups(runs[i]))[0]
		s.Label, s.Reference = side.label, i == 1
		series = append(series, s)
	}
	file := filepath.Join(root, "envs", "python", "learning.png")
	curves, err := viz.Curves(viz.Figure{Title: "BenchMARL's MAPPO on Balance, dense reward", X: "frames", Y: "mean return"}, series...)
	if err != nil {
		return err
	}
	if err := viz.Write(file, curves, 18*vg.Centimeter, 10*vg.Centimeter); err != nil {
		return err
	}
	for _, c := range compareLearning(runs[0], runs[1]) {
		fmt.Fprintln(out, c.row())
	}
	for _, part := range []string{"collection", "training", "evaluation"} {
		a, b := seconds[0][part], seconds[1][part]
		fmt.Fprintf(out, "| %s, processor seconds a run | %.3g | %.3g | %.3g × |\n", part, a, b, b/a)
	}
	return nil
}

// compared is one evaluation of two sides: their mean returns over runs with intervals of Student's t, and that of the difference.
type compared struct {
	frames              int
	here, there, differ stats.Interval
}

// within says whether each mean lies in the other's interval.
func (c compared) within() bool {
	return !c.there.Excludes(c.here.Value) && !c.here.Excludes(c.there.Value)
}

// row is a line of the table.
func (c compared) row() string {
	side := func(i stats.Interval) string {
		return strings.ReplaceAll(fmt.Sprintf("%.1f [%.1f, %.1f]", i.Value, i.Low, i.High), "-", "−")
	}
	verdict := "no"
	if c.within() {
		verdict = "yes"
	}
	return fmt.Sprintf("| %d | %s | %s | %s | %s |", c.frames, side(c.here), side(c.there), side(c.differ), verdict)
}

// compareLearning takes the evaluations of two sides one by one.
func compareLearning(here, there []*results.Record) (out []compared) {
	at := func(runs []*results.Record, k int) (means []float64) {
		for _, r := range runs {
			means = append(means, r.Evals[k].Score())
		}
		return means
	}
	for k, e := range here[0].Evals {
		a, b := at(here, k), at(there, k)
		out = append(out, compared{e.Frames, stats.Student(a), stats.Student(b), stats.Welch(a, b)})
	}
	return out
}
