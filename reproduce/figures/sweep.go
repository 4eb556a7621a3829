// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/envs/scripted"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Sweep compares methods at several values of a setting, on one task or more, beside play without learning.
type Sweep struct {
	Experiments []experiment.Config

	methods  []string
	first    int       // seed; 0 stands for 1
	setting  string    // the meaning of the values: "number of agents"
	measures []measure // panels beside each other; tables are of the first
	tasks    []sweptTask
	policies []scripted.Policy // that play without learning
}

// measure is a number of each run.
type measure struct {
	name   string
	of     func(r *results.Record, value int) float64 // NaN: the run has none
	played func(p *scripted.Episodes, value int) float64
}

// values are the measure of runs at a point, one per seed.
func (m measure) values(p point, g results.Group) []float64 {
	return valuesOf(g, func(r *results.Record) float64 { return m.of(r, p.value) })
}

// sweptTask is one task with its values.
type sweptTask struct {
	name   string
	score  string // what its evaluations measure
	points []point
}

// point is one value of the setting.
type point struct {
	label string
	value int
	set   []string
	runs  func(*results.Store) ([]results.Group, error) // complete ones, a group a method
	plays func() ([]float64, error)                     // measure of each policy, a mean over episodes
}

// baselineEpisodes is the number of episodes of each fixed policy at each point.
const baselineEpisodes = 240

// TeamsOf lists the experiments of methods, at least one, on a task with each of the given numbers of agents. An
// agent's contribution is the score of an episode divided by the number of agents. changes, each "key=value" as for
// -set, apply to methods with CERMIC, as in the paper's tables.
func TeamsOf(task string, methods []string, budget string, seeds int, sizes []int, changes ...string) (*Sweep, error) {
	share := measure{"score ÷ number of agents",
		func(r *results.Record, agents int) float64 { return r.Score() / float64(agents) },
		func(p *scripted.Episodes, agents int) float64 { return stat.Mean(p.Dense, nil) / float64(agents) }}
	s := &Sweep{methods: methods, setting: "number of agents", measures: []measure{share},
		policies: []scripted.Policy{scripted.Random, scripted.Script}}
	return s.over([]string{task}, budget, seeds, changes, points(sizes, "task.n_agents=%d"))
}

// ThresholdsOf lists the experiments of tasks and methods, at least one of each, with the sparse reward in each of
// the given numbers of parts. changes are as for TeamsOf.
func ThresholdsOf(tasks, methods []string, budget string, seeds int, parts []int, changes ...string) (*Sweep, error) {
	earned := measure{"sparse return", func(r *results.Record, _ int) float64 { return stat.Mean(last(r).Sparse, nil) },
		func(p *scripted.Episodes, _ int) float64 { return stat.Mean(p.Sparse, nil) }}
	s := &Sweep{methods: methods, setting: partialRewards, measures: []measure{earned},
		policies: []scripted.Policy{scripted.Random}}
	return s.over(tasks, budget, seeds, changes, points(parts, inParts))
}

// DensityAxis lists the experiments of a method with the sparse reward in each of the given numbers of partial
// rewards, then with the dense reward. It measures last scores, and shares of episodes that meet the sparse goal.
// changes are as for TeamsOf.
func DensityAxis(task, method, budget string, seeds int, parts []int, changes ...string) (*Sweep, error) {
	s := &Sweep{methods: []string{method}, setting: partialRewards, measures: []measure{
		{name: "score", of: func(r *results.Record, _ int) float64 { return r.Score() }},
		{name: "episodes that succeed", of: func(r *results.Record, _ int) float64 { return lastSuccess(r) }},
	}}
	dense := point{label: "dense", set: []string{"task.reward=dense"}}
	return s.over([]string{task}, budget, seeds, changes, append(points(parts, inParts), dense))
}

const (
	partialRewards = "number of partial rewards, k"
	inParts        = "task.reward=sparse task.milestones=%d"
)

// RewardedOf finds the complete runs of methods at a budget on VMAS's starred tasks, trained on success alone. It
// measures how often they met a reward in training: there success is the only reward and is never negative. changes
// are as for TeamsOf.
func RewardedOf(st *results.Store, methods []string, budget string, changes ...string) (*Sweep, error) {
	s := &Sweep{methods: methods, setting: "task", tasks: []sweptTask{{name: "VMAS"}},
		measures: []measure{rewardedMeasure}}
	all := plan.At(st, budget)
	for _, task := range paper.Tasks {
		if task.Suite != paper.VMAS || !task.Star {
			continue
		}
		groups, err := each(methods, func(method string) (results.Group, error) {
			if _, err := plan.FindMethod(method); err != nil {
				return results.Group{}, err
			}
			trial := paper.RewardTrial(task, method, "sparse")
			trial.Set = append(trial.Set, ofCERMIC(method, changes)...)
			return all.Runs(trial)
		})
		if err != nil {
			return nil, err
		}
		known := func(*results.Store) ([]results.Group, error) { return groups, nil }
		s.tasks[0].points = append(s.tasks[0].points, point{label: task.Abbreviation, runs: known})
	}
	return s, nil
}

// rewardedMeasure is the share of rollout batches with a reward; a run that kept no rewards has none.
var rewardedMeasure = measure{"the share of rollout batches with a reward", func(r *results.Record, _ int) float64 {
	if share, ok := paper.RewardedShare(r); ok {
		return share
	}
	return math.NaN()
}, nil}

// points are the values of a setting, which set names with a value's place in it.
func points(values []int, set string) []point {
	return mapped(values, func(v int) point {
		return point{label: fmt.Sprint(v), value: v, set: strings.Fields(fmt.Sprintf(set, v))}
	})
}

// ofCERMIC are changes for a method with CERMIC, none for another one.
func ofCERMIC(method string, changes []string) []string {
	if m, err := plan.FindMethod(method); err != nil || m.Explore.Kind() != (cermic.Config{}).Kind() {
		return nil
	}
	return changes
}

// over lists the experiments at all points on all tasks.
func (s *Sweep) over(tasks []string, budget string, seeds int, changes []string, all []point) (*Sweep, error) {
	if len(s.methods) == 0 {
		return s, errors.New("a figure is of one method or more: name them, for example mappo, " +
			"with which the others are compared")
	}
	var listed []arms
	for _, name := range tasks {
		task, err := plan.FindTask(name)
		if err != nil {
			return s, err
		}
		swept := sweptTask{name: path.Base(task.ID), score: plan.Score(task)}
		for _, p := range all {
			a := arms{task: task.ID, budget: budget, first: max(1, s.first), seeds: seeds}
			for _, method := range s.methods {
				a.add(method, method, slices.Concat(p.set, ofCERMIC(method, changes))...)
			}
			p.runs, p.plays = a.complete, sync.OnceValues(func() ([]float64, error) { return s.play(task.ID, p) })
			swept.points, listed = append(swept.points, p), append(listed, a)
		}
		s.tasks = append(s.tasks, swept)
	}
	var err error
	s.Experiments, err = experiments(listed...)
	return s, err
}

// play is the first measure of the fixed policies at a point of a task.
func (s *Sweep) play(task string, p point) ([]float64, error) {
	cfg, err := plan.World(task + " " + strings.Join(p.set, " "))
	if err != nil {
		return nil, err
	}
	return each(s.policies, func(policy scripted.Policy) (float64, error) {
		played, err := scripted.Rollout(cfg, policy, baselineEpisodes, 1)
		if err != nil || played == nil { // a task without a script
			return math.NaN(), err
		}
		return s.measures[0].played(played, p.value), nil
	})
}

// Plot draws one row per task and one panel per measure. For each value there is a group of bars, of play without
// learning and of methods. All panels of a measure have one scale.
func (s *Sweep) Plot(st *results.Store) (viz.Panels, error) {
	var plots []*plot.Plot
	high := make([]float64, len(s.measures))
	for _, t := range s.tasks {
		for k, m := range s.measures {
			groups, err := each(t.points, func(p point) (viz.Group, error) {
				group := viz.Group{Label: p.label}
				played, err := p.plays()
				if err != nil {
					return group, err
				}
				for b, policy := range s.policies {
					bar := viz.Bar{Label: string(policy), Value: played[b], Low: math.NaN(), High: math.NaN()}
					group.Bars = append(group.Bars, bar)
				}
				runs, err := p.runs(st)
				for n, g := range runs {
					group.Bars = append(group.Bars, meanBar(s.methods[n], m.values(p, g)))
				}
				return group, err
			})
			if err != nil {
				return viz.Panels{}, err
			}
			p, err := viz.Bars(viz.Figure{Title: t.name, X: s.setting, Y: m.name, Unlabelled: len(plots) > 0}, groups...)
			if err != nil {
				return viz.Panels{}, err
			}
			plots, high[k] = append(plots, p), max(high[k], p.Y.Max)
		}
	}
	for i, p := range plots {
		p.Y.Max = high[i%len(high)]
	}
	panels := viz.NewPanels(len(s.measures), plots...)
	panels.Width = viz.MaxWidth / vg.Length(max(2, len(s.measures)))
	return panels, nil
}

// meanBar is the mean of seeds with its bootstrap 95 % interval, empty without any.
func meanBar(label string, seeds []float64) viz.Bar {
	i := stats.Bootstrap([][]float64{seeds}, stats.Mean, comparisonReps, rng.New(0, "figures/rewarded"))
	return viz.Bar{Label: label, Value: i.Value, Low: i.Low, High: i.High, Seeds: seeds}
}

// Table has a row for each task and method, below the rows of play without learning, and a column for each value.
func (s *Sweep) Table(st *results.Store) (viz.Table, error) {
	policies := mapped(s.policies, func(p scripted.Policy) string { return string(p) })
	m := s.measures[0]
	note := fmt.Sprintf("Methods: mean over seeds of the last evaluation with Student's 95 %% interval, and the number "+
		"of seeds. Play without learning: mean of %d episodes. A dash: no run.", baselineEpisodes)
	return s.table(m, note, policies, func(p point) ([]string, error) {
		played, err := p.plays()
		if err != nil {
			return nil, err
		}
		scores, err := p.cells(st, m, overSeeds)
		return append(mapped(played, number), scores...), err
	})
}

// Rewarded says how often runs met a reward in training, seed by seed.
func (s *Sweep) Rewarded(st *results.Store) (viz.Table, error) {
	const note = "One number a seed: of all rollout batches of training, those in which any agent of any environment " +
		"was rewarded. 0 % × 3: none, in three seeds. A run without any reward has learned nothing from success; " +
		"whatever its score did came of other things, a bonus or chance. A dash: no run."
	return s.table(rewardedMeasure, note, nil, func(p point) ([]string, error) {
		return p.cells(st, rewardedMeasure, rewardedCell)
	})
}

// cells write a measure of the runs at a point, a cell a method.
func (p point) cells(st *results.Store, m measure, write func(seeds []float64) string) ([]string, error) {
	runs, err := p.runs(st)
	return mapped(runs, func(g results.Group) string { return write(m.values(p, g)) }), err
}

// table is a table of a measure. Rows with the names of first stand above rows of methods.
func (s *Sweep) table(m measure, note string, first []string, column func(point) ([]string, error)) (viz.Table, error) {
	out := viz.Table{Title: m.name + ", by " + s.setting, Header: []string{"", "method"}, Notes: []string{note}}
	names := append(first, mapped(s.methods, paper.DisplayName)...)
	for _, t := range s.tasks {
		for _, name := range names {
			out.Rows = append(out.Rows, []string{t.name, name})
		}
	}
	for k, p := range s.tasks[0].points {
		cells, err := each(s.tasks, func(t sweptTask) ([]string, error) { return column(t.points[k]) })
		if err != nil {
			return out, err
		}
		out.AddColumn(p.label, slices.Concat(cells...)...)
	}
	return out, nil
}

// Differences compares each method with the first of them wherever both have runs that can be tested, and any of these
// was ever rewarded.
func (s *Sweep) Differences(st *results.Store) (viz.Table, error) {
	m := s.measures[0]
	title := "Differences from " + paper.DisplayName(s.methods[0]) + ": " + m.name
	d := paper.NewDifferences(title, m.name, "", s.setting, "method")
	for _, t := range s.tasks {
		for _, p := range t.points {
			runs, err := p.runs(st)
			if err != nil {
				return viz.Table{}, err
			}
			for n := 1; n < len(runs); n++ {
				own := m.values(p, runs[n])
				if paper.NeverRewarded(runs[0], runs[n]) {
					own = nil
				}
				d.Add(own, m.values(p, runs[0]), t.name, p.label, paper.DisplayName(s.methods[n]))
			}
		}
	}
	return d.Table(), nil
}

// rewardedCell writes shares in percent, once with the number of seeds where all are alike.
func rewardedCell(shares []float64) string {
	if len(shares) == 0 {
		return viz.Missing
	}
	var percents []string
	for _, s := range shares {
		text := fmt.Sprintf("%.0f", 100*s)
		if s > 0 && text == "0" {
			text = "under 1"
		}
		percents = append(percents, text)
	}
	if one := slices.Compact(slices.Clone(percents)); len(one) == 1 {
		return fmt.Sprintf("%s %% × %d", one[0], len(shares))
	}
	return strings.Join(percents, ", ") + " %"
}
