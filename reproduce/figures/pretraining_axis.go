// SPDX-License-Identifier: Apache-2.0

package figures

import (
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

// PretrainingAxis is a method with the graph memory on some tasks, over what its memory starts with.
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

// NewPretrainingAxis lists the experiments of a method with CERMIC on tasks: its memory, the graph unless set says
// otherwise, fully pre-trained, with a pre-trained detector only if it has one, and with random weights. All seeds of a
// task share one pre-training, of seed 1 and the usual size; at budget smoke of 4,000 frames and 2 epochs.
//
// paper:fig3  learning curves with and without a pre-trained intention memory
func NewPretrainingAxis(st *results.Store, tasks []string, method, budget string, seeds int, set ...string) (*PretrainingAxis, error) {
	a := &PretrainingAxis{store: st}
	if seeds < 1 {
		return nil, fmt.Errorf("%d seeds, want at least 1", seeds)
	}
	set = append([]string{"explore.memory=" + memory.DefaultGraph().Kind()}, set...)
	ofTask := slices.DeleteFunc(slices.Clone(set), func(s string) bool { return !strings.HasPrefix(s, "task.") })
	for _, task := range tasks {
		t := pretrainedTask{arms: arms{task: task, budget: budget, seeds: seeds}}
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

// addPretrained adds the arms that start from known weights. missing reports that the weights are elsewhere, and not all
// runs that start from them are complete.
func (t *pretrainedTask) addPretrained(st *results.Store, made *experiment.Pretrained, method string, set []string) (missing bool, err error) {
	starts := []string{memory.PretrainDetector, memory.PretrainFull}
	if _, graph := t.pre.Memory.(memory.DynamicGraph); !graph {
		starts = starts[1:]
	}
	for _, start := range starts {
		t.add("pre-trained: "+start, method,
			slices.Concat(set, []string{"explore.memory.pretrained=" + made.Weights, "explore.memory.pretrain=" + start})...)
	}
	if t.err != nil {
		return false, t.err
	}
	gs, err := complete(st, t.list[2:])
	for i, g := range gs {
		missing = missing || len(g.Runs) < len(t.list[2+i].Experiments)
	}
	return missing && !made.Here(st), err
}

// Quality lists what the pre-training of each task was worth.
func (a *PretrainingAxis) Quality() (viz.Table, error) {
	var list []experiment.Pretraining
	for _, t := range a.tasks {
		list = append(list, t.pre)
	}
	return TabulatePretraining(a.store, list)
}

// Curves draws a row a task with the runs that the store has complete, by what their memory started with, and MAPPO's
// beside them: evaluations and the return of training. A panel without runs stays empty.
func (a *PretrainingAxis) Curves(st *results.Store) (viz.Panels, error) {
	var list []taskRuns
	for _, t := range a.tasks {
		known, err := plan.FindTask(t.task)
		if err != nil {
			return viz.Panels{}, err
		}
		gs, err := complete(st, t.list)
		if err != nil {
			return viz.Panels{}, err
		}
		for i, g := range gs {
			if len(g.Runs) > 0 {
				gs[i].Method = plan.Groups(g.Runs[:1])[0].Method
			}
		}
		list = append(list, taskRuns{task: known, groups: gs})
	}
	return returnsOf(list...)
}
