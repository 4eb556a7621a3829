// SPDX-License-Identifier: Apache-2.0

package bridge

import (
	"fmt"
	"math"

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

// Bytes is the size in memory.
func (b *Buffer) Bytes() int {
	switch b.DType {
	case "float32":
		return 4 * b.Len()
	case "uint16":
		return 2 * b.Len()
	}
	return b.Len()
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
func Buffers(s *envs.Spec) [BufferCount]Buffer {
	e, n := s.NumEnvs, s.Agents
	all := [BufferCount]Buffer{
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

// Spec is the description of an environment for the other language.
type Spec struct {
	Task          string              `json:"task"`
	NumEnvs       int                 `json:"num_envs"`
	NumAgents     int                 `json:"num_agents"`
	Groups        []Group             `json:"groups"`
	Obs           []int               `json:"obs"`
	Scalars       int                 `json:"scalars"`
	Cells         int                 `json:"cell_values"` // number of tiles
	State         int                 `json:"state"`
	Choices       int                 `json:"choices"`
	Low           []float32           `json:"low"`
	High          []float32           `json:"high"`
	Masked        bool                `json:"masked"`
	Horizon       int                 `json:"horizon"`
	EvalHorizon   int                 `json:"eval_horizon"`
	Metric        string              `json:"metric"`
	Sparse        bool                `json:"sparse"`
	Solved        *float32            `json:"solved"` // nil: the task does not define success
	Optimum       float32             `json:"optimum"`
	Deterministic bool                `json:"deterministic"`
	Buffers       [BufferCount]Buffer `json:"buffers"`
}

// Group is a group of agents that train together.
type Group struct {
	Name   string `json:"name"`
	Agents []int  `json:"agents"`
	Obs    int    `json:"obs"` // length of an agent's vector observation; the rest of its row is zero
}

// Describe converts a spec to the other language's description.
func Describe(s *envs.Spec) *Spec {
	d := &Spec{
		Task: s.Name, NumEnvs: s.NumEnvs, NumAgents: s.Agents, Obs: s.Obs, Scalars: s.Scalars, State: s.State,
		Choices: s.Act.Choices, Low: s.Act.Low, High: s.Act.High, Masked: s.Masked,
		Horizon: s.Horizon, EvalHorizon: s.EvalHorizon, Metric: s.Metric, Sparse: s.Sparse, Optimum: s.Optimum,
		Deterministic: s.Deterministic, Buffers: Buffers(s), Cells: len(s.Pixels) / (envs.CellPixels * envs.CellPixels * 3),
	}
	if solved := s.Solved; !math.IsInf(float64(solved), 0) {
		d.Solved = &solved
	}
	if len(s.Groups) == 0 {
		d.Groups = []Group{{Name: "agents", Obs: s.ObsLen()}}
	}
	for _, of := range s.Groups {
		d.Groups = append(d.Groups, Group{Name: of.Name, Obs: of.Obs})
	}
	for i, k := range s.Teams {
		d.Groups[k].Agents = append(d.Groups[k].Agents, i)
	}
	return d
}

// TaskSettings describes a registered task.
type TaskSettings struct {
	Name     string    `json:"name"`
	Settings []Setting `json:"settings"`
}

// Setting is one key of a task's config.
type Setting struct {
	Key     string `json:"key"`
	Type    string `json:"type"`
	Default string `json:"default"`
}

// Tasks lists all registered tasks with their settings.
func Tasks() ([]TaskSettings, error) {
	var all []TaskSettings
	for _, name := range envs.Names() {
		cfg, err := envs.Default(name)
		if err != nil {
			return nil, fmt.Errorf("a registered task has no default: %w", err)
		}
		task := TaskSettings{Name: name}
		for _, key := range conf.Keys(cfg) {
			if key.Key != "copies" { // passed as num_envs
				task.Settings = append(task.Settings, Setting{key.Key, key.Type, key.Value})
			}
		}
		all = append(all, task)
	}
	return all, nil
}
