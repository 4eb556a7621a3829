// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/envs/scripted"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Baselines says how often random and scripted play succeed on the tasks of the study.
func (n Robustness) Baselines(episodes int, seed uint64) (viz.Table, error) {
	t := viz.Table{Header: []string{"task", "steps", "random play succeeds", "the script succeeds"},
		Notes: []string{fmt.Sprintf("Shares of %d episodes each.", episodes)}}
	for _, w := range n.Worlds {
		cfg, err := plan.World(w.Task)
		if err != nil {
			return t, err
		}
		row := []string{worldLabel(w.Task), viz.Missing, viz.Missing, viz.Missing}
		for i, policy := range []scripted.Policy{scripted.Random, scripted.Script} {
			p, err := scripted.Rollout(cfg, policy, episodes, seed)
			if err != nil {
				return t, err
			}
			if p != nil && p.Success != nil {
				row[1], row[2+i] = fmt.Sprint(p.Horizon), fmt.Sprintf("%.3g %%", 100*stat.Mean(p.Success, nil))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// Family are the runs of st that branched off one another with front among them, and front itself. A record without a
// task has none.
func Family(st *results.Store, front *results.Record) ([]results.Group, error) {
	same, err := sameWorld(st, front)
	family := map[string]bool{front.ID: true}
	for grown := true; grown; {
		grown = false
		for _, r := range same {
			parent, _ := r.Fork()
			if parent != "" && family[r.ID] != family[parent] {
				family[r.ID], family[parent], grown = true, true, true
			}
		}
	}
	same = slices.DeleteFunc(same, func(r *results.Record) bool { return !family[r.ID] })
	return plan.Groups(same), err
}

// Alike are all runs of st in the same world as front, with its reward and seed, and front itself.
func Alike(st *results.Store, front *results.Record) ([]results.Group, error) {
	same, err := sameWorld(st, front)
	return plan.Groups(same), err
}

// sameWorld are front and the runs of st with its task, the task's settings and its seed; none of a record without a
// task.
func sameWorld(st *results.Store, front *results.Record) ([]*results.Record, error) {
	if front.Task == "" {
		return nil, nil
	}
	all, err := st.Find(results.Query{Task: front.Task, Seeds: []uint64{front.Seed}})
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
	return append(same, front), nil
}
