// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/rng"
	"cermic/envs/scripted"
	"cermic/envs/smac"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// Battles are the StarCraft tasks.
var Battles = []string{smac.DefaultProtoss().Kind(), smac.DefaultZerg().Kind()}

// Sensitivity is a policy's win rate in the default simulator and with each open decision reversed, one at a time.
type Sensitivity struct {
	Task     string
	Policy   scripted.Policy
	Episodes int
	cases    []smac.Alternative // the first one reverses nothing
	won      [][]float64        // [case][episode]
}

// BattleSensitivity lets a policy play so many episodes of a battle with each decision.
func BattleSensitivity(task string, policy scripted.Policy, episodes int, seed uint64) (*Sensitivity, error) {
	cases := append([]smac.Alternative{{Decision: "–", Says: "as decided"}}, smac.Alternatives()...)
	won, err := each(cases, func(a smac.Alternative) ([]float64, error) {
		world := task
		if a.Name != "" {
			world += " task.otherwise=" + a.Name
		}
		cfg, err := plan.World(world)
		if err != nil {
			return nil, err
		}
		p, err := scripted.Rollout(cfg, policy, episodes, seed)
		if err != nil {
			return nil, err
		}
		return p.Dense, nil
	})
	return &Sensitivity{task, policy, episodes, cases, won}, err
}

// rate is the mean of values of episodes with its bootstrap 95 % interval.
func rate(episodes []float64) stats.Interval {
	return stats.Bootstrap([][]float64{episodes}, stats.Mean, 1000, rng.New(0, "plan/battles"))
}

// Plot draws one bar a decision.
func (s *Sensitivity) Plot() (*plot.Plot, error) {
	bars := make([]viz.Bar, len(s.cases))
	for i, c := range s.cases {
		wins := rate(s.won[i])
		bars[i] = viz.Bar{Label: cmp.Or(c.Name, c.Says), Value: wins.Value, Low: wins.Low, High: wins.High, Method: "qmix"}
	}
	bars[0].Method = "mappo" // black beside grey bars
	who := map[scripted.Policy]string{scripted.Random: "random play", scripted.Script: "the script"}[s.Policy]
	return viz.Bars(viz.Figure{Title: s.Task, Y: fmt.Sprintf("win rate of %s, %d episodes a bar", who, s.Episodes),
		Note: "mean and bootstrap 95 % interval over episodes"}, viz.Group{Bars: bars})
}

// SensitivityTable puts policies beside each other, with the difference that each decision makes. Episode k has the
// same teams at the same places under every decision, so differences are paired.
func SensitivityTable(policies ...*Sensitivity) viz.Table {
	t := viz.Table{Title: policies[0].Task,
		Notes: []string{fmt.Sprintf("%d episodes a cell, with the same teams at the same places in each; intervals are "+
			"bootstrap 95 %%. Numbers in the first column are those of envs/smac/README.md.", policies[0].Episodes)}}
	cases := policies[0].cases
	t.AddColumn("decision", mapped(cases, func(c smac.Alternative) string { return c.Decision })...)
	t.AddColumn("otherwise", mapped(cases, func(c smac.Alternative) string { return c.Name })...)
	t.AddColumn("what is done", mapped(cases, func(c smac.Alternative) string { return c.Says })...)
	for _, s := range policies {
		wins, differences := make([]string, len(cases)), make([]string, len(cases))
		for i, won := range s.won {
			w, d := rate(won), rate(floats.SubTo(make([]float64, s.Episodes), won, s.won[0]))
			wins[i] = fmt.Sprintf("%.3f [%.3f, %.3f]", w.Value, w.Low, w.High)
			differences[i] = fmt.Sprintf("%+.3f [%+.3f, %+.3f]", d.Value, d.Low, d.High)
		}
		differences[0] = viz.Missing
		t.AddColumn(fmt.Sprintf("%s: wins", s.Policy), wins...)
		t.AddColumn("difference", differences...)
	}
	return t
}

//go:embed battles.json
var battlesJSON []byte

// published are win rates of runs in the real game, by task and learner.
var published = func() (all struct {
	Source string
	Tasks  map[string]map[string]struct {
		Steps  []float64 `json:"env_steps"`
		Win    []float64 `json:"win_mean"`
		Spread []float64 `json:"win_std"` // standard deviation over runs
	}
}) {
	if err := json.Unmarshal(battlesJSON, &all); err != nil {
		panic("figures: published battles: " + err.Error()) // an error of this repository
	}
	return all
}()

// publishedCurves are SMACv2's own curves in the real game; the band is the standard deviation over runs.
func publishedCurves(task string, frames float64) (out []viz.Series) {
	for _, learner := range []string{"QMIX", "MAPPO", "open-loop MAPPO"} {
		r := published.Tasks[path.Base(task)][learner]
		s := viz.Series{Label: "real: " + learner, Reference: true, Band: "bands: standard deviation over runs",
			Y: [][]float64{nil}}
		for i, x := range r.Steps {
			if x <= frames {
				s.X, s.Y[0] = append(s.X, x), append(s.Y[0], r.Win[i])
				s.Low, s.High = append(s.Low, r.Win[i]-r.Spread[i]), append(s.High, r.Win[i]+r.Spread[i])
			}
		}
		out = append(out, s)
	}
	return out
}

// BattleCurves draws the win rates of complete runs in the simulator beside the published ones of the real game, up
// to so many frames. Its text states in one sentence which runs there are.
func BattleCurves(st *results.Store, budget, reward string, frames float64) (viz.Panels, string, error) {
	trained := 0
	charts, err := each(Battles, func(task string) (viz.Chart, error) {
		runs, err := st.Find(results.Query{Task: task, Budget: budget, Complete: true})
		runs = TrainedOn(runs, reward)
		trained += len(runs)
		series := slices.Concat(viz.Evals(plan.Groups(runs, "task.reward")), publishedCurves(task, frames))
		return viz.Chart{Figure: viz.Figure{Title: task, X: "frames", Y: "win rate"}, Series: series}, err
	})
	if err != nil {
		return viz.Panels{}, "", err
	}
	panels, err := viz.CurvePanels(2, charts...)
	panels.Width, panels.Height = 4.6*vg.Inch, 3*vg.Inch
	said := fmt.Sprintf("Trained in the simulator on the %s reward at budget %s, number of runs: %d.",
		reward, budget, trained)
	if trained == 0 {
		said = fmt.Sprintf("**No battle has been trained here yet** at budget %s on the %s reward: "+
			"all lines are published ones.", budget, reward)
	}
	return panels, said + " Dotted: " + published.Source + ".", err
}
