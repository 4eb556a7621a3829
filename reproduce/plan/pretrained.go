// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/results"
	"cermic/cermiclib/run"
	"cermic/viz"
)

// PretrainingAxis is a method with the graph memory on some tasks, over what its memory starts with.
type PretrainingAxis struct {
	Missing     []Pretraining    // to be run before the experiments with their weights can be listed, which need the hash
	Experiments []run.Experiment // of a task those with pre-trained weights first, if the store has these
	tasks       []pretrainedTask
}

// pretrainedTask is one panel.
type pretrainedTask struct {
	name string
	pre  *Pretrained // nil: missing
	arms []arm       // by what the memory starts with
}

// NewPretrainingAxis lists the experiments of a method with CERMIC on tasks: its graph memory fully pre-trained, with a pre-trained
// detector only, and with random weights. All seeds of a task share one pre-training, of seed 1, on 100,000 frames and at most 20
// epochs; at budget smoke on 4,000 frames and 2.
//
// paper:fig3  learning curves with and without a pre-trained intention memory
func NewPretrainingAxis(st *results.Store, tasks []string, method, budget string, seeds int, set ...string) (*PretrainingAxis, error) {
	a := &PretrainingAxis{}
	if seeds < 1 {
		return nil, fmt.Errorf("%d seeds, want at least 1", seeds)
	}
	set = append([]string{"explore.memory=" + memory.DefaultGraph().Kind()}, set...)
	for _, task := range tasks {
		if err := a.add(st, task, method, budget, seeds, set); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// add lists the experiments on one task.
func (a *PretrainingAxis) add(st *results.Store, task, method, budget string, seeds int, set []string) error {
	t := pretrainedTask{name: task}
	grow := func(label, method string, set []string) error {
		es, err := Grid([]string{task}, []string{method}, budget, seeds, set...)
		t.arms = append(t.arms, arm{label, es})
		return err
	}
	ofTask := slices.DeleteFunc(slices.Clone(set), func(s string) bool { return !strings.HasPrefix(s, "task.") })
	if err := grow("mappo", "mappo", ofTask); err != nil {
		return err
	}
	if err := grow("from scratch", method, set); err != nil {
		return err
	}
	pre, err := pretrainingOf(t.arms[1].es[0], budget)
	if err != nil {
		return err
	}
	switch t.pre, err = pre.Find(st); {
	case errors.Is(err, fs.ErrNotExist):
		a.Missing = append(a.Missing, pre)
	case err != nil:
		return err
	default:
		for _, start := range []string{memory.PretrainDetector, memory.PretrainFull} {
			settings := slices.Concat(set, []string{"explore.memory.pretrained=" + t.pre.Weights, "explore.memory.pretrain=" + start})
			if err := grow("pre-trained: "+start, method, settings); err != nil {
				return err
			}
		}
	}
	for k := len(t.arms) - 1; k > 0; k-- { // all but MAPPO, which is only there for comparison
		a.Experiments = append(a.Experiments, t.arms[k].es...)
	}
	a.tasks = append(a.tasks, t)
	return nil
}

// pretrainingOf is the pre-training for the memory of e on its task.
func pretrainingOf(e run.Experiment, budget string) (Pretraining, error) {
	p := Pretraining{Task: e.Task, Frames: 100_000, Epochs: 20, Seed: 1}
	if budget == Budgets[0].Budget.Name {
		p.Frames, p.Epochs = 4000, 2
	}
	c, ok := e.Explore.(cermic.Config)
	if !ok {
		return p, fmt.Errorf("%s has no memory to pre-train: choose mappo-cermic or qmix-cermic", e.Label())
	}
	if p.Memory, ok = c.Memory.(memory.DynamicGraph); !ok {
		return p, fmt.Errorf("only the graph memory can be pre-trained: leave explore.memory=%s out", c.Memory.Kind())
	}
	return p, nil
}

// Quality lists what the pre-training of each task was worth.
func (a *PretrainingAxis) Quality() viz.Table {
	t := viz.Table{Title: "Pre-training, on held-out random play",
		Header: []string{"task", "weights", "pairs in sight", "detector: AUC", "edges: RMSE", "predicting the mean"},
		Notes:  []string{"AUC 0.5 is chance; edges in world half sizes over pairs in sight. A dash: not pre-trained here, or nothing to measure."}}
	for _, task := range a.tasks {
		row := []string{task.name, viz.Missing, viz.Missing, viz.Missing, viz.Missing, viz.Missing}
		if p := task.pre; p != nil {
			row = []string{task.name, p.Weights, fmt.Sprintf("%.1f %%", 100*p.Present), number(p.AUC), number(p.RMSE), number(p.Spread)}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Curves draws one panel a task with the runs that the store has complete, by what their memory started with, and MAPPO's beside
// them. A panel without runs stays empty.
func (a *PretrainingAxis) Curves(st *results.Store) (viz.Panels, error) {
	var plots []*plot.Plot
	for _, t := range a.tasks {
		var series []viz.Series
		for _, arm := range t.arms {
			records, err := arm.complete(st)
			if err != nil {
				return viz.Panels{}, err
			}
			series = append(series, append(viz.Evals(records), viz.Series{Label: arm.label})[0]) // an empty one keeps the others' colours
		}
		p, err := viz.Curves(viz.Figure{Title: path.Base(t.name), X: "frames", Y: "score"}, series...)
		if err != nil {
			return viz.Panels{}, err
		}
		plots = append(plots, p)
	}
	panels := viz.NewPanels(2, plots...)
	panels.Width, panels.Height = 4.6*vg.Inch, 2.8*vg.Inch
	return panels, nil
}
