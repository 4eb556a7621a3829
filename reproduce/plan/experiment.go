// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/reproduce/paper"
	"cermic/viz"
)

// Request describes an experiment in words.
type Request struct {
	Task   string   // any spelling that FindTask knows
	Method string   // any spelling that FindMethod knows
	Budget string   // smoke, demo, explore, short or paper
	Frames int      // train at most as many, evaluated in tenths; 0: the whole budget
	Set    []string // changes of settings: "explore.alpha=0.5"
	Seed   uint64
}

// New is cermiclib.New, with the paper's names too. Starred tasks of the paper and tasks that are not in it have the
// sparse reward. The others, which the paper calls originally sparse, have the benchmark's own.
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

// allowed returns an error of one sentence if an assignment is malformed, or if another flag sets its key.
func allowed(assignment string) error {
	key, value, ok := strings.Cut(assignment, "=")
	if !ok {
		return fmt.Errorf("-set %s: want key=value, for example explore.alpha=0.5", assignment)
	}
	if nextSetting.MatchString(value) {
		return fmt.Errorf("-set %s: settings are separated by spaces, as in -set explore.alpha=0.5 explore.memory=mlp",
			assignment)
	}
	key = strings.TrimSpace(key)
	if instead, ok := otherFlags[strings.TrimSuffix(key, ".kind")]; ok {
		return fmt.Errorf("-set %s: %s", key, instead)
	}
	return nil
}

// nextSetting finds a second assignment behind a comma.
var nextSetting = regexp.MustCompile(`, *[a-z_]+(\.[a-z_0-9]+)+=`)

// otherFlags name the flags for what -set does not change.
var otherFlags = map[string]string{
	"seed":        "seeds are counted by -seeds",
	"task":        "tasks are chosen by -task",
	"budget.name": "budgets are chosen by -budget, and one that -set changes is called " + cermiclib.CustomBudget,
	"forks":       "a run branches off another by -fork ID@FRAMES",
}

// Setting is one setting of an experiment with its default.
type Setting struct {
	conf.KeyDoc
	Default string // value without the changes; viz.Missing if the default part lacks it
	Changed bool
}

// SettingsOf lists the settings that -set can change in the experiment of q.
func SettingsOf(q Request) ([]Setting, error) {
	e, err := New(q)
	if err != nil {
		return nil, err
	}
	changes := q.Set
	q.Set = nil
	usual, err := New(q)
	if err != nil {
		return nil, err
	}
	before := conf.ByKey(usual)
	var out []Setting
	for _, k := range conf.Keys(e) {
		if _, other := otherFlags[k.Key]; other {
			continue
		}
		was, known := before[k.Key]
		if !known {
			was = viz.Missing
		}
		set := slices.ContainsFunc(changes, func(c string) bool { return strings.HasPrefix(c, k.Key+"=") })
		out = append(out, Setting{k, was, k.Value != was && (known || set)})
	}
	return out, nil
}

// Settings returns a searchable table of every setting of a method on Balance at budget "paper", with descriptions and
// bounds. Settings that the given changes move away from their defaults come first and are marked:
//
//	nb.Show(plan.Settings("mappo-cermic", "explore.alpha=0.5"))
func Settings(method string, changes ...string) (viz.Table, error) {
	q := Request{Task: "balance", Method: method, Budget: "paper", Set: changes}
	all, err := SettingsOf(q)
	if err != nil {
		return viz.Table{}, err
	}
	out := viz.Table{
		Title:  q.Method + " on " + q.Task + ", budget " + q.Budget,
		Header: []string{"setting", "value", "default", "what it is"}, Search: true,
	}
	for _, s := range all {
		if s.Changed {
			out.Marked = append(out.Marked, len(out.Rows))
			out.Rows = append(out.Rows, []string{s.Key, s.Value, s.Default, s.Sentence()})
		}
	}
	for _, s := range all {
		if !s.Changed {
			out.Rows = append(out.Rows, []string{s.Key, s.Value, "", s.Sentence()})
		}
	}
	return out, nil
}
