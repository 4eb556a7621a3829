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
	Missing     []experiment.Pretraining // to be run before the experiments with their weights can be listed, which need the hash, or trained
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
	for _, task := range tasks {
		if err := a.add(st, task, method, budget, seeds, set); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// add lists the experiments on one task.
func (a *PretrainingAxis) add(st *results.Store, task, method, budget string, seeds int, set []string) error {
	t := pretrainedTask{arms: arms{task: task, budget: budget, seeds: seeds}}
	ofTask := slices.DeleteFunc(slices.Clone(set), func(s string) bool { return !strings.HasPrefix(s, "task.") })
	if err := t.arms.add("mappo", "mappo", ofTask...); err != nil {
		return err
	}
	if err := t.arms.add("from scratch", method, set...); err != nil {
		return err
	}
	var err error
	if t.pre, err = plan.PretrainingOf(t.list[1].Experiments[0], budget); err != nil {
		return err
	}
	missing, err := t.addPretrained(st, method, set)
	if err != nil {
		return err
	}
	if missing {
		a.Missing = append(a.Missing, t.pre)
	}
	for k := len(t.list) - 1; k > 0; k-- { // all but MAPPO, which is only there for comparison
		a.Experiments = append(a.Experiments, t.list[k].Experiments...)
	}
	a.tasks = append(a.tasks, t)
	return nil
}

// addPretrained adds the arms that start from pre-trained weights, if these are known. missing reports that the weights have to be
// made: they are unknown, or known but elsewhere, and not all runs that start from them are complete.
func (t *pretrainedTask) addPretrained(st *results.Store, method string, set []string) (missing bool, err error) {
	made, err := t.pre.Find(st)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	starts := []string{memory.PretrainDetector, memory.PretrainFull}
	if _, graph := t.pre.Memory.(memory.DynamicGraph); !graph {
		starts = starts[1:]
	}
	here := made.Here(st)
	for _, start := range starts {
		if err := t.arms.add("pre-trained: "+start, method, slices.Concat(set, []string{"explore.memory.pretrained=" + made.Weights, "explore.memory.pretrain=" + start})...); err != nil {
			return false, err
		}
		arm := t.list[len(t.list)-1]
		done, err := arm.Complete(st)
		if err != nil {
			return false, err
		}
		missing = missing || !here && len(done.Runs) < len(arm.Experiments)
	}
	return missing, nil
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
