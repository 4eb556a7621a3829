// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"path"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/scripted"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Teams is the contribution of each agent to a task, the score of an episode divided by the number of agents, for
// several team sizes: it separates the effect of the task from the effect of a method.
type Teams struct {
	Experiments []experiment.Config
	sweep       // over sizes
}

// teamEpisodes is the number of episodes of random and of scripted play with each size of a team.
const teamEpisodes = 32

// TeamsOf lists the experiments of methods, at least one, on a task with each of the given numbers of agents; changes
// are as for DensityAxis.
func TeamsOf(task string, methods []string, budget string, seeds int, sizes []int, changes ...string) (*Teams, error) {
	found, err := plan.FindTask(task)
	if err != nil {
		return nil, err
	}
	s, err := newSweep(arms{task: found.ID, budget: budget, seeds: seeds}, methods, sizes, changes,
		func(n int) []string { return []string{fmt.Sprintf("task.n_agents=%d", n)} })
	if err != nil {
		return nil, err
	}
	es, err := experiments(s.arms)
	return &Teams{es, s}, err
}

// contributions are the last scores of each seed divided by the number of agents.
func contributions(g results.Group, agents int) ([]float64, error) {
	scores, err := g.Scores()
	floats.Scale(1/float64(agents), scores)
	return scores, err
}

// Plot draws a group of bars for each size of a team, one bar for each method.
func (t *Teams) Plot(st *results.Store) (*plot.Plot, error) {
	all, err := t.measure(st, contributions)
	if err != nil {
		return nil, err
	}
	return viz.Bars(viz.Figure{Title: path.Base(t.task), X: "number of agents", Y: "score ÷ number of agents"}, t.bars(all)...)
}

// table is a table with a column for each size of a team.
func (t *Teams) table(about, note string) viz.Table {
	out := viz.Table{Title: path.Base(t.task) + ": " + about, Header: []string{""}, Notes: []string{note}}
	for _, n := range t.values {
		out.Header = append(out.Header, fmt.Sprintf("%d agents", n))
	}
	return out
}

// Table gives the numbers of the plot, with a row for each method, below what agents contribute that play at random or
// follow the script.
func (t *Teams) Table(st *results.Store) (viz.Table, error) {
	out := t.table("score of an episode divided by the number of agents",
		fmt.Sprintf("Methods: mean over seeds of the last evaluation with Student's 95 %% interval, and the number of seeds. "+
			"Random and scripted play: mean ± standard deviation over %d episodes. A dash: no run.", teamEpisodes))
	random, script := []string{string(scripted.Random)}, []string{string(scripted.Script)}
	for _, n := range t.values {
		cfg, err := plan.Variant(t.task, fmt.Sprintf("n_agents=%d", n))
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
	all, err := t.measure(st, contributions)
	if err != nil {
		return out, err
	}
	out.Rows = append([][]string{random, script}, t.rows(all, overSeeds)...)
	return out, nil
}

// Rewarded says for each method and size of a team how often its runs met a reward in training, seed by seed.
func (t *Teams) Rewarded(st *results.Store) (viz.Table, error) {
	out := t.table("rollout batches with a reward", rewardedNote)
	all, err := t.measure(st, func(g results.Group, _ int) ([]float64, error) { return rewardedShares(g), nil })
	if err == nil {
		out.Rows = t.rows(all, rewardedCell)
	}
	return out, err
}

// Differences compares each method with the first of them wherever both have runs that can be tested, and any of these
// was ever rewarded.
func (t *Teams) Differences(st *results.Store) (viz.Table, error) {
	first := paper.DisplayName(t.methods[0])
	d := paper.NewDifferences("What each agent contributes beyond "+first+"'s", "the last score, divided by the number of agents,", "agents", "method")
	baseline := map[int]results.Group{} // by size, of the first method, which is measured first
	all, err := t.measure(st, func(g results.Group, n int) ([]float64, error) {
		first, known := baseline[n]
		if !known {
			baseline[n] = g
		} else if paper.NeverRewarded(first, g) {
			return nil, nil
		}
		return contributions(g, n)
	})
	if err != nil {
		return viz.Table{}, err
	}
	t.compare(d, all)
	return d.Table(), nil
}
