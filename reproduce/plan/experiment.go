// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/learn"
	"cermic/envs"
	"cermic/reproduce/paper"
)

// Request asks for an experiment in words.
type Request struct {
	Task   string   // any spelling that FindTask knows
	Method string   // any spelling that FindMethod knows
	Budget string   // smoke, demo, explore, short or paper
	Frames int      // train at most as many, evaluated in tenths; 0: the whole budget
	Set    []string // changes of settings: "explore.alpha=0.5"
	Seed   uint64
}

// New makes the experiment. Starred tasks of the paper, and tasks that are not in it, are trained on the sparse reward;
// the others, which the paper calls originally sparse, on the benchmark's own.
//
// A part that a setting chooses, as explore=db does, is trained on the budget's schedule like those of the methods.
//
// The experiment's label is the method's name, followed by each setting that differs from its defaults at that budget.
// Parts that make up another method have that method's name. A changed budget is called "custom".
func New(q Request) (experiment.Config, error) {
	if q.Frames < 0 {
		return experiment.Config{}, fmt.Errorf("Request.Frames is %d, want a number of frames to train, or 0 for the whole budget", q.Frames)
	}
	task, err := FindTask(q.Task)
	if err != nil {
		return experiment.Config{}, err
	}
	method, err := FindMethod(q.Method)
	if err != nil {
		return experiment.Config{}, err
	}
	named, err := FindPreset(q.Budget)
	if err != nil {
		return experiment.Config{}, err
	}
	budget, err := named.On(task.ID)
	if err != nil {
		return experiment.Config{}, err
	}
	e, err := defaults(task, method, budget)
	if err != nil {
		return experiment.Config{}, err
	}
	if q.Frames > 0 && q.Frames < e.Budget.Frames { // schedules stay those of the whole budget, of which this is the beginning
		e.Budget.Frames, e.Budget.EvalEvery = q.Frames, max(1, q.Frames/10)
	}
	for _, assignment := range outerFirst(q.Set) {
		if err := allowed(assignment); err != nil {
			return experiment.Config{}, err
		}
		key, value, _ := strings.Cut(assignment, "=")
		if err := budget.set(&e, strings.TrimSpace(key), value); err != nil {
			return experiment.Config{}, err
		}
	}
	if e.Budget != budget.Budget {
		e.Budget.Name = CustomBudget
	}
	e.Seed = q.Seed
	if err := e.Validate(); err != nil {
		return experiment.Config{}, err
	}
	if err := keepsPolicy(method, e); err != nil && !method.composes(e) {
		return experiment.Config{}, err
	}
	if method, err = methodIn(method.ID, e); err != nil {
		return e, err
	}
	d, err := stored{e: e}.compare(method, budget)
	e.Method = d.label()
	return e, err
}

// outerFirst orders assignments so that what chooses a part, explore.memory=graph, comes before the settings of that part, and what
// makes a bonus fade before how long that takes; in labels they are in alphabetical order.
func outerFirst(assignments []string) []string {
	key := func(s string) string {
		key, _, _ := strings.Cut(s, "=")
		return strings.TrimSuffix(strings.TrimSpace(key), ".kind") // explore.kind=db is explore=db
	}
	return slices.SortedStableFunc(slices.Values(assignments), func(a, b string) int {
		return cmp.Or(strings.Count(key(a), ".")-strings.Count(key(b), "."), strings.Compare(key(a), key(b)))
	})
}

// allowed returns one sentence if an assignment is none, or if another flag is there for what it sets.
func allowed(assignment string) error {
	key, _, ok := strings.Cut(assignment, "=")
	key = strings.TrimSpace(key)
	switch {
	case !ok:
		return fmt.Errorf("-set %s: want key=value, for example explore.alpha=0.5", assignment)
	case key == "seed":
		return fmt.Errorf("-set seed: seeds are counted by -seeds")
	case key == "task" || key == "task.kind":
		return fmt.Errorf("-set %s: tasks are chosen by -task", key)
	case key == "budget.name":
		return fmt.Errorf("-set budget.name: budgets are chosen by -budget, and one that -set changes is called %s", CustomBudget)
	case key == "forks":
		return fmt.Errorf("-set forks: a run branches off another by -fork ID@FRAMES")
	}
	return nil
}

// defaults composes the method on the task at the budget.
func defaults(task paper.Task, method Method, budget Preset) (experiment.Config, error) {
	cfg, err := envs.Default(task.ID)
	if err != nil {
		return experiment.Config{}, err
	}
	shared := cfg.Shared()
	shared.Reward = envs.Sparse
	if task.Published() && !task.Star {
		shared.Reward = envs.Dense
	}
	if _, ok := method.Learner.(learn.ValueBased); ok {
		cfg = envs.Discretised(cfg)
	}
	e := experiment.Config{Task: cfg.WithShared(shared), Learner: method.Learner, Policy: method.Policy, Explore: method.Explore}
	budget.apply(&e)
	if method.NumEnvs > 0 {
		shared.NumEnvs = method.NumEnvs
		e.Task, e.Learner = e.Task.WithShared(shared), method.Learner
	}
	return e, nil
}
