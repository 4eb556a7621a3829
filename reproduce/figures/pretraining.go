// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// PretrainingAxis is a method with the graph memory on some tasks, over the initial weights of its memory.
type PretrainingAxis struct {
	Missing     []experiment.Pretraining // to be run first: experiments are named by the hash of the weights
	Experiments []experiment.Config      // of a task those with pre-trained weights first, if their hash is known
	tasks       []pretrainedTask
	store       *results.Store
}

// pretrainedTask is one panel.
type pretrainedTask struct {
	arms // by what the memory starts with
	pre  experiment.Pretraining
}

// NewPretrainingAxis lists the experiments of a method with CERMIC on tasks. Its memory is the graph unless set says
// otherwise. It is fully pre-trained, pre-trained in its detector alone (if it has one), or random. All seeds of a
// task share one pre-training, with seed 1 and the usual size; at budget smoke it has 4,000 frames and 2 epochs.
//
// paper:fig3  learning curves with and without a pre-trained intention memory
func NewPretrainingAxis(st *results.Store, tasks []string, method, budget string, seeds int,
	set ...string) (*PretrainingAxis, error) {
	a := &PretrainingAxis{store: st}
	if seeds < 1 {
		return nil, fmt.Errorf("%d seeds, want at least 1", seeds)
	}
	set = append([]string{"explore.memory=" + memory.DefaultGraph().Kind()}, set...)
	ofTask := slices.DeleteFunc(slices.Clone(set), func(s string) bool { return !strings.HasPrefix(s, "task.") })
	for _, task := range tasks {
		t := pretrainedTask{arms: arms{task: task, budget: budget, first: 1, seeds: seeds}}
		t.add("mappo", "mappo", ofTask...)
		t.add("from scratch", method, set...)
		if t.err != nil {
			return nil, t.err
		}
		var err error
		if t.pre, err = plan.PretrainingOf(t.list[1].Experiments[0], budget); err != nil {
			return nil, err
		}
		missing := true
		made, err := t.pre.Find(st)
		if err == nil {
			missing, err = t.addPretrained(st, made, method, set)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if missing {
			a.Missing = append(a.Missing, t.pre)
		}
		for _, arm := range slices.Backward(t.list[1:]) { // all but MAPPO, which is only there for comparison
			a.Experiments = append(a.Experiments, arm.Experiments...)
		}
		a.tasks = append(a.tasks, t)
	}
	return a, nil
}

// addPretrained adds the arms that start from known weights. missing: these are needed, but elsewhere.
func (t *pretrainedTask) addPretrained(st *results.Store, made *experiment.Pretrained, method string, set []string) (
	missing bool, err error) {
	starts := []string{memory.PretrainDetector, memory.PretrainFull}
	if _, graph := t.pre.Memory.(memory.DynamicGraph); !graph {
		starts = starts[1:]
	}
	for _, start := range starts {
		t.add("pre-trained: "+start, method,
			slices.Concat(set, []string{"explore.memory.pretrained=" + made.Weights, "explore.memory.pretrain=" + start})...)
	}
	gs, err := t.complete(st)
	for i, g := range gs {
		missing = missing || i > 1 && len(g.Runs) < len(t.list[i].Experiments)
	}
	return missing && !made.Here(st), err
}

// Quality lists the quality of the pre-training on each task.
func (a *PretrainingAxis) Quality() (viz.Table, error) {
	list := mapped(a.tasks, func(t pretrainedTask) experiment.Pretraining { return t.pre })
	return TabulatePretraining(a.store, list)
}

// Curves draws the complete runs in the store, one row per task, by the initial weights of their memory, with MAPPO's
// beside them. Each row shows evaluations and the return of training. A panel without runs stays empty.
func (a *PretrainingAxis) Curves(st *results.Store) (viz.Panels, error) {
	list, err := each(a.tasks, func(t pretrainedTask) (taskRuns, error) {
		known, unknown := plan.FindTask(t.task)
		gs, err := t.complete(st)
		for i, g := range gs {
			if len(g.Runs) > 0 {
				gs[i].Method = plan.Groups(g.Runs[:1])[0].Method
			}
		}
		return taskRuns{task: known, groups: gs}, cmp.Or(unknown, err)
	})
	if err != nil {
		return viz.Panels{}, err
	}
	return returnsOf(list...)
}

// ReportFrames are the sizes of pre-training that a report uses, the best first: the usual one, and smaller ones for
// slow tasks or machines.
var ReportFrames = []int{plan.PretrainFrames, 20_000, 5000, 3000}

// PretrainingReport tabulates the benefit of pre-training a memory of the given kind, with default settings, on every
// task. It uses the first of ReportFrames that the store or the committed records have. Tasks without any are named
// in a note.
func PretrainingReport(st *results.Store, kind string) (viz.Table, error) {
	var done []experiment.Pretraining
	var open []string
	for _, task := range plan.Tasks() {
		p, err := plan.NewPretraining(task.ID, kind)
		if err != nil {
			return viz.Table{}, err
		}
		known := slices.IndexFunc(ReportFrames, func(frames int) bool {
			p.Frames = frames
			_, err := p.Find(st)
			return !errors.Is(err, fs.ErrNotExist) // the table names another error
		})
		if known < 0 {
			open = append(open, task.ID)
		} else {
			done = append(done, p)
		}
	}
	t, err := TabulatePretraining(st, done)
	if len(done) == 0 {
		t.Header, t.Notes = nil, nil // names of columns without a row say nothing
	}
	if len(open) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("Not pre-trained here: %s. "+
			"go run ./reproduce pretrain -memory %s -task all does it.", strings.Join(open, ", "), kind))
	}
	return t, err
}

// TabulatePretraining lists the quality of pre-trainings on held-out play. A pre-training that is in neither the store
// nor the records has dashes.
func TabulatePretraining(st *results.Store, list []experiment.Pretraining) (viz.Table, error) {
	t := viz.Table{Title: "Pre-training, on held-out random play",
		Header: []string{"task", "memory", "frames", "weights", "visible pairs",
			"detector: AUC", "positions: RMSE", "predicting the mean"}}
	var blind []string
	for _, p := range list {
		row := []string{p.Task.Kind(), p.Memory.Kind(), thousands(p.Frames),
			viz.Missing, viz.Missing, viz.Missing, viz.Missing, viz.Missing}
		switch made, err := p.Find(st); {
		case err == nil:
			copy(row[3:], []string{made.Weights, fmt.Sprintf("%.1f %%", 100*made.Present),
				number(made.AUC), number(made.RMSE), number(made.Spread)})
			if made.Blind() {
				blind = append(blind, p.Task.Kind())
			}
		case !errors.Is(err, fs.ErrNotExist):
			return t, err
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = []string{"AUC: the probability that a visible pair is ranked above an invisible one; 0.5 is chance. " +
		"Positions of visible peers, in world half sizes (on Melting Pot in units of 11 cells), beside the " +
		"error of always predicting their mean. A dash: not pre-trained here, or nothing to measure."}
	if len(blind) > 0 {
		t.Notes = append(t.Notes, memory.BlindNote+": "+strings.Join(blind, ", ")+".")
	}
	return t, nil
}
