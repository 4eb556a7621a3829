// SPDX-License-Identifier: Apache-2.0

// Package libtest checks implementations of the library's interfaces against their contracts: any learner, explorer or
// policy goes through the same tests.
package libtest

import (
	"fmt"

	"cermic/cermiclib/nn/graphtest"
	"cermic/envs"
	"cermic/envs/rng"
)

// Identity is the smallest task with something to learn: each agent observes a one-hot symbol. Its reward is 1 for
// naming it (discrete), or 1 minus the squared distance to its code (continuous). An episode lasts 4 steps. With late,
// the target is the symbol of the step before, which takes a memory, and the first step has no reward.
type Identity struct {
	envs.Common
	Agents     int  `json:"n_agents"`
	Symbols    int  `json:"symbols"`
	Continuous bool `json:"continuous"`
	Late       bool `json:"late"`
	Same       bool `json:"same"`   // all agents of an environment observe the same symbol and can predict their peers
	Rivals     bool `json:"rivals"` // every other agent is a hider, a group of its own: its reward has the opposite sign
	Masked     bool `json:"masked"` // the last choice is never allowed and never a symbol; Step panics on it
}

// DefaultIdentity has 3 agents and 4 symbols.
func DefaultIdentity() Identity {
	return Identity{Common: envs.Common{NumEnvs: 8, Reward: envs.Dense}, Agents: 3, Symbols: 4}
}

// Kind is "libtest/identity".
func (Identity) Kind() string { return "libtest/identity" }

// WithShared returns a copy with the settings that every task has.
func (c Identity) WithShared(s envs.Common) envs.Config { c.Common = s; return c }

// Build makes the environment.
func (c Identity) Build(seed uint64, _ int) (envs.Env, error) {
	if err := c.Common.Validate(c.Kind()); err != nil {
		return nil, err
	}
	s := envs.Spec{
		Name: c.Kind(), NumEnvs: c.NumEnvs, Agents: c.Agents, Teams: make([]int, c.Agents), Obs: []int{c.Symbols},
		State: c.Agents * c.Symbols, Act: envs.ActSpec{Choices: c.Symbols}, Masked: c.Masked,
		Horizon: identitySteps, EvalHorizon: identitySteps, Metric: "reward", Sparse: c.Reward == envs.Sparse,
	}
	if c.Continuous {
		s.Act = envs.ActSpec{Dim: 1, Low: []float32{-1}, High: []float32{1}}
	}
	if c.Rivals {
		s.Groups = []envs.Group{{Name: "namer", Obs: c.Symbols}, {Name: "hider", Obs: c.Symbols}}
		for i := range s.Teams {
			s.Teams[i] = i % 2
		}
	}
	rows := c.NumEnvs * c.Agents
	return &identity{cfg: c, spec: s, seed: seed, symbol: make([]int32, rows), asked: make([]int32, rows),
		step: make([]uint64, c.NumEnvs)}, nil
}

const identitySteps = 4

// none marks a step without a target.
const none = -1

type identity struct {
	cfg    Identity
	spec   envs.Spec
	seed   uint64
	symbol []int32  // [E,N] observed symbols
	asked  []int32  // [E,N] target symbols, or none
	step   []uint64 // [E] steps of all episodes, which also name the stream
	rand   rng.Rand
}

func (e *identity) Spec() *envs.Spec { return &e.spec }

// show draws new symbols for environment c and writes its rows.
func (e *identity) show(c int, out *envs.Step) {
	n, k := e.spec.Agents, e.cfg.Symbols
	e.rand.Seed(e.seed, "symbols", uint64(c), e.step[c])
	for row := c * n; row < (c+1)*n; row++ {
		usable := k
		if e.cfg.Masked {
			usable--
		}
		before := e.symbol[row]
		e.symbol[row] = int32(e.rand.IntN(usable))
		if e.cfg.Same {
			e.symbol[row] = e.symbol[c*n]
		}
		switch {
		case !e.cfg.Late:
			e.asked[row] = e.symbol[row]
		case e.step[c]%identitySteps == 0:
			e.asked[row] = none
		default:
			e.asked[row] = before
		}
		clear(out.Obs[row*k : (row+1)*k])
		out.Obs[row*k+int(e.symbol[row])] = 1
		out.Alive[row] = 1
		if e.cfg.Masked {
			graphtest.Fill(out.Mask[row*k:(row+1)*k], 1)
			out.Mask[row*k+k-1] = 0
		}
	}
	copy(out.State[c*n*k:(c+1)*n*k], out.Obs[c*n*k:])
}

func (e *identity) Reset(mask []uint8, out *envs.Step) {
	for c := range e.step {
		if mask != nil && mask[c] == 0 {
			continue
		}
		e.step[c] += identitySteps - e.step[c]%identitySteps
		n := e.spec.Agents
		clear(out.Dense[c*n : (c+1)*n])
		clear(out.Sparse[c*n : (c+1)*n])
		out.Score[c], out.Terminated[c], out.Truncated[c] = 0, 0, 0
		e.show(c, out)
	}
}

func (e *identity) Step(act *envs.Actions, out *envs.Step) {
	n := e.spec.Agents
	for c := range e.step {
		out.Score[c] = 0
		for row := c * n; row < (c+1)*n; row++ {
			r := e.reward(row, act) * float32(1-2*e.spec.Teams[row%n])
			out.Dense[row], out.Sparse[row] = r, r
			out.Score[c] += r / float32(n)
		}
		e.step[c]++
		out.Terminated[c], out.Truncated[c] = 0, 0
		if e.step[c]%identitySteps == 0 {
			out.Truncated[c] = 1
		}
		e.show(c, out)
	}
}

// reward returns the reward of agent row.
func (e *identity) reward(row int, act *envs.Actions) float32 {
	if e.cfg.Masked && int(act.Discrete[row]) == e.cfg.Symbols-1 {
		panic("libtest/identity: an agent was made to take an action that its mask forbids")
	}
	switch {
	case e.asked[row] == none:
		return 0
	case e.cfg.Continuous:
		d := act.Continuous[row] - e.code(e.asked[row])
		return 1 - d*d
	case act.Discrete[row] == e.asked[row]:
		return 1
	}
	return 0
}

// code spreads the symbols over [-0.8, 0.8].
func (e *identity) code(symbol int32) float32 {
	return -0.8 + 1.6*float32(symbol)/float32(e.cfg.Symbols-1)
}

func (e *identity) Save(dst []byte) []byte {
	return envs.SaveParts(dst, e.fingerprint(), e.step, e.symbol, e.asked)
}

func (e *identity) Load(state []byte) error {
	return envs.LoadParts(e.spec.Name, state, e.fingerprint(), e.step, e.symbol, e.asked)
}

func (e *identity) fingerprint() uint64 { return envs.Fingerprint(fmt.Sprint(e.cfg)) }
