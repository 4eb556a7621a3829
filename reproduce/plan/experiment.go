// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cermic/cermiclib/conf"
	"cermic/cermiclib/learn"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/run"
	"cermic/envs"
	"cermic/envs/vmas"
	"cermic/reproduce/paper"
)

// Request asks for an experiment in words.
type Request struct {
	Task   string   // any spelling that FindTask knows
	Method string   // any spelling that FindMethod knows
	Budget string   // smoke, short or paper
	Frames int      // train at most as many, evaluated in tenths; 0: the whole budget
	Set    []string // changes of settings: "explore.alpha=0.5"
	Seed   uint64
}

// New makes the experiment. Starred tasks of the paper, and tasks that are not in it, are trained on the sparse reward;
// the others, which the paper calls originally sparse, on the benchmark's own.
//
// A part that a setting chooses, as explore=db does, is trained on the budget's schedule like those of the methods.
//
// The method's label is its name, followed by each setting that differs from its defaults at that budget: runs of equal
// label and budget differ in task and seed only. Parts that compose another method, or none, are named after the one that is
// nearest, whichever was asked for. A changed budget is called "custom".
func New(q Request) (run.Experiment, error) {
	task, err := FindTask(q.Task)
	if err != nil {
		return run.Experiment{}, err
	}
	method, err := FindMethod(q.Method)
	if err != nil {
		return run.Experiment{}, err
	}
	named, err := FindBudget(q.Budget)
	if err != nil {
		return run.Experiment{}, err
	}
	budget, err := named.On(task.ID)
	if err != nil {
		return run.Experiment{}, err
	}
	e, err := defaults(task, method, budget)
	if err != nil {
		return run.Experiment{}, err
	}
	if q.Frames > 0 && q.Frames < e.Budget.Frames { // schedules stay those of the whole budget, of which this is the beginning
		e.Budget.Frames, e.Budget.EvalEvery = q.Frames, max(1, q.Frames/10)
	}
	for _, assignment := range outerFirst(q.Set) {
		if err := allowed(assignment); err != nil {
			return run.Experiment{}, err
		}
		key, value, _ := strings.Cut(assignment, "=")
		if err := budget.set(&e, strings.TrimSpace(key), value); err != nil {
			return run.Experiment{}, err
		}
	}
	if e.Budget != budget.Budget {
		e.Budget.Name = CustomBudget
	}
	e.Seed = q.Seed
	if err := e.Validate(); err != nil {
		return run.Experiment{}, err
	}
	e.Method, err = title(e, task, method, budget)
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
	case key == "forks":
		return fmt.Errorf("-set forks: a run branches off another by -fork ID@FRAMES")
	}
	return nil
}

// defaults composes the method on the task at the budget.
func defaults(task Task, method Method, budget Budget) (run.Experiment, error) {
	cfg, err := envs.Default(task.ID)
	if err != nil {
		return run.Experiment{}, err
	}
	shared := cfg.Shared()
	shared.Reward = envs.Sparse
	if task.Paper && !task.Star {
		shared.Reward = envs.Dense
	}
	if t, ok := cfg.(discretiser); ok && method.Learner.Kind() == (learn.Q{}).Kind() {
		cfg = t.WithDiscrete(vmas.Product9)
	}
	e := run.Experiment{Task: cfg.WithShared(shared), Learner: method.Learner, Policy: method.Policy, Explore: method.Explore}
	budget.apply(&e)
	if method.Copies > 0 {
		shared.Copies = method.Copies
		e.Task, e.Learner = e.Task.WithShared(shared), method.Learner
	}
	return e, nil
}

// discretiser is a task of continuous actions that has a finite set for value learners.
type discretiser interface {
	WithDiscrete(vmas.Discrete) envs.Config
}

// title is the label of e after the method asked for, or if settings have replaced a part of that, after the one that is nearest.
func title(e run.Experiment, task Task, asked Method, budget Budget) (string, error) {
	if asked.composes(e) {
		return label(e, task, asked, budget)
	}
	if err := keepsPolicy(asked, e); err != nil {
		return "", err
	}
	return nearestLabel(e, task, budget)
}

// label names e after method and the settings in which it differs.
func label(e run.Experiment, task Task, method Method, budget Budget) (string, error) {
	if err := keepsPolicy(method, e); err != nil {
		return "", err
	}
	reference, err := defaults(task, method, budget)
	if err != nil {
		return "", err
	}
	changes, err := changes(e, reference, budget)
	name := paper.Label(method.ID, changes)
	if len(e.Forks) > 0 {
		name += " (" + e.History() + ")"
	}
	return name, err
}

// keepsPolicy refuses e if it has lost a policy that is the method's own, without which the method is another one.
func keepsPolicy(method Method, e run.Experiment) error {
	if method.Policy.Kind() == policy.DefaultMLP().Kind() || method.Policy.Kind() == e.Policy.Kind() {
		return nil
	}
	plain := "mappo"
	if mixer(e.Learner) != "" {
		plain = "qmix"
	}
	return fmt.Errorf("%s acts by a policy of its own, which policy=%s replaces: set policy.core=gru or mlp for another network inside that, or ask for %s",
		method.ID, e.Policy.Kind(), plain)
}

// changes lists the settings of e that differ from those of reference, as sorted assignments; settings inside a part of
// another kind are compared with that kind's defaults at the budget. Budget and seed have columns of their own and are left out.
func changes(e, reference run.Experiment, budget Budget) ([]string, error) {
	var out []string
	then := conf.Keys(reference)
	for _, kinds := range []bool{true, false} { // parts first: they decide which keys there are
		for _, now := range conf.Keys(e) {
			if (now.Kinds != nil) != kinds || strings.HasPrefix(now.Key, "budget.") || now.Key == "seed" || now.Key == "forks" {
				continue
			}
			if before, ok := find(then, now.Key); ok && before == now.Value {
				continue
			}
			out = append(out, now.Key+"="+now.Value)
			if err := budget.set(&reference, now.Key, now.Value); err != nil {
				return nil, err
			}
			then = conf.Keys(reference)
		}
	}
	slices.Sort(out)
	return out, nil
}

// find returns the value of key among keys.
func find(keys []conf.KeyDoc, key string) (string, bool) {
	i := slices.IndexFunc(keys, func(k conf.KeyDoc) bool { return k.Key == key })
	if i < 0 {
		return "", false
	}
	return keys[i].Value, true
}
