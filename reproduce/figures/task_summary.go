// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/stat"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/viz"
)

// TaskSummary lists the parts of a task, every setting of its registered default, and how closely it follows
// recordings of its original.
func TaskSummary(t paper.Task) (viz.Table, error) {
	cfg, err := envs.Default(t.ID)
	if err != nil {
		return viz.Table{}, err
	}
	s, err := envs.SpecOf(cfg)
	if err != nil {
		return viz.Table{}, err
	}
	name := t.ID
	if t.About != "" {
		name += ": " + t.About
	}
	return viz.Table{Title: name, Header: []string{"", ""}, Rows: [][]string{
		{"agents", fmt.Sprint(s.Agents)},
		{"observation", observation(s)},
		{"action", action(s)},
		{"steps", fmt.Sprintf("%d when trained, %d when scored by %s", s.Horizon, s.EvalHorizon, s.Metric)},
		{"success", success(s)},
		{"settings", settings(cfg)},
		{"against its original", agreement(t.ID)},
	}}, nil
}

func observation(s *envs.Spec) string {
	if len(s.Obs) == 2 {
		return fmt.Sprintf("%d × %d cells of %d kinds, and %d numbers", s.Obs[0], s.Obs[1], len(s.Pixels)/(3*8*8), s.Scalars)
	}
	out := fmt.Sprintf("%d numbers", s.ObsLen())
	var parts []string
	sum := 0
	for _, e := range s.Entities {
		parts, sum = append(parts, fmt.Sprintf("%s (%d)", e.Name, e.To-e.From)), sum+e.To-e.From
	}
	if len(parts) > 0 && len(parts) < 12 {
		if sum == s.ObsLen() {
			out += ": "
		} else { // some belong to two entities, or to none
			out += ", with "
		}
		out += strings.Join(parts, ", ")
	}
	return out
}

func action(s *envs.Spec) string {
	if s.Act.Choices > 0 {
		return fmt.Sprintf("one of %d", s.Act.Choices)
	}
	return fmt.Sprintf("%d numbers from %g to %g", s.Act.Dim, s.Act.Low[0], s.Act.High[0])
}

func success(s *envs.Spec) string {
	switch {
	case !s.HasSuccess():
		return "not defined"
	case s.Solved > 0:
		said := fmt.Sprintf("rewards each agent with %g", s.Solved)
		if s.Horizon < s.SolvableIn {
			said += fmt.Sprintf("; out of reach in %d steps, episodes of the sparse reward have %d", s.Horizon, s.SolvableIn)
		}
		return said
	}
	return "any reward"
}

// settings are the assignments that -set takes.
func settings(cfg envs.Config) string {
	var out []string
	for _, k := range conf.Keys(cfg) {
		out = append(out, k.Key+"="+k.Value)
	}
	return strings.Join(out, " ")
}

func agreement(task string) string {
	a, ok := envs.AgreementOf(task)
	if !ok {
		return "no recording"
	}
	return fmt.Sprintf("%d steps of %s: off by at most %.1g in state, %.1g in observation, %.1g in reward",
		a.Steps, a.Source, a.State, a.Obs, a.Reward)
}

// Difficulty sums up so many episodes of every policy on every task.
func Difficulty(episodes int, seed uint64) (viz.Table, error) {
	out := viz.Table{
		Header: []string{"task", "policy", "success", "score", "standard deviation"},
		Notes: []string{fmt.Sprintf("%d episodes, seed %d. Success within the sparse horizon; "+
			"score and its standard deviation by the benchmark's own metric.", episodes, seed)},
	}
	for _, t := range plan.Tasks() {
		played, err := plan.Baselines(t.ID, episodes, seed)
		if err != nil {
			return out, err
		}
		for _, p := range played {
			share := viz.Missing
			if p.Success != nil {
				share = fmt.Sprintf("%.0f %%", 100*stat.Mean(p.Success, nil))
			}
			mean, spread := stat.MeanStdDev(p.Dense, nil)
			out.Rows = append(out.Rows, []string{t.ID, string(p.Policy), share,
				fmt.Sprintf("%.3g", mean), fmt.Sprintf("%.3g", spread)})
		}
	}
	return out, nil
}

// WithNoise is the registered default of a task with a noise box of the given side round the origin; 0 is none.
func WithNoise(task string, side float64) (envs.Config, error) {
	cfg, err := envs.Default(task)
	if err != nil || side == 0 {
		return cfg, err
	}
	shared := cfg.Shared()
	shared.Noise = envs.DefaultNoise()
	shared.Noise.Width, shared.Noise.Height = float32(side), float32(side)
	return cfg.WithShared(shared), nil
}
