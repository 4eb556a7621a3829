// SPDX-License-Identifier: Apache-2.0

// Package plan turns the paper's names into experiments: a task, a method and a budget make an experiment.Config; a table
// makes a list of them. Everything that the command line can do starts here, and a program or notebook can do the same.
package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"cermic/envs"
	"cermic/envs/conf"
	_ "cermic/envs/explore"    // registers its tasks
	_ "cermic/envs/meltingpot" // so does this
	_ "cermic/envs/smac"       // and this
	_ "cermic/envs/vmas"       // and this
	"cermic/reproduce/paper"
)

// Score names what episodes of the registered default of a task are scored by, in one or two words; it is empty if that cannot be built.
func Score(t paper.Task) string {
	cfg, err := envs.Default(t.ID)
	if err != nil {
		return ""
	}
	return Metric(cfg)
}

// Single is a task with one copy.
func Single(cfg envs.Config) envs.Config {
	shared := cfg.Shared()
	shared.NumEnvs = 1
	return cfg.WithShared(shared)
}

// Metric names what episodes of a task are scored by; it is empty if that cannot be built.
func Metric(cfg envs.Config) string {
	env, err := alone(cfg)
	if err != nil {
		return ""
	}
	defer envs.Close(env)
	return env.Spec().Metric
}

// Tasks are the registered tasks: those of the paper in its order, then others in alphabetical order.
func Tasks() []paper.Task {
	registered := envs.Names()
	var out []paper.Task
	for _, t := range paper.AllTasks() {
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

// abouts are one line for each task that the paper does not have.
var abouts = map[string]string{
	"explore/climbing":     "2 agents play one joint action of 3 × 3, the best of which is costly when one agent takes it alone",
	"explore/lock":         "2 agents open a combination lock by 8 correct joint pulls in a row",
	"explore/nonmonotonic": "2 agents play one joint action whose payoffs no monotonic mixer can represent",
	"explore/pass":         "2 agents pass a door that is open while one of them stands on a switch",
	"explore/penalty":      "2 agents play one joint action with two best pairs and a penalty for a mismatch",
	"explore/rooms":        "2 agents go through rooms whose doors open when both stand on switches at once",
	"explore/secret":       "2 agents find which of the small rooms is the secret one, opening doors for each other",
	"explore/two_step":     "2 agents play two steps, the first of which chooses between a safe game and a better one",
}

// FindTask accepts every spelling that the paper package does, and the names of other registered tasks, with or without their family.
func FindTask(name string) (paper.Task, error) {
	t, err := paper.FindTask(name)
	id := t.ID
	if err != nil {
		id = name
	}
	var known []string
	for _, t := range Tasks() {
		if t.ID == id || !t.Published() && path.Base(t.ID) == id {
			return t, nil
		}
		known = append(known, t.ID)
	}
	if err == nil {
		return paper.Task{}, fmt.Errorf("task %s is in the paper but not in this program yet; it has: %s", id, strings.Join(known, ", "))
	}
	return paper.Task{}, paper.UnknownTask(name, known)
}

// World composes a task with the settings behind its name: "explore/rooms task.tv=screen".
func World(world string) (envs.Config, error) {
	name, set := parted(world)
	task, err := FindTask(name)
	if err != nil {
		return nil, err
	}
	for i, s := range set {
		key, ok := strings.CutPrefix(s, "task.")
		if !ok {
			return nil, fmt.Errorf("%s: %q is no setting of a task; want one like task.tv=screen", world, s)
		}
		set[i] = key
	}
	return Variant(task.ID, set...)
}

// In is a request with the settings behind the name of its task among its own.
func In(q Request) Request {
	name, set := parted(q.Task)
	q.Task, q.Set = name, append(set, q.Set...)
	return q
}

// parted splits a name from the settings behind it.
func parted(world string) (name string, set []string) {
	fields := strings.Fields(world)
	if len(fields) == 0 {
		return "", nil
	}
	return fields[0], fields[1:]
}

// Variant is the default of a task with some settings changed, each "key=value".
func Variant(id string, set ...string) (envs.Config, error) {
	holder := struct {
		Task envs.Config `json:"task"`
	}{}
	var err error
	if holder.Task, err = envs.Default(id); err != nil {
		return nil, err
	}
	for _, assignment := range set {
		key, value, _ := strings.Cut(assignment, "=")
		if err := conf.Set(&holder, "task."+key, value); err != nil {
			return nil, err
		}
	}
	return holder.Task, nil
}

// alone builds one copy of a task.
func alone(cfg envs.Config) (envs.Env, error) {
	return Single(cfg).Build(1, 1)
}

// Rewarded is cfg with a reward, whose horizon is that of its episodes.
func Rewarded(cfg envs.Config, reward envs.Reward) envs.Config {
	shared := cfg.Shared()
	shared.Reward = reward
	return cfg.WithShared(shared)
}

// OneReward reports whether a task's sparse reward is its dense one, because it has no success: Simple Adversary, Ball Trajectory, Melting Pot.
func OneReward(task string) bool {
	cfg, err := envs.Default(task)
	if err != nil {
		return false
	}
	env, err := Single(cfg).Build(1, 1)
	if err != nil {
		return false
	}
	defer envs.Close(env)
	return !env.Spec().HasSuccess()
}
