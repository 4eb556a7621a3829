// SPDX-License-Identifier: Apache-2.0

package libtest

import (
	"fmt"

	"cermic/envs"
)

// Game is a cooperative game of two agents in a few stages: each names a row or a column, both are rewarded with what
// stands there. An agent sees the stage and which of the two it is.
type Game struct {
	envs.Common
	Name   string `json:"name"`   // TwoStep, Climbing or NonMonotonic
	Frozen int    `json:"frozen"` // the only choice of the second agent, counted from 1; 0: all of them
}

// The games.
const (
	// TwoStep (Rashid et al. 2018): the first agent's first choice leads to a stage that always returns 7, or to one
	// that returns 8 if both then name the second action, and 0 or 1 else. Sums of utilities take the 7.
	TwoStep = "two-step"
	// Climbing (Claus and Boutilier 1998): the best pair, 11, lies between penalties of -30.
	Climbing = "climbing"
	// NonMonotonic (Son et al. 2019): the best pair returns 8, a half of it -12, other pairs 0.
	NonMonotonic = "non-monotonic"
)

// stage is one payoff table.
type stage struct {
	payoff [][]float32 // [K][K] by the choices of agents 0 and 1
	next   []int       // [K] stage that agent 0's choice leads to; nil: the game ends
}

var games = map[string][]stage{
	TwoStep: {
		{payoff: [][]float32{{0, 0}, {0, 0}}, next: []int{1, 2}},
		{payoff: [][]float32{{7, 7}, {7, 7}}},
		{payoff: [][]float32{{0, 1}, {1, 8}}},
	},
	Climbing:     {{payoff: [][]float32{{11, -30, 0}, {-30, 7, 6}, {0, 0, 5}}}},
	NonMonotonic: {{payoff: [][]float32{{8, -12, -12}, {-12, 0, 0}, {-12, 0, 0}}}},
}

// NewGame plays the named game in 8 environments.
func NewGame(name string) Game {
	return Game{Common: envs.Common{NumEnvs: 8, Reward: envs.Dense}, Name: name}
}

// Kind is "libtest/game".
func (Game) Kind() string { return "libtest/game" }

// WithShared returns a copy with the settings that every task has.
func (c Game) WithShared(s envs.Common) envs.Config { c.Common = s; return c }

// Build makes the environment.
func (c Game) Build(uint64, int) (envs.Env, error) {
	stages, ok := games[c.Name]
	if !ok {
		return nil, fmt.Errorf("%s: unknown name %q", c.Kind(), c.Name)
	}
	s := envs.Spec{
		Name: c.Kind(), NumEnvs: c.NumEnvs, Agents: 2, Teams: []int{0, 0}, Obs: []int{len(stages) + 2}, State: len(stages),
		Act: envs.ActSpec{Choices: len(stages[0].payoff)}, Horizon: len(stages), EvalHorizon: len(stages), Metric: "reward",
		Masked: c.Frozen > 0,
	}
	return &game{spec: s, stages: stages, at: make([]uint8, c.NumEnvs), frozen: c.Frozen - 1}, nil
}

type game struct {
	spec   envs.Spec
	stages []stage
	at     []uint8 // [E] stage
	frozen int     // the second agent's only choice, if masked
}

func (g *game) Spec() *envs.Spec { return &g.spec }

// show writes what the agents of environment c see.
func (g *game) show(c int, out *envs.Step) {
	o, stages := g.spec.ObsLen(), len(g.stages)
	clear(out.Obs[c*2*o : (c+1)*2*o])
	clear(out.State[c*stages : (c+1)*stages])
	out.State[c*stages+int(g.at[c])] = 1
	for i := range 2 {
		row := out.Obs[(c*2+i)*o : (c*2+i+1)*o]
		row[g.at[c]], row[stages+i] = 1, 1
		out.Alive[c*2+i] = 1
		for k := 0; g.spec.Masked && k < g.spec.Act.Choices; k++ {
			out.Mask[(c*2+i)*g.spec.Act.Choices+k] = 1
			if i == 1 && k != g.frozen {
				out.Mask[(c*2+i)*g.spec.Act.Choices+k] = 0
			}
		}
	}
}

func (g *game) Reset(mask []uint8, out *envs.Step) {
	for c := range g.at {
		if mask != nil && mask[c] == 0 {
			continue
		}
		g.at[c] = 0
		clear(out.Dense[c*2 : (c+1)*2])
		clear(out.Sparse[c*2 : (c+1)*2])
		out.Score[c], out.Terminated[c], out.Truncated[c] = 0, 0, 0
		g.show(c, out)
	}
}

func (g *game) Step(act *envs.Actions, out *envs.Step) {
	for c := range g.at {
		now := &g.stages[g.at[c]]
		r := now.payoff[act.Discrete[2*c]][act.Discrete[2*c+1]]
		for i := range 2 {
			out.Dense[2*c+i], out.Sparse[2*c+i] = r, r
		}
		out.Score[c], out.Terminated[c] = r, 1
		if now.next != nil {
			out.Terminated[c] = 0
			g.at[c] = uint8(now.next[act.Discrete[2*c]])
		}
		g.show(c, out)
	}
}

func (g *game) Save(dst []byte) []byte { return append(dst, g.at...) }

func (g *game) Load(state []byte) error {
	if len(state) != len(g.at) {
		return fmt.Errorf("%s: a state of %d bytes, want %d", g.spec.Name, len(state), len(g.at))
	}
	copy(g.at, state)
	return nil
}
