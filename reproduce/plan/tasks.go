// SPDX-License-Identifier: Apache-2.0

// Package plan turns the paper's names into experiments. A task, a method and a budget make an experiment.Config; a
// table of the paper makes a list of them. The package also labels stored runs and estimates the cost of training.
package plan

import (
	"slices"
	"strings"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/reproduce/paper"
)

// Score names the score of a task's episodes in one or two words; it is empty if the task cannot be built.
func Score(t paper.Task) string {
	spec, err := specOf(t.ID, envs.Sparse)
	if err != nil {
		return ""
	}
	return spec.Metric
}

// Tasks returns the registered tasks: the paper's in its order, then others in alphabetical order.
func Tasks() []paper.Task {
	registered := envs.Names()
	var out []paper.Task
	for _, t := range paper.AllTasks {
		if i := slices.Index(registered, t.ID); i >= 0 {
			out = append(out, t)
			registered = slices.Delete(registered, i, i+1)
		}
	}
	for _, id := range registered {
		out = append(out, paper.Task{Name: id, ID: id, About: abouts[id]})
	}
	return out
}

// abouts describe the tasks that the paper does not have.
var abouts = map[string]string{
	"explore/climbing": "2 agents play one joint action of 3 × 3, " +
		"the best of which is costly when one agent takes it alone",
	"explore/lock":         "2 agents open a combination lock by 8 correct joint pulls in a row",
	"explore/nonmonotonic": "2 agents play one joint action whose payoffs no monotonic mixer can represent",
	"explore/pass":         "2 agents pass a door that is open while one of them stands on a switch",
	"explore/penalty":      "2 agents play one joint action with two best pairs and a penalty for a mismatch",
	"explore/rooms":        "2 agents go through rooms whose doors open when both stand on switches at once",
	"explore/secret":       "2 agents find which of the small rooms is the secret one, opening doors for each other",
	"explore/two_step":     "2 agents play two steps, the first of which chooses between a safe game and a better one",
}

// FindTask returns the registered task that a name means; see [paper.Task.Is].
func FindTask(name string) (paper.Task, error) { return paper.FindTask(name, Tasks()) }

// World returns a task with the settings that follow its name: "explore/rooms task.tv=screen".
func World(world string) (envs.Config, error) {
	q := In(Request{Task: world})
	task, err := FindTask(q.Task)
	if err != nil {
		return nil, err
	}
	return Variant(task.ID, q.Set...)
}

// In moves the settings that follow the name of a request's task to its other settings.
func In(q Request) Request {
	if words := strings.Fields(q.Task); len(words) > 0 {
		q.Task, q.Set = words[0], append(words[1:], q.Set...)
	}
	return q
}

// Variant is the default of a task with some settings changed, each "task.key=value".
func Variant(id string, set ...string) (envs.Config, error) {
	task, err := envs.Default(id)
	if err != nil {
		return nil, err
	}
	changed := struct {
		Task envs.Config `json:"task"`
	}{task}
	for _, assignment := range set {
		key, value, _ := strings.Cut(assignment, "=")
		if err := conf.Set(&changed, key, value); err != nil {
			return nil, err
		}
	}
	return changed.Task, nil
}

// specOf returns the Spec of one environment of a registered task's default with a reward.
func specOf(task string, reward envs.Reward) (*envs.Spec, error) {
	cfg, err := envs.Default(task)
	if err != nil {
		return nil, err
	}
	return envs.SpecOf(Rewarded(cfg, reward))
}

// Rewarded returns cfg with a reward, which also decides the horizon of its episodes.
func Rewarded(cfg envs.Config, reward envs.Reward) envs.Config {
	shared := cfg.Shared()
	shared.Reward = reward
	return cfg.WithShared(shared)
}

// OneReward reports whether a task's sparse reward is its dense one because the task has no success: Simple Adversary,
// Ball Trajectory, Melting Pot.
func OneReward(task string) bool {
	spec, err := specOf(task, envs.Sparse)
	return err == nil && !spec.HasSuccess()
}
