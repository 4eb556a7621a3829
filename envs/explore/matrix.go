// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"slices"

	"cermic/envs"
	"cermic/envs/rng"
)

// Matrix holds the settings shared by the matrix games; their configs embed it as one flat struct.
type Matrix struct {
	MaxSteps int `json:"max_steps" range:"1..100000" help:"episode length in steps, with tv=screen; watching postpones the game"`
	TV       TV  `json:"tv" oneof:"off,screen,peer" help:"distraction; screen: random numbers to watch, peer: a random agent"`
}

func defaultMatrix() Matrix { return Matrix{MaxSteps: 10, TV: Off} }

// matrixAgents is the number of agents of every matrix game.
const matrixAgents = 2

// matrix is the rules of a game with one payoff table, or with several of which agent 0 first selects one. Both
// agents act at once and get the table's payoff; then the episode ends. While any agent watches the screen, nothing
// happens.
//
// A state is the phase and the last actions (-1 for none) of both agents and of the random peer. Phase 0 is the
// start. With one table, phase 1 is the end; with T tables, phase 1+k is before table k and phase 1+T+k after it.
type matrix struct {
	Matrix
	payoff [][][]float32 // [T,K,K] by the actions of agents 0 and 1
}

// newMatrix makes the environment of a game with these tables.
func newMatrix(cfg envs.Config, m Matrix, payoff [][][]float32, seed uint64, workers int) (envs.Env, error) {
	g := &matrix{m, payoff}
	if err := validate(cfg); err != nil {
		return nil, err
	}
	if least := g.rounds(); m.MaxSteps < least {
		return nil, fmt.Errorf("%s: max_steps is %d, want at least %d", cfg.Kind(), m.MaxSteps, least)
	}
	return newEnv(cfg, m.TV, g, seed, workers), nil
}

// rounds is the number of steps of a game without watching.
func (m *matrix) rounds() int { return min(len(m.payoff), 2) }

// phases is the number of phases.
func (m *matrix) phases() int {
	if len(m.payoff) == 1 {
		return 2
	}
	return 1 + 2*len(m.payoff)
}

// table is the selected table, or -1; over reports whether it has been played.
func (m *matrix) table(s []int32) (k int, over bool) {
	phase, tables := int(s[0]), len(m.payoff)
	switch {
	case tables == 1:
		return 0, phase == 1
	case phase > tables:
		return phase - 1 - tables, true
	}
	return phase - 1, false
}

// choices is K.
func (m *matrix) choices() int { return len(m.payoff[0]) }

// best is the largest payoff, with its position.
func (m *matrix) best() (payoff float32, table, row, column int) {
	payoff = m.payoff[0][0][0]
	for k, rows := range m.payoff {
		for i, line := range rows {
			if j := slices.Index(line, slices.Max(line)); line[j] > payoff {
				payoff, table, row, column = line[j], k, i, j
			}
		}
	}
	return payoff, table, row, column
}

func (m *matrix) shape() shape {
	payoff, _, _, _ := m.best()
	k := m.choices()
	h := shape{
		agents: matrixAgents, words: matrixAgents + 2, own: m.phases(), ally: k, choices: k, watch: true, horizon: m.rounds(),
		metric: "payoff", solved: payoff, optimum: payoff, deterministic: true,
		cover: envs.Projection{About: "joint action", Columns: k * len(m.payoff), Rows: k},
	}
	if m.TV == Screen {
		h.horizon = m.MaxSteps
	}
	return h
}

func (m *matrix) reset(s []int32, _ *rng.Rand) { forgetActions(s) }

func (m *matrix) step(s, act []int32) (out result) {
	k, over := m.table(s)
	if over {
		return out
	}
	copy(s[1:], act)
	if act[0] == watching || act[1] == watching {
		return out
	}
	if k < 0 { // actions beyond the number of tables select the last one
		s[0] = 1 + min(act[0], int32(len(m.payoff)-1))
		return out
	}
	if s[0]++; len(m.payoff) > 1 {
		s[0] += int32(len(m.payoff)) - 1
	}
	payoff := m.payoff[k][act[0]][act[1]]
	return result{sparse: payoff, dense: payoff, score: payoff, over: true}
}

// own is the phase, one-hot.
func (m *matrix) own(s []int32, _ int, dst []float32) { dst[s[0]] = 1 }

// ally is the peer's last action, one-hot. The agents sit side by side.
func (m *matrix) ally(s []int32, i, j int, dst []float32) (seen bool, dx, dy float32) {
	mark(s[1+j], dst)
	return true, float32(j - i), 0
}

func (m *matrix) wander(s []int32, r *rng.Rand) { s[len(s)-1] = int32(r.IntN(m.choices())) }

func (m *matrix) script(s, act []int32) {
	_, table, row, column := m.best()
	act[0], act[1] = int32(row), int32(column)
	if k, _ := m.table(s); k < 0 {
		act[0], act[1] = int32(table), 0
	}
}

// cell is the joint action that was played.
func (m *matrix) cell(s []int32, _ int) int32 {
	k, over := m.table(s)
	if !over {
		return -1
	}
	n := m.choices()
	return s[1]*int32(n*len(m.payoff)) + int32(k*n) + s[2]
}

// scene draws the tables of payoffs side by side, with a row for each action of agent 0. The best payoff is a goal, the
// played joint action is filled, and the agents stand at their row and column.
func (m *matrix) scene(s []int32, _ TV) envs.Scene {
	n := m.choices()
	wide := float64(n*len(m.payoff) + len(m.payoff) - 1)
	out := envs.Scene{MinX: -1, MinY: 0, MaxX: wide, MaxY: float64(n) + 1}
	_, best, row, column := m.best()
	now, over := m.table(s)
	for k := range m.payoff {
		for i := range n {
			for j := range n {
				cell := box(envs.RoleObstacle, float64(k*(n+1)+j)+0.5, float64(n-i)-0.5, 0.9, 0.9)
				cell.Label = fmt.Sprint(m.payoff[k][i][j])
				cell.Hollow = !over || k != now || int(s[1]) != i || int(s[2]) != j
				if k == best && i == row && j == column {
					cell.Role = envs.RoleTarget
				}
				out.Shapes = append(out.Shapes, cell)
			}
		}
	}
	at := float64(max(now, 0) * (n + 1))
	first := envs.Shape{Role: envs.RoleAgent, Agent: 0, X: -0.5, Y: float64(n) + 0.5, Radius: 0.3}
	second := envs.Shape{Role: envs.RoleAgent, Agent: 1, X: at, Y: float64(n) + 0.5, Radius: 0.3}
	if s[1] >= 0 {
		first.Y = float64(n) - 0.5 - float64(s[1])
	}
	if s[2] >= 0 {
		second.X = at + float64(s[2]) + 0.5
	}
	out.Shapes = append(out.Shapes, first, second)
	return out
}
