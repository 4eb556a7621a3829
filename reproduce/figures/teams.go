// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"errors"
	"fmt"
	"path"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/rng"
	"cermic/envs/scripted"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Teams is the contribution of each agent to a task, the score of an episode divided by the number of agents, for several team
// sizes: it separates the effect of the task from the effect of a method.
type Teams struct {
	Experiments []experiment.Config
	sizes       []int
	methods     []string
	arms        arms // its list [method × sizes]
}

// teamEpisodes is the number of episodes of random and of scripted play with each size of a team.
const teamEpisodes = 32

// TeamsOf lists the experiments of methods, at least one, on a task with each of the given numbers of agents; changes
// are as for DensityAxis.
func TeamsOf(task string, methods []string, budget string, seeds int, sizes []int, changes ...string) (*Teams, error) {
	if len(methods) == 0 {
		return nil, errors.New("teams are of one method or more: name them, for example mappo, with which the others are compared")
	}
	found, err := plan.FindTask(task)
	if err != nil {
		return nil, err
	}
	t := &Teams{sizes: sizes, methods: methods, arms: arms{task: found.ID, budget: budget, seeds: seeds}}
	for _, method := range methods {
		for _, n := range sizes {
			if err := t.arms.add(method, method, append([]string{fmt.Sprintf("task.n_agents=%d", n)}, ofCERMIC(method, changes)...)...); err != nil {
				return nil, err
			}
		}
	}
	t.Experiments, err = experiments(t.arms.list)
	return t, err
}

// contributions are the last scores of each seed divided by the number of agents, [method][size][seed].
func (t *Teams) contributions(st *results.Store) ([][][]float64, error) {
	gs, err := complete(st, t.arms.list)
	if err != nil {
		return nil, err
	}
	out := make([][][]float64, len(t.methods))
	for m := range out {
		for k, n := range t.sizes {
			scores, err := gs[m*len(t.sizes)+k].Scores()
			if err != nil {
				return nil, err
			}
			floats.Scale(1/float64(n), scores)
			out[m] = append(out[m], scores)
		}
	}
	return out, nil
}

// Plot draws a group of bars for each size of a team, one bar for each method.
func (t *Teams) Plot(st *results.Store) (*plot.Plot, error) {
	all, err := t.contributions(st)
	if err != nil {
		return nil, err
	}
	groups := make([]viz.Group, len(t.sizes))
	for k, n := range t.sizes {
		groups[k].Label = fmt.Sprint(n)
		for m, method := range t.methods {
			groups[k].Bars = append(groups[k].Bars, meanBar(method, all[m][k], rng.New(0, "figures/teams")))
		}
	}
	return viz.Bars(viz.Figure{Title: path.Base(t.arms.task), X: "number of agents", Y: "score ÷ number of agents"}, groups...)
}

// Table gives the numbers of the plot beside what agents contribute that play at random or follow the script: a row for
// each, a column for each size of a team.
func (t *Teams) Table(st *results.Store) (viz.Table, error) {
	out := viz.Table{Title: path.Base(t.arms.task) + ": score of an episode divided by the number of agents", Header: []string{""},
		Notes: []string{fmt.Sprintf("Methods: mean over seeds of the last evaluation with Student's 95 %% interval, and the number of seeds. Random and scripted play: mean ± standard deviation over %d episodes. A dash: no run.", teamEpisodes)}}
	random, script := []string{string(scripted.Random)}, []string{string(scripted.Script)}
	for _, n := range t.sizes {
		out.Header = append(out.Header, fmt.Sprintf("%d agents", n))
		cfg, err := plan.Variant(t.arms.task, fmt.Sprintf("n_agents=%d", n))
		if err != nil {
			return out, err
		}
		cells, err := baselines(cfg, teamEpisodes, 1, func(p *scripted.Episodes) string {
			floats.Scale(1/float64(n), p.Dense)
			return fmt.Sprintf("%.2f ± %.2f", stat.Mean(p.Dense, nil), stat.StdDev(p.Dense, nil))
		})
		if err != nil {
			return out, err
		}
		random, script = append(random, cells[0]), append(script, cells[1])
	}
	all, err := t.contributions(st)
	if err != nil {
		return out, err
	}
	out.Rows = [][]string{random, script}
	for m, method := range t.methods {
		row := []string{paper.DisplayName(method)}
		for _, seeds := range all[m] {
			row = append(row, overSeeds(seeds))
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// Rewarded says for each method and size of a team how often its runs met a reward in training, seed by seed.
func (t *Teams) Rewarded(st *results.Store) (viz.Table, error) {
	out := viz.Table{Title: path.Base(t.arms.task) + ": rollout batches with a reward", Header: []string{""}, Notes: []string{rewardedNote}}
	for _, n := range t.sizes {
		out.Header = append(out.Header, fmt.Sprintf("%d agents", n))
	}
	gs, err := complete(st, t.arms.list)
	if err != nil {
		return out, err
	}
	for m, method := range t.methods {
		row := []string{paper.DisplayName(method)}
		for k := range t.sizes {
			row = append(row, rewardedCell(rewardedShares(gs[m*len(t.sizes)+k])))
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// Differences compares each method with the first of them wherever both have runs that can be tested, and any of these
// was ever rewarded.
func (t *Teams) Differences(st *results.Store) (viz.Table, error) {
	first := paper.DisplayName(t.methods[0])
	d := paper.NewDifferences("What each agent contributes beyond "+first+"'s", "the last score, divided by the number of agents,", "agents", "method")
	all, err := t.contributions(st)
	if err != nil {
		return viz.Table{}, err
	}
	gs, err := complete(st, t.arms.list)
	if err != nil {
		return viz.Table{}, err
	}
	for k, n := range t.sizes {
		here := make([][]float64, len(t.methods))
		for m := range here {
			if m == 0 || !paper.NeverRewarded(gs[k], gs[m*len(t.sizes)+k]) {
				here[m] = all[m][k]
			}
		}
		d.AddEach(here, displayNames(t.methods), fmt.Sprint(n))
	}
	return d.Table(), nil
}
