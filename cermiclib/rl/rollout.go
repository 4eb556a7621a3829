// SPDX-License-Identifier: Apache-2.0

// Package rl holds the host side of reinforcement learning: the rollout, returns and advantages, action distributions
// and running statistics. Everything is []float32 in flat, time-major order; nothing here builds a graph.
package rl

import (
	"slices"

	"cermic/envs"
)

// Obs is what a policy may look at in one step: row (c, i) belongs to agent i of environment c. A decentralised policy uses
// Obs, Mask and Hidden only; State is for critics.
type Obs struct {
	Obs    []float32 // [E,N,O]; [E,N,X] beside cells
	Cells  []uint16  // [E,N,H,W]; nil for vector observations
	State  []float32 // [E,S]
	Mask   []uint8   // [E,N,K]; nil when every action is allowed
	Alive  []uint8   // [E,N]
	Hidden []float32 // [E,N,C] policy state before this step, zeroed by the caller where an episode starts

	Visible []uint8   // [E,N,P] detector labels as in envs.Step, for explorers alone
	RelPos  []float32 // [E,N,P,2] likewise

	Frames int // trained so far; schedules of exploration depend on it, evaluation leaves it 0
}

// Rollout is one batch of collected frames. Its buffers are made once and refilled; row t of a [T+1] field is what the agents saw
// before action t, which after the end of an episode is the first observation of the next one.
type Rollout struct {
	Spec                  *envs.Spec
	T, E, N               int
	Obs                   []float32    // [T+1,E,N,O]; [T+1,E,N,X] beside cells
	Cells                 []uint16     // [T+1,E,N,H,W]; nil for vector observations
	State                 []float32    // [T+1,E,S]
	Mask, Alive           []uint8      // [T+1,E,N,K] (nil: all allowed), [T+1,E,N]
	Act                   envs.Actions // [T,E,N] or [T,E,N,D], physical units
	Raw                   []float32    // [T,E,N,D] the same before squashing; nil for discrete actions
	LogP                  []float32    // [T,E,N] log-density at Act of the behaviour policy, as Dist.Ratio wants it
	Importance            []float32    // [T,E,N] weight in a policy-gradient loss; 1 unless Dist.Ratio says otherwise
	Value                 []float32    // [T,E,N] filled by learners that use it
	Extrinsic, Intrinsic  []float32    // [T,E,N] Algorithm 1 adds them
	ExtrinsicWeight       float32      // of Extrinsic in that sum; 1 unless an explorer says otherwise
	Dense, Score          []float32    // [T,E,N], [T,E] for statistics only
	Terminated, Truncated []uint8      // [T,E]
	IsFirst               []uint8      // [T,E] 1 where row t is the first of an episode
	Hidden                []float32    // [T,E,N,C] policy state before each action; zero where an episode starts
	Visible               []uint8      // [T+1,E,N,P] detector labels as in envs.Step; nil unless KeepLabels was called
	RelPos                []float32    // [T+1,E,N,P,2] likewise; neither is ever shown to a policy
	Visits                []float32    // [T,E,N] how often the task has been where each agent step was, this one included; nil where it cannot count
	Iteration, Frames     int          // rollout batches and frames completed before this one
	Replay                *Replay      // of the learner, which holds this rollout, too, when explorers update; nil where it keeps none
	Eps                   float32      // share of uniform actions in the behaviour policy that LogP belongs to
	last                  finals
}

// finals keeps the true last observation of every episode that ended inside the rollout: appended in order of (t, c).
type finals struct {
	index []int32 // [T,E] position in obs/state, or -1
	obs   []float32
	cells []uint16
	state []float32
	mask  []uint8
	n     int

	visible []uint8 // labels, where the rollout keeps them
	relPos  []float32
}

// Rows is T·E·N, the number of agent steps; agent step (t, c, i) is row (t·E + c)·N + i.
func (x *Rollout) Rows() int { return x.T * x.E * x.N }

// NewRollout makes the buffers of a rollout of t steps for spec; hidden is C, the length of the policy's recurrent state.
func NewRollout(spec *envs.Spec, t, hidden int) *Rollout {
	e, n := spec.NumEnvs, spec.Agents
	x := &Rollout{
		Spec: spec, T: t, E: e, N: n,
		Obs:        make([]float32, (t+1)*e*n*spec.ObsLen()),
		State:      make([]float32, (t+1)*e*spec.State),
		Alive:      make([]uint8, (t+1)*e*n),
		LogP:       make([]float32, t*e*n),
		Importance: slices.Repeat([]float32{1}, t*e*n),
		Value:      make([]float32, t*e*n),
		Extrinsic:  make([]float32, t*e*n),
		Intrinsic:  make([]float32, t*e*n),
		Dense:      make([]float32, t*e*n),
		Score:      make([]float32, t*e),
		Terminated: make([]uint8, t*e),
		Truncated:  make([]uint8, t*e),
		IsFirst:    make([]uint8, t*e),
		Hidden:     make([]float32, t*e*n*hidden),
	}
	if cells := spec.CellLen(); cells > 0 {
		x.Cells = make([]uint16, (t+1)*e*n*cells)
	}
	if spec.Masked {
		x.Mask = make([]uint8, (t+1)*e*n*spec.Act.Choices)
	}
	if spec.Act.Choices > 0 {
		x.Act.Discrete = make([]int32, t*e*n)
	} else {
		x.Act.Continuous = make([]float32, t*e*n*spec.Act.Dim)
		x.Raw = make([]float32, t*e*n*spec.Act.Dim)
	}
	x.last.index = make([]int32, t*e)
	x.Clear()
	return x
}

// KeepLabels makes room for the simulator's presence labels and relative positions, for components that train a detector.
func (x *Rollout) KeepLabels() {
	x.Visible = make([]uint8, (x.T+1)*x.E*x.N*x.Spec.Peers())
	x.RelPos = make([]float32, 2*len(x.Visible))
}

// Clear forgets the last observations of the previous rollout batch and all that an explorer has made of the reward.
func (x *Rollout) Clear() {
	for i := range x.last.index {
		x.last.index[i] = -1
	}
	x.last.n, x.last.obs, x.last.cells, x.last.state = 0, x.last.obs[:0], x.last.cells[:0], x.last.state[:0]
	x.last.mask, x.last.visible, x.last.relPos = x.last.mask[:0], x.last.visible[:0], x.last.relPos[:0]
	clear(x.Intrinsic)
	x.ExtrinsicWeight = 1
}

// Observe copies s, what the agents see before action t, into row t of the [T+1] fields.
func (x *Rollout) Observe(t int, s *envs.Step) {
	copy(x.Obs[t*x.E*x.N*x.Spec.ObsLen():], s.Obs)
	copy(x.Cells[t*x.E*x.N*x.Spec.CellLen():], s.Cells)
	copy(x.State[t*x.E*x.Spec.State:], s.State)
	copy(x.Alive[t*x.E*x.N:], s.Alive)
	if x.Mask != nil {
		copy(x.Mask[t*x.E*x.N*x.Spec.Act.Choices:], s.Mask)
	}
	if x.Visible != nil {
		at := t * x.E * x.N * x.Spec.Peers()
		copy(x.Visible[at:], s.Visible)
		copy(x.RelPos[2*at:], s.RelPos)
	}
}

// End keeps the true last observation of environment c, whose episode ended with action t; s still holds it.
func (x *Rollout) End(t, c int, s *envs.Step) {
	o, h, sl := x.N*x.Spec.ObsLen(), x.N*x.Spec.CellLen(), x.Spec.State
	x.last.index[t*x.E+c] = int32(x.last.n)
	x.last.n++
	x.last.obs = append(x.last.obs, s.Obs[c*o:(c+1)*o]...)
	x.last.cells = append(x.last.cells, s.Cells[c*h:(c+1)*h]...)
	x.last.state = append(x.last.state, s.State[c*sl:(c+1)*sl]...)
	if s.Mask != nil {
		k := x.N * x.Spec.Act.Choices
		x.last.mask = append(x.last.mask, s.Mask[c*k:(c+1)*k]...)
	}
	if x.Visible != nil {
		p := x.N * x.Spec.Peers()
		x.last.visible = append(x.last.visible, s.Visible[c*p:(c+1)*p]...)
		x.last.relPos = append(x.last.relPos, s.RelPos[2*c*p:2*(c+1)*p]...)
	}
}

// Done reports whether the episode of environment c ended with action t, for whatever reason.
func (x *Rollout) Done(t, c int) bool {
	return x.Terminated[t*x.E+c]|x.Truncated[t*x.E+c] != 0
}

// ObsRow returns the numbers that an agent observes at an agent step, row = (t·E + c)·N + i; Gather adds the cells.
func (x *Rollout) ObsRow(row int) []float32 {
	o := x.Spec.ObsLen()
	return x.Obs[row*o : (row+1)*o]
}

// NextRow returns the same of the true next observation, also across the end of an episode.
func (x *Rollout) NextRow(row int) []float32 {
	o := x.Spec.ObsLen()
	frame, agent := row/x.N, row%x.N
	if k := x.last.index[frame]; k >= 0 {
		at := (int(k)*x.N + agent) * o
		return x.last.obs[at : at+o]
	}
	return x.ObsRow(row + x.E*x.N)
}

// NextState returns the true next state of frame = t·E + c, also across the end of an episode.
func (x *Rollout) NextState(frame int) []float32 {
	s := x.Spec.State
	if k := int(x.last.index[frame]); k >= 0 {
		return x.last.state[k*s : (k+1)*s]
	}
	return x.State[(frame+x.E)*s : (frame+x.E+1)*s]
}

// NextMask returns what the agents may do after frame = t·E + c [N,K], also across the end of an episode; the task must
// have masks.
func (x *Rollout) NextMask(frame int) []uint8 {
	m := x.N * x.Spec.Act.Choices
	if k := int(x.last.index[frame]); k >= 0 {
		return x.last.mask[k*m : (k+1)*m]
	}
	return x.Mask[(frame+x.E)*m : (frame+x.E+1)*m]
}

// ActionVector writes the vector form of the action of an agent step into dst: one-hot [K], or the box action scaled to
// [-1, 1] [D].
func (x *Rollout) ActionVector(dst []float32, row int) {
	a := &x.Spec.Act
	if a.Choices > 0 {
		clear(dst[:a.Choices])
		dst[x.Act.Discrete[row]] = 1
		return
	}
	for d := range a.Dim {
		dst[d] = 2*(x.Act.Continuous[row*a.Dim+d]-a.Low[d])/(a.High[d]-a.Low[d]) - 1
	}
}

// Scalars are the named numbers that one iteration reports: losses, ratios, moments.
type Scalars map[string]float64
