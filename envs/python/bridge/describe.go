// SPDX-License-Identifier: Apache-2.0

package bridge

import (
	"fmt"

	"cermic/envs"
	"cermic/envs/conf"
)

// Buffer is one array of a Step.
type Buffer struct {
	Name  string `json:"name"`
	DType string `json:"dtype"` // NumPy's name: "float32"
	Shape []int  `json:"shape"`
}

// Len is the number of entries.
func (b *Buffer) Len() int {
	n := 1
	for _, d := range b.Shape {
		n *= d
	}
	return n
}

// Indices of the list of buffers. Pixels come last, because they are optional.
const (
	Obs = iota
	Cells
	State
	Mask
	Alive
	Dense
	Sparse
	Score
	Terminated
	Truncated
	Seen
	RelPos
	Pixels
	BufferCount
)

// Buffers lists the arrays of a Step of s; arrays that the task lacks have length 0.
func Buffers(s *envs.Spec) []Buffer {
	e, n := s.NumEnvs, s.Agents
	all := []Buffer{
		Obs:        {"obs", "float32", []int{e, n, s.ObsLen()}},
		Cells:      {"cells", "uint16", []int{0}},
		State:      {"state", "float32", []int{e, s.State}},
		Mask:       {"mask", "bool", []int{0}},
		Alive:      {"alive", "bool", []int{e, n}},
		Dense:      {"dense", "float32", []int{e, n}},
		Sparse:     {"sparse", "float32", []int{e, n}},
		Score:      {"score", "float32", []int{e}},
		Terminated: {"terminated", "bool", []int{e}},
		Truncated:  {"truncated", "bool", []int{e}},
		Seen:       {"seen", "bool", []int{e, n, s.Peers()}},
		RelPos:     {"rel_pos", "float32", []int{e, n, s.Peers(), 2}},
		Pixels:     {"pixels", "uint8", []int{0}},
	}
	if s.CellLen() > 0 {
		h, w := s.Obs[0], s.Obs[1]
		all[Cells].Shape = []int{e, n, h, w}
		all[Pixels].Shape = []int{e, n, h * envs.CellPixels, w * envs.CellPixels, 3}
	}
	if s.Masked {
		all[Mask].Shape = []int{e, n, s.Act.Choices}
	}
	return all
}

// Group is a group of agents that train together.
type Group struct {
	Name   string `json:"name"`
	Agents []int  `json:"agents"`
	Obs    int    `json:"obs"` // length of an agent's vector observation; the rest of its row is zero
}

// Describe converts a spec to the other language's description: the fields of the Python class Spec.
func Describe(s *envs.Spec) map[string]any {
	groups := []Group{{Name: "agents", Obs: s.ObsLen()}}
	if len(s.Groups) > 0 {
		groups = nil
	}
	for _, of := range s.Groups {
		groups = append(groups, Group{Name: of.Name, Obs: of.Obs})
	}
	for i, k := range s.Teams {
		groups[k].Agents = append(groups[k].Agents, i)
	}
	solved := &s.Solved
	if !s.HasSuccess() {
		solved = nil
	}
	return map[string]any{
		"task": s.Name, "num_envs": s.NumEnvs, "num_agents": s.Agents, "groups": groups, "obs": s.Obs,
		"scalars": s.Scalars, "cell_values": len(s.Pixels) / (envs.CellPixels * envs.CellPixels * 3), "state": s.State,
		"choices": s.Act.Choices, "low": s.Act.Low, "high": s.Act.High, "masked": s.Masked, "horizon": s.Horizon,
		"eval_horizon": s.EvalHorizon, "metric": s.Metric, "sparse": s.Sparse, "solved": solved, "optimum": s.Optimum,
		"deterministic": s.Deterministic, "buffers": Buffers(s),
	}
}

// Tasks lists all registered tasks, each with its name and its settings: key, type and default.
func Tasks() ([]map[string]any, error) {
	var all []map[string]any
	for _, name := range envs.Names() {
		cfg, err := envs.Default(name)
		if err != nil {
			return nil, fmt.Errorf("a registered task has no default: %w", err)
		}
		var settings []map[string]string
		for _, k := range conf.Keys(cfg) {
			if k.Key != "copies" { // passed as num_envs
				settings = append(settings, map[string]string{"key": k.Key, "type": k.Type, "default": k.Value})
			}
		}
		all = append(all, map[string]any{"name": name, "settings": settings})
	}
	return all, nil
}
