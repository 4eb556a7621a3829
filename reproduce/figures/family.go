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
	rows, err := each(n.Worlds, func(w World) ([]string, error) {
		cfg, err := plan.World(w.Task)
		if err != nil {
			return nil, err
		}
		steps := viz.Missing
		cells, err := baselines(cfg, episodes, seed, func(p *scripted.Episodes) string {
			steps = fmt.Sprint(p.Horizon)
			if p.Success == nil {
				return viz.Missing
			}
			return fmt.Sprintf("%.3g %%", 100*stat.Mean(p.Success, nil))
		})
		return append([]string{worldLabel(w.Task), steps}, cells...), err
	})
	t.Rows = rows
	return t, err
}

// Family are the runs of st that branched off one another with front among them, and front itself. A record without a
// task has none.
func Family(st *results.Store, front *results.Record) ([]results.Group, error) {
	same, err := sameWorld(st, front)
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
	return plan.Groups(append(same, front)), nil
}

// Alike are all runs of st in the same world as front, with its reward and seed, and front itself.
func Alike(st *results.Store, front *results.Record) ([]results.Group, error) {
	same, err := sameWorld(st, front)
	if err != nil || front.Task == "" {
		return nil, err
	}
	return plan.Groups(append(same, front)), nil
}

// sameWorld are the runs of st with the task, its settings and the seed of front.
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
	return same, nil
}
