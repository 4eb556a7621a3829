// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
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

// New is cermiclib.New, with the paper's names too. Starred tasks of the paper and tasks that are not in it have the
// sparse reward; the others, which the paper calls originally sparse, the benchmark's own.
func New(q Request) (experiment.Config, error) {
	task, err := FindTask(q.Task)
	if err != nil {
		return experiment.Config{}, err
	}
	method, err := FindMethod(q.Method)
	if err != nil {
		return experiment.Config{}, err
	}
	for _, assignment := range q.Set {
		if err := allowed(assignment); err != nil {
			return experiment.Config{}, err
		}
	}
	run, err := cermiclib.New(task.ID, method.ID, cermiclib.WithBudget(q.Budget), cermiclib.WithFrames(q.Frames),
		cermiclib.WithReward(usualReward(task)), cermiclib.WithSettings(q.Set...), cermiclib.WithSeed(q.Seed))
	return run.Config, err
}

// usualReward is the reward that the paper trains a task on.
func usualReward(task paper.Task) envs.Reward {
	if task.Published() && !task.Star {
		return envs.Dense
	}
	return envs.Sparse
}

// FindMethod returns the method that our name or the paper's means, in any case.
func FindMethod(name string) (cermiclib.Method, error) {
	if published, err := paper.FindMethod(name); err == nil {
		name = published.ID
	}
	return cermiclib.FindMethod(name)
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
		return fmt.Errorf("-set budget.name: budgets are chosen by -budget, and one that -set changes is called %s", cermiclib.CustomBudget)
	case key == "forks":
		return fmt.Errorf("-set forks: a run branches off another by -fork ID@FRAMES")
	}
	return nil
}
