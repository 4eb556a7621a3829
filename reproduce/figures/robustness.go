// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/envs/scripted"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// World is a task of the noise study, with the frames and seeds that it is trained for.
type World struct {
	Task   string   // with its settings behind it: "explore/rooms task.tv=screen"
	Frames int      // 0: the budget's
	Seeds  int      // from firstSeed on
	Arms   []string // of robustnessArms
}

// Robustness is the study of whether the learned code makes curiosity robust to noise, as planned in reproduce/PLAN.md.
type Robustness struct {
	Worlds []World
	Budget string
}

// robustnessArms are the arms of the study. Each has a name and a method with its settings.
var robustnessArms = [][2]string{
	{"α = .2", ucb}, {"α = 0", ucb + " explore.alpha=0"}, {"never trained", ucb + " explore.cermic_steps=0"},
	{"α = 1", ucb + " explore.alpha=1"}, {"without L_exploit", ucb + " explore.exploit=false"},
	{"GRU memory", "mappo-cermic-ucb explore.memory=gru"}, {"graph memory", "mappo-cermic-ucb explore.memory=graph"},
	{"printed r^i", "mappo-cermic explore.memory=mlp"}, {"mappo-rff", "mappo-rff"}, {"mace", "mace"},
	{"mappo-db", "mappo-db"}, {"mappo", "mappo"}, {"mappo, entropy bonus", "mappo learner.entropy_coef=0.01"},
	{"L_exploit without the context", ucb + " explore.calib_kappa=0"}, // in the first world alone
}

const ucb = "mappo-cermic-ucb explore.memory=mlp"

func armNames() []string {
	return mapped(robustnessArms, func(arm [2]string) string { return arm[0] })
}

// DefaultRobustness is the whole study.
func DefaultRobustness() Robustness {
	all, main := armNames(), []string{"α = .2", "α = 0", "never trained", "mappo-rff", "mace", "mappo"}
	n := Robustness{Budget: "explore", Worlds: []World{
		{"explore/lock task.tv=screen", 300_000, 10, all},
		{"explore/lock", 300_000, 10, all[:len(all)-1]},
		{"explore/rooms task.tv=screen", 0, 10, all[:len(all)-1]},
		{"explore/lock task.tv=peer", 300_000, 5, main},
	}}
	for _, task := range []string{"rooms", "rooms task.tv=peer", "pass", "pass task.tv=screen", "pass task.tv=peer",
		"secret", "secret task.tv=screen", "secret task.tv=peer"} {
		n.Worlds = append(n.Worlds, World{"explore/" + task, 0, 5, main})
	}
	return n
}

// firstSeed is the first of the seeds that the plan names.
const firstSeed = 21

// solvedFrom is the least share of successful episodes in an evaluation at which a run counts as successful.
const solvedFrom = 0.5

// arms lists the arms of a world.
func (n Robustness) arms(w World) arms {
	out := arms{task: w.Task, budget: n.Budget, first: firstSeed, seeds: w.Seeds}
	for _, arm := range robustnessArms {
		if !slices.Contains(w.Arms, arm[0]) {
			continue
		}
		method := strings.Fields(arm[1])
		set := method[1:]
		if w.Frames > 0 {
			set = append(set, fmt.Sprintf("budget.frames=%d", w.Frames))
		}
		out.add(arm[0], method[0], set...)
	}
	return out
}

// Experiments lists the experiments of the study, each once.
func (n Robustness) Experiments() ([]experiment.Config, error) {
	return experiments(mapped(n.Worlds, n.arms)...)
}

// armOf is the group of a label, without runs if there is none.
func armOf(groups []results.Group, label string) results.Group {
	if i := slices.IndexFunc(groups, func(g results.Group) bool { return g.Label == label }); i >= 0 {
		return groups[i]
	}
	return results.Group{Label: label}
}

// succeeded counts the runs of a group that succeed.
func succeeded(g results.Group) (k int) {
	for _, r := range g.Runs {
		if lastSuccess(r) >= solvedFrom {
			k++
		}
	}
	return k
}

// waited is the number of frames up to the first evaluation from which on a run succeeds.
func waited(r *results.Record) stats.Waiting {
	at := stats.Waiting{Time: float64(r.Frames)}
	for _, e := range slices.Backward(r.Evals) {
		if stat.Mean(e.Success, nil) < solvedFrom {
			break
		}
		at = stats.Waiting{Time: float64(e.Frames), Event: true}
	}
	return at
}

// coverage is the share of the task's cells that a run has visited, NaN if the run did not record it.
func coverage(r *results.Record) float64 {
	if points := r.Scalars["coverage"]; len(points) > 0 {
		return points[len(points)-1].Value
	}
	return math.NaN()
}

// Table shows, for each world, how many runs of each arm succeed, the coverage of each seed, and the frames to success.
func (n Robustness) Table(st *results.Store, world int) (viz.Table, error) {
	w := n.Worlds[world]
	t := viz.Table{Title: worldLabel(w.Task),
		Header: []string{"arm", "runs that succeed", "exact 95 % interval", "coverage by seed", "frames to success, by seed"},
		Notes: []string{fmt.Sprintf("Seeds %d to %d, budget %s. A run succeeds if at least half of the episodes of its "+
			"last evaluation do. Coverage: share of the task's cells that training has visited. A dash: the run "+
			"never succeeds.", firstSeed, firstSeed+w.Seeds-1, n.Budget)}}
	groups, err := n.arms(w).complete(st)
	for _, g := range groups {
		row := []string{g.Label, viz.Missing, viz.Missing, viz.Missing, viz.Missing}
		if k, n := succeeded(g), len(g.Runs); n > 0 {
			i := stats.Exact(k, n)
			covered := mapped(valuesOf(g, coverage), func(share float64) string {
				return strings.TrimPrefix(fmt.Sprintf("%.2f", share), "0")
			})
			frames := mapped(waits(g), func(w stats.Waiting) string {
				if !w.Event {
					return viz.Missing
				}
				return fmt.Sprintf("%.0fk", w.Time/1000)
			})
			row = []string{g.Label, fmt.Sprintf("%d of %d", k, n), fmt.Sprintf("%.2f to %.2f", i.Low, i.High),
				strings.Join(covered, ", "), strings.Join(frames, ", ")}
		}
		t.Rows = append(t.Rows, row)
	}
	return t, err
}

// Summary counts the runs of each arm that succeed, a column a world.
func (n Robustness) Summary(st *results.Store) (viz.Table, error) {
	t := viz.Table{Title: "Runs that succeed", Notes: []string{
		"Runs that succeed of those that are complete. Seeds 21 to 30 in the first three columns, 21 to 25 in the others."}}
	t.AddColumn("arm", armNames()...)
	for _, w := range n.Worlds {
		groups, err := n.arms(w).complete(st)
		if err != nil {
			return t, err
		}
		t.AddColumn(worldLabel(w.Task), mapped(armNames(), func(name string) string {
			g := armOf(groups, name)
			if len(g.Runs) == 0 {
				return viz.Missing
			}
			return fmt.Sprintf("%d/%d", succeeded(g), len(g.Runs))
		})...)
	}
	return t, nil
}

// worldLabel is a task's name without its family, with its distraction in words.
func worldLabel(task string) string {
	fields := strings.Fields(task)
	name := path.Base(fields[0])
	switch {
	case strings.Contains(task, "tv=screen"):
		return name + " beside a screen of noise"
	case strings.Contains(task, "tv=peer"):
		return name + " beside a peer that acts at random"
	}
	return name
}

// Verdict answers the primary question from the runs of the first world, and the secondary ones below it.
func (n Robustness) Verdict(st *results.Store) (viz.Box, error) {
	box := viz.Box{Mark: viz.Open, Head: string(paper.NotTested),
		Text: "What the module learns lets Theorem 1's bonus get past a screen of noise."}
	groups, err := n.arms(n.Worlds[0]).complete(st)
	if err != nil {
		return box, err
	}
	trained := armOf(groups, "α = .2")
	var p []float64
	controls := []results.Group{armOf(groups, "α = 0"), armOf(groups, "never trained")}
	for _, other := range controls {
		if min(len(trained.Runs), len(other.Runs)) < n.Worlds[0].Seeds {
			box.Lines = append(box.Lines, fmt.Sprintf("%d of %d runs of α = .2 and %d of %s are complete.",
				len(trained.Runs), n.Worlds[0].Seeds, len(other.Runs), other.Label))
			return box, nil
		}
		p = append(p, stats.Fisher(succeeded(trained), len(trained.Runs), succeeded(other), len(other.Runs)))
	}
	better := true
	for i, adjusted := range stats.Holm(p) {
		other := controls[i]
		better = better && adjusted < 1-stats.Level
		box.Lines = append(box.Lines, fmt.Sprintf("%s: α = .2 succeeds in %d of %d runs, %s in %d of %d (Fisher's exact "+
			"test, one-sided, Holm: p = %.2g).", worldLabel(n.Worlds[0].Task), succeeded(trained), len(trained.Runs),
			other.Label, succeeded(other), len(other.Runs), adjusted))
	}
	if box.Head = string(paper.Undecided); better {
		box.Mark, box.Head = viz.Good, string(paper.Supported)
	}
	for _, name := range []string{"without L_exploit", "α = 1"} {
		if other := armOf(groups, name); len(other.Runs) == n.Worlds[0].Seeds {
			box.Lines = append(box.Lines, fmt.Sprintf("Frames to success, α = .2 beside %s: log-rank p = %.2g.", name,
				stats.LogRank(waits(trained), waits(other))))
		}
	}
	line, err := n.besideMACE(st)
	if line != "" {
		box.Lines = append(box.Lines, line)
	}
	return box, err
}

func waits(g results.Group) []stats.Waiting { return mapped(g.Runs, waited) }

// besideMACE compares the success of α = .2 with MACE's over all worlds that have runs of both.
func (n Robustness) besideMACE(st *results.Store) (string, error) {
	var ours, theirs [][]float64
	for _, w := range n.Worlds {
		groups, err := n.arms(w).complete(st)
		if err != nil {
			return "", err
		}
		x, y := valuesOf(armOf(groups, "α = .2"), lastSuccess), valuesOf(armOf(groups, "mace"), lastSuccess)
		if len(x) > 1 && len(y) > 1 {
			ours, theirs = append(ours, x), append(theirs, y)
		}
	}
	if len(ours) == 0 {
		return "", nil
	}
	i := stats.BootstrapTwo(ours, theirs, stats.Improvement, comparisonReps, rng.New(1, "noise"))
	return fmt.Sprintf("Over %d of %d task variants, a run of α = .2 succeeds more often than one of MACE with "+
		"probability %.2f [%.2f, %.2f]; 0.5 means no difference.", len(ours), len(n.Worlds), i.Value, i.Low, i.High), nil
}

// studyPanel is a scalar of the arms of a world over frames.
type studyPanel struct {
	world            int
	scalar, title, y string
}

// Coverage draws the share of a task's cells that have been visited over frames, one panel per world.
func (n Robustness) Coverage(st *results.Store, worlds ...int) (viz.Panels, error) {
	return n.draw(st, true, mapped(worlds, func(w int) studyPanel {
		return studyPanel{w, "coverage", worldLabel(n.Worlds[w].Task), "cells visited"}
	}))
}

// probed are the arms whose code is probed.
var probed = []string{"α = .2", "α = 0", "α = 1", "without L_exploit", "never trained"}

// Why draws what x̄_t and s_t keep of the screen and of the agents' own state over training, and the code's rate.
func (n Robustness) Why(st *results.Store) (viz.Panels, error) {
	return n.draw(st, false, []studyPanel{
		{0, "cermic/probe_screen_x", "the screen, from x_t", "R²"},
		{0, "cermic/probe_own_x", "the agent's own state, from x_t", "R²"},
		{0, "cermic/probe_screen_s", "the screen, from s_t", "R²"},
		{0, "cermic/probe_own_s", "the agent's own state, from s_t", "R²"},
		{0, "cermic/kl", "rate of the code", "KL / d_x"}, {0, "coverage", "coverage", "cells visited"},
	})
}

// draw draws panels of the probed arms and, if others is set, of MACE and, in grey, all other arms. Every arm has its
// place, so that all figures share styles.
func (n Robustness) draw(st *results.Store, others bool, panels []studyPanel) (viz.Panels, error) {
	names := armNames()
	charts, err := each(panels, func(p studyPanel) (viz.Chart, error) {
		groups, err := n.arms(n.Worlds[p.world]).complete(st)
		series := mapped(names, func(name string) viz.Series { return viz.Series{Label: name} })
		for _, line := range viz.Scalar(groups, p.scalar) {
			if slices.Contains(probed, line.Label) || others && line.Label == "mace" {
				k := slices.Index(names, line.Label)
				series[k].X, series[k].Y = line.X, line.Y
			} else if others {
				series = append(series, line.Muted())
			}
		}
		f := viz.Figure{Title: p.title, X: "frames", Y: p.y, Unlabelled: true}
		if p.scalar != "cermic/kl" {
			f.High = 1
		}
		return viz.Chart{Figure: f, Series: series}, err
	})
	if err != nil {
		return viz.Panels{}, err
	}
	return viz.CurvePanels(2, charts...)
}

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
