// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"

	"cermic/envs"
	"cermic/envs/rng"
)

// Lock is the task explore/lock: a combination lock for several agents. At every step, each agent pulls a lever. The
// right joint pull moves the lock one position on, any other returns it to the start. The last position opens it,
// with a reward of 1 and the end of the episode. Random play opens it with probability (1/levers^agents)^length in
// length steps.
//
// From: the combination locks of the literature on provable exploration (Misra et al. 2020, Kinematic State
// Abstraction, whose "anti-shaped" rewards are the false leads), here with joint actions.
type Lock struct {
	envs.Common
	Agents      int     `json:"n_agents" range:"1..16" help:"number of agents; each pulls one lever per step"`
	Levers      int     `json:"levers" range:"2..64" help:"number of levers per agent"`
	Length      int     `json:"length" range:"1..1000" help:"number of correct joint pulls in a row that open the lock"`
	Combination uint64  `json:"combination" help:"seed of the correct pulls, shared by all environments"`
	FalseLeads  int     `json:"false_leads" range:"0..999" help:"number of first positions with a wrong joint pull that earns false_reward and jams the lock"`
	FalseReward float32 `json:"false_reward" range:"[0..1)" help:"reward of a false lead; opening the lock earns 1"`
	MaxSteps    int     `json:"max_steps" range:"1..100000" help:"episode length, in steps; at least length"`
	TV          TV      `json:"tv" oneof:"off,screen,peer" help:"distraction; screen: random numbers to watch, peer: a random agent"`
}

// DefaultLock has two agents, three levers and eight positions, without false leads.
func DefaultLock() Lock {
	return Lock{
		Common: envs.DefaultCommon(), Agents: 2, Levers: 3, Length: 8, Combination: 1, FalseReward: 0.1,
		MaxSteps: 20, TV: Off,
	}
}

func init() { envs.Register(DefaultLock()) }

// Kind and WithShared implement envs.Config.
func (Lock) Kind() string                           { return "explore/lock" }
func (l Lock) WithShared(s envs.Common) envs.Config { l.Common = s; return l }

// Build makes the environment.
func (l Lock) Build(seed uint64, workers int) (envs.Env, error) {
	if err := validate(l); err != nil {
		return nil, err
	}
	if l.FalseLeads >= l.Length || l.MaxSteps < l.Length {
		return nil, fmt.Errorf("%s: false_leads is %d and max_steps is %d, want less than length, %d, and at least length",
			l.Kind(), l.FalseLeads, l.MaxSteps, l.Length)
	}
	g := &lock{Lock: l, right: make([]int32, l.Length*l.Agents)}
	r := rng.New(l.Combination, "combination")
	for k := range g.right {
		g.right[k] = int32(r.IntN(l.Levers))
	}
	return newEnv(l, l.TV, g, seed, workers), nil
}

// lock is the rules of the task. A state is the position and each agent's last lever (-1 for none). Position Length
// is open, Length+1 is jammed.
type lock struct {
	Lock
	right []int32 // [Length,N]
}

func (l *lock) shape() shape {
	return shape{
		agents: l.Agents, words: l.Agents + 2, own: l.positions() + l.Levers, ally: l.Levers, choices: l.Levers, watch: true,
		horizon: l.MaxSteps, metric: "success rate", solved: 1, optimum: 1, deterministic: true,
		cover: envs.Projection{About: "position of the lock", Columns: l.positions(), Rows: 1},
	}
}

// positions is the number of observed positions: 0 to Length, and jammed if possible.
func (l *lock) positions() int {
	if l.FalseLeads > 0 {
		return l.Length + 2
	}
	return l.Length + 1
}

func (l *lock) reset(s []int32, _ *rng.Rand) { forgetActions(s) }

// forgetActions is the start of an episode whose state is 0 and the last actions.
func forgetActions(s []int32) {
	s[0] = 0
	for k := range s[1:] {
		s[1+k] = -1
	}
}

func (l *lock) step(s, act []int32) (out result) {
	copy(s[1:], act)
	at := int(s[0])
	if at >= l.Length { // open or jammed
		return out
	}
	switch {
	case l.pulled(act, at, 0):
		s[0]++
	case at < l.FalseLeads && l.pulled(act, at, 1):
		s[0], out.sparse = int32(l.Length)+1, l.FalseReward
	default:
		s[0] = 0
	}
	after := 0
	if int(s[0]) <= l.Length {
		after = int(s[0])
	}
	if after == l.Length {
		out.sparse, out.score, out.over = 1, 1, true
	}
	out.dense = out.sparse + float32(after-at)/float32(l.Length)
	return out
}

// pulled reports whether every agent pulled the lever at a cyclic offset from the right one.
func (l *lock) pulled(act []int32, at, beside int) bool {
	for i, k := range act {
		if k == watching || int(k) != (int(l.right[at*l.Agents+i])+beside)%l.Levers {
			return false
		}
	}
	return true
}

// own is the position and the agent's last lever, both one-hot.
func (l *lock) own(s []int32, i int, dst []float32) {
	dst[s[0]] = 1
	mark(s[1+i], dst[l.positions():])
}

// ally is a peer's last lever, one-hot. The peer stands at that lever; all agents are in one room.
func (l *lock) ally(s []int32, i, j int, dst []float32) (seen bool, dx, dy float32) {
	mark(s[1+j], dst)
	half := float32(l.Levers-1) / 2
	if i < l.Agents && j < l.Agents {
		dx, dy = float32(s[1+j]-s[1+i])/half, float32(j-i)/float32(l.Agents)
	}
	return true, dx, dy
}

// mark writes an action, one-hot, or nothing for -1.
func mark(action int32, dst []float32) {
	if action >= 0 {
		dst[action] = 1
	}
}

func (l *lock) wander(s []int32, r *rng.Rand) { s[len(s)-1] = int32(r.IntN(l.Levers)) }

func (l *lock) script(s, act []int32) {
	at := int(s[0])
	if at >= l.Length {
		clear(act)
		return
	}
	copy(act, l.right[at*l.Agents:(at+1)*l.Agents])
}

func (l *lock) cell(s []int32, _ int) int32 { return s[0] }

// scene draws the positions as a row of boxes, filled if passed, and below it the levers with the agents that pulled
// them last. Agents without a lever stand aside, before the screen if there is one.
func (l *lock) scene(s []int32, tv TV) envs.Scene {
	wide := float64(l.Length)
	out := envs.Scene{MinX: -0.5, MinY: -3, MaxX: wide + 0.5, MaxY: 1.9}
	for k := range l.Length {
		position := box(envs.RoleObject, float64(k)+0.5, 0.5, 0.9, 0.9)
		position.Hollow = k >= int(s[0]) || int(s[0]) > l.Length
		out.Shapes = append(out.Shapes, position)
	}
	if int(s[0]) > l.Length {
		out.Shapes = append(out.Shapes, box(envs.RoleNoise, wide/2, 0.5, wide, 1))
	}
	step := wide / float64(l.Levers)
	for k := range l.Levers {
		out.Shapes = append(out.Shapes, box(envs.RoleObstacle, (float64(k)+0.5)*step, -0.9, step*0.8, 0.4))
	}
	if k := s[len(s)-1]; tv == Peer && k >= 0 {
		out.Shapes = append(out.Shapes,
			envs.Shape{Role: envs.RoleNoise, Agent: -1, X: (float64(k) + 0.5) * step, Y: -2.5, Radius: 0.25})
	}
	if tv == Screen {
		out.MinX = -2.5
		out.Shapes = append(out.Shapes, box(envs.RoleNoise, -1.6, -1.8, 1, 1.6))
	}
	for i := range l.Agents {
		x := -0.2 + 0.5*float64(i)
		if s[1+i] >= 0 {
			x = (float64(s[1+i])+0.5)*step + (float64(i)-float64(l.Agents-1)/2)*min(0.6, 0.8*step/float64(l.Agents))
		}
		out.Shapes = append(out.Shapes, envs.Shape{Role: envs.RoleAgent, Agent: i, X: x, Y: -1.8, Radius: 0.25})
	}
	return out
}
