// SPDX-License-Identifier: Apache-2.0

package libtest

import (
	"encoding/binary"
	"fmt"

	"cermic/envs"
	"cermic/envs/rng"
)

// Quarrel is the smallest game of two groups: all agents of an environment see the same symbol. Namers are rewarded
// with the share of agents, of both groups, that name it, and hiders lose as much, so that what is right for the one
// is wrong for the other on the same observation. An episode lasts 4 steps. Agents are a namer, a hider and a namer,
// whose observations end in a number more.
type Quarrel struct {
	envs.Common
	Peers bool `json:"peers"` // agents of both groups are peers
}

// DefaultQuarrel plays in 8 environments.
func DefaultQuarrel() Quarrel { return Quarrel{Common: envs.Common{NumEnvs: 8, Reward: envs.Dense}} }

// Kind is "libtest/quarrel".
func (Quarrel) Kind() string { return "libtest/quarrel" }

// WithShared returns a copy with the settings that every task has.
func (c Quarrel) WithShared(s envs.Common) envs.Config { c.Common = s; return c }

const (
	quarrelAgents  = 3
	quarrelSymbols = 3
	quarrelWidth   = quarrelSymbols + 1
)

// Build makes the environment.
func (c Quarrel) Build(seed uint64, _ int) (envs.Env, error) {
	if err := c.Common.Validate(c.Kind()); err != nil {
		return nil, err
	}
	return &quarrel{seed: seed, symbol: make([]int32, c.NumEnvs), step: make([]uint64, c.NumEnvs), spec: envs.Spec{
		Name: c.Kind(), NumEnvs: c.NumEnvs, Agents: quarrelAgents, Teams: []int{0, 1, 0}, PeersAcross: c.Peers,
		Groups: []envs.Group{{Name: "namer", Obs: quarrelWidth}, {Name: "hider", Obs: quarrelSymbols}},
		Obs:    []int{quarrelWidth}, State: quarrelAgents * quarrelWidth, Act: envs.ActSpec{Choices: quarrelSymbols},
		Horizon: 4, EvalHorizon: 4, Metric: "reward", Sparse: c.Reward == envs.Sparse,
	}}, nil
}

type quarrel struct {
	spec   envs.Spec
	seed   uint64
	symbol []int32  // [E]
	step   []uint64 // [E] since the start, over all episodes
}

func (q *quarrel) Spec() *envs.Spec { return &q.spec }

// show draws the next symbol of environment c, of which there is none after an episode's end, and writes what its
// agents see: everybody sees everybody.
func (q *quarrel) show(c int, out *envs.Step) {
	q.symbol[c] = int32(rng.New(q.seed, "quarrel", uint64(c), q.step[c]).IntN(quarrelSymbols))
	rows := out.Obs[c*quarrelAgents*quarrelWidth : (c+1)*quarrelAgents*quarrelWidth]
	clear(rows)
	for i := range quarrelAgents {
		if out.Truncated[c] == 0 {
			rows[i*quarrelWidth+int(q.symbol[c])] = 1
		}
		if q.spec.Teams[i] == 0 {
			rows[i*quarrelWidth+quarrelSymbols] = 1
		}
		out.Alive[c*quarrelAgents+i] = 1
		for j := range quarrelAgents {
			out.Visible[(c*quarrelAgents+i)*quarrelAgents+j] = 1
			if i == j {
				out.Visible[(c*quarrelAgents+i)*quarrelAgents+j] = 0
			}
		}
	}
	copy(out.State[c*len(rows):], rows)
}

func (q *quarrel) Reset(mask []uint8, out *envs.Step) {
	for c := range q.step {
		if mask != nil && mask[c] == 0 {
			continue
		}
		q.step[c] += 4 - q.step[c]%4 // the first step of the next episode
		clear(out.Dense[c*quarrelAgents : (c+1)*quarrelAgents])
		clear(out.Sparse[c*quarrelAgents : (c+1)*quarrelAgents])
		out.Score[c], out.Terminated[c], out.Truncated[c] = 0, 0, 0
		q.show(c, out)
	}
}

func (q *quarrel) Step(act *envs.Actions, out *envs.Step) {
	for c := range q.step {
		named := float32(0)
		for _, choice := range act.Discrete[c*quarrelAgents : (c+1)*quarrelAgents] {
			if choice == q.symbol[c] {
				named += 1. / quarrelAgents
			}
		}
		for i, team := range q.spec.Teams {
			out.Dense[c*quarrelAgents+i] = named * float32(1-2*team)
			out.Sparse[c*quarrelAgents+i] = out.Dense[c*quarrelAgents+i]
		}
		out.Score[c], out.Terminated[c], out.Truncated[c] = 0, 0, 0 // the mean over groups of what adds up to nothing
		q.step[c]++
		if q.step[c]%4 == 0 {
			out.Truncated[c] = 1
		}
		q.show(c, out)
	}
}

func (q *quarrel) Save(dst []byte) []byte {
	for c := range q.step {
		dst = binary.LittleEndian.AppendUint64(dst, q.step[c])
		dst = binary.LittleEndian.AppendUint32(dst, uint32(q.symbol[c]))
	}
	return binary.LittleEndian.AppendUint64(dst, q.seed)
}

func (q *quarrel) Load(state []byte) error {
	if len(state) != 12*len(q.step)+8 {
		return fmt.Errorf("%s: a state of %d bytes, want %d", q.spec.Name, len(state), 12*len(q.step)+8)
	}
	for c := range q.step {
		q.step[c] = binary.LittleEndian.Uint64(state[12*c:])
		q.symbol[c] = int32(binary.LittleEndian.Uint32(state[12*c+8:]))
	}
	q.seed = binary.LittleEndian.Uint64(state[12*len(q.step):])
	return nil
}
