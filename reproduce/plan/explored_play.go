// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/viz"
)

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
	return variant(task.ID, set...)
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

// Played says how often random and scripted play succeed on the tasks of the study.
func (x Explored) Played(episodes int, seed uint64) (viz.Table, error) {
	t := viz.Table{Header: []string{"task", "steps", "random play succeeds", "the script succeeds"},
		Notes: []string{fmt.Sprintf("Shares of %d episodes each.", episodes)}}
	for _, task := range x.Tasks {
		cfg, err := World(task)
		if err != nil {
			return t, err
		}
		row := []string{taskLabel(task), viz.Missing}
		for _, player := range []Player{Random, Scripted} {
			p, err := Play(cfg, player, episodes, seed)
			if err != nil {
				return t, err
			}
			cell := viz.Missing
			if p != nil {
				row[1] = fmt.Sprint(p.Horizon)
				if p.Success != nil {
					cell = fmt.Sprintf("%.3g %%", 100*stat.Mean(p.Success, nil))
				}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// Beside are the runs of st that branched off one another with front among them, and front itself. A record without a task has none.
func Beside(st *results.Store, front *results.Record) ([]results.Group, error) {
	same, err := alike(st, front)
	if err != nil || front.Task == "" {
		return nil, err
	}
	family := map[string]bool{front.ID: true}
	for grown := true; grown; {
		grown = false
		for _, r := range append(same, front) {
			parent, _ := r.Fork()
			if parent != "" && family[r.ID] != family[parent] {
				family[r.ID], family[parent], grown = true, true, true
			}
		}
	}
	same = slices.DeleteFunc(same, func(r *results.Record) bool { return !family[r.ID] })
	return Groups(append(same, front)), nil
}

// BesideAll are all runs of st in the same world as front, with its reward, budget and seed, and front itself.
func BesideAll(st *results.Store, front *results.Record) ([]results.Group, error) {
	same, err := alike(st, front)
	if err != nil || front.Task == "" {
		return nil, err
	}
	return Groups(append(same, front)), nil
}

// alike are the runs of st with the task, its settings, the budget and the seed of front.
func alike(st *results.Store, front *results.Record) ([]*results.Record, error) {
	if front.Task == "" {
		return nil, nil
	}
	all, err := st.Find(results.Query{Task: front.Task, Budget: front.Budget, Seeds: []uint64{front.Seed}})
	if err != nil {
		return nil, err
	}
	world := func(r *results.Record) map[string]string {
		values, _ := conf.Values(r.Experiment) // none of a run of another program, which is in no world of this one
		maps.DeleteFunc(values, func(key, _ string) bool { return !strings.HasPrefix(key, "task.") })
		return values
	}
	here := world(front)
	var same []*results.Record
	for _, r := range all {
		if maps.Equal(world(r), here) {
			same = append(same, r)
		}
	}
	return same, nil
}
