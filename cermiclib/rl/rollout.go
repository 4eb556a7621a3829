// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"fmt"
	"slices"

	"cermic/envs"
)

// Obs is the input of a policy in one step; row (c, i) belongs to agent i of environment c. A decentralised policy
// reads only Obs, Mask, Hidden and Context; State is for critics.
type Obs struct {
	Obs    []float32 // [E,N,O]; [E,N,X] beside cells
	Cells  []uint16  // [E,N,H,W]; nil for vector observations
	State  []float32 // [E,S]
	Mask   []uint8   // [E,N,K]; nil when every action is allowed
	Alive  []uint8   // [E,N]
	Hidden []float32 // [E,N,C] policy state before this step, zeroed by the caller where an episode starts

	Context []float32 // [E,N,F] an explorer's input to each actor beside its observation; nil: none

	Visible []uint8   // [E,N,P] detector labels as in envs.Step, only for explorers
	RelPos  []float32 // [E,N,P,2] likewise

	Frames int // frames trained so far, for exploration schedules; 0 in evaluation
}

// Rollout is one batch of collected frames in reused buffers. Row t of a [T+1] field is observed before action t; after
// the end of an episode it is the next episode's first observation.
type Rollout struct {
	Spec                  *envs.Spec
	T, E, N               int
	Observed                           // [T+1,E]
	Alive                 []uint8      // [T+1,E,N]
	Act                   envs.Actions // [T,E,N] or [T,E,N,D], physical units
	Raw                   []float32    // [T,E,N,D] the same before squashing; nil for discrete actions
	LogP                  []float32    // [T,E,N] log-density of Act from Dist.Sample
	Importance            []float32    // [T,E,N] weight in a policy-gradient loss, from Dist
	Value                 []float32    // [T,E,N] written by learners that use it
	Extrinsic, Intrinsic  []float32    // [T,E,N] rewards, added as in Algorithm 1
	ExtrinsicWeight       float32      // weight of Extrinsic in that sum; 1 unless an explorer changes it
	Terminated, Truncated []uint8      // [T,E]
	IsFirst               []uint8      // [T,E] 1 where row t is the first of an episode
	Hidden                []float32    // [T,E,N,C] policy state before each action; zero where an episode starts
	Context               []float32    // [T,E,N,F] as in Obs; nil unless KeepContext was called
	Visible               []uint8      // [T+1,E,N,P] detector labels as in envs.Step; nil unless KeepLabels was called
	RelPos                []float32    // [T+1,E,N,P,2] likewise; policies never read labels
	Visits                []float32    // [T,E,N] visit count of each agent step's cell, itself included; nil if unknown
	Iteration, Frames     int          // rollout batches and frames completed before this one
	Replay                *Replay      // the learner's, including this rollout when explorers update; nil if it has none
	Eps                   float32      // share of uniform actions in the behaviour policy of LogP
	last                  finals
}

// finals holds the true last observation of every episode that ended inside the rollout, in order of (t, c).
type finals struct {
	Observed
	index   []int32 // [T,E] row, or -1
	n       int
	visible []uint8 // labels, if the rollout keeps them
	relPos  []float32
}

// Observed holds the agents' observations of some frames, one row each.
type Observed struct {
	Obs   []float32 // [.,N,O]; [.,N,X] beside cells
	Cells []uint16  // [.,N,H,W]; nil for vector observations
	State []float32 // [.,S]
	Mask  []uint8   // [.,N,K]; nil when every action is allowed
}

func newObserved(s *envs.Spec, frames int) Observed {
	rows := frames * s.Agents
	v := Observed{Obs: make([]float32, rows*s.ObsLen()), State: make([]float32, frames*s.State)}
	if cells := s.CellLen(); cells > 0 {
		v.Cells = make([]uint16, rows*cells)
	}
	if s.Masked {
		v.Mask = make([]uint8, rows*s.Act.Choices)
	}
	return v
}

// observedSize is the number of bytes of a frame in an Observed.
func observedSize(s *envs.Spec) float64 {
	size := s.Agents*(4*s.ObsLen()+2*s.CellLen()) + 4*s.State
	if s.Masked {
		size += s.Agents * s.Act.Choices
	}
	return float64(size)
}

// Gather writes the network inputs, observations then cells, into dst [.,N,I] with I = Spec.InLen().
func (v Observed) Gather(dst []float32, s *envs.Spec) { gather(dst, s, v.Obs, v.Cells) }

// row returns row k alone.
func (v *Observed) row(s *envs.Spec, k int) Observed {
	return Observed{row(v.Obs, k, s.Agents*s.ObsLen()), row(v.Cells, k, s.Agents*s.CellLen()), row(v.State, k, s.State),
		row(v.Mask, k, s.Agents*s.Act.Choices)}
}

// row returns row k of v, which has the given width; nil for a nil v.
func row[T any](v []T, k, width int) []T {
	if v == nil {
		return nil
	}
	return v[k*width : (k+1)*width]
}

// append adds the rows of w.
func (v *Observed) append(w Observed) {
	v.Obs, v.Cells = append(v.Obs, w.Obs...), append(v.Cells, w.Cells...)
	v.State, v.Mask = append(v.State, w.State...), append(v.Mask, w.Mask...)
}

// set overwrites the rows of v with the rows of w.
func (v Observed) set(w Observed) {
	copy(v.Obs, w.Obs)
	copy(v.Cells, w.Cells)
	copy(v.State, w.State)
	copy(v.Mask, w.Mask)
}

// Rows is T·E·N, the number of agent steps; agent step (t, c, i) is row (t·E + c)·N + i.
func (x *Rollout) Rows() int { return x.T * x.E * x.N }

// NewRollout allocates a rollout of t steps for spec; hidden is C, the length of the policy's recurrent state.
func NewRollout(spec *envs.Spec, t, hidden int) *Rollout {
	e, n := spec.NumEnvs, spec.Agents
	x := &Rollout{
		Spec: spec, T: t, E: e, N: n, Observed: newObserved(spec, (t+1)*e),
		Alive:      make([]uint8, (t+1)*e*n),
		LogP:       make([]float32, t*e*n),
		Importance: slices.Repeat([]float32{1}, t*e*n),
		Value:      make([]float32, t*e*n),
		Extrinsic:  make([]float32, t*e*n),
		Intrinsic:  make([]float32, t*e*n),
		Terminated: make([]uint8, t*e),
		Truncated:  make([]uint8, t*e),
		IsFirst:    make([]uint8, t*e),
		Hidden:     make([]float32, t*e*n*hidden),
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

// KeepLabels allocates the simulator's presence labels and relative positions, for components that train a detector.
func (x *Rollout) KeepLabels() {
	x.Visible = make([]uint8, (x.T+1)*x.E*x.N*x.Spec.Peers())
	x.RelPos = make([]float32, 2*len(x.Visible))
}

// KeepContext allocates the actors' contexts, width numbers each.
func (x *Rollout) KeepContext(width int) { x.Context = make([]float32, x.Rows()*width) }

// Clear removes the last observations of the previous rollout batch and resets the intrinsic reward.
func (x *Rollout) Clear() {
	for i := range x.last.index {
		x.last.index[i] = -1
	}
	x.last.n, x.last.visible, x.last.relPos = 0, x.last.visible[:0], x.last.relPos[:0]
	x.last.Observed = Observed{x.last.Obs[:0], x.last.Cells[:0], x.last.State[:0], x.last.Mask[:0]}
	clear(x.Intrinsic)
	x.ExtrinsicWeight = 1
}

// Observe copies s, the step before action t, into row t of the [T+1] fields.
func (x *Rollout) Observe(t int, s *envs.Step) {
	put(x.Obs, t, s.Obs)
	put(x.Cells, t, s.Cells)
	put(x.State, t, s.State)
	put(x.Alive, t, s.Alive)
	put(x.Mask, t, s.Mask)
	put(x.Visible, t, s.Visible)
	put(x.RelPos, t, s.RelPos)
}

// Record copies the actions of step t, and its rewards and ends of episodes from s. The extrinsic reward is
// dense or sparse as the spec says.
func (x *Rollout) Record(t int, act *envs.Actions, s *envs.Step) {
	reward := s.Dense
	if x.Spec.Sparse {
		reward = s.Sparse
	}
	put(x.Act.Discrete, t, act.Discrete)
	put(x.Act.Continuous, t, act.Continuous)
	put(x.Extrinsic, t, reward)
	put(x.Terminated, t, s.Terminated)
	put(x.Truncated, t, s.Truncated)
}

// put copies src to row t of dst, whose rows are as long; it ignores a nil dst.
func put[T any](dst []T, t int, src []T) {
	if dst != nil {
		copy(dst[t*len(src):], src)
	}
}

// End keeps the true last observation of environment c, whose episode ended with action t; s must still hold it.
func (x *Rollout) End(t, c int, s *envs.Step) {
	x.last.index[t*x.E+c] = int32(x.last.n)
	x.last.n++
	seen := Observed{s.Obs, s.Cells, s.State, s.Mask}
	x.last.append(seen.row(x.Spec, c))
	if x.Visible != nil {
		p := x.N * x.Spec.Peers()
		x.last.visible = append(x.last.visible, row(s.Visible, c, p)...)
		x.last.relPos = append(x.last.relPos, row(s.RelPos, c, 2*p)...)
	}
}

// Done reports whether the episode of environment c ended with action t, by termination or truncation.
func (x *Rollout) Done(t, c int) bool {
	return x.Terminated[t*x.E+c]|x.Truncated[t*x.E+c] != 0
}

// frame returns the observations before the action of frame = t·E + c; t = T is allowed.
func (x *Rollout) frame(frame int) Observed { return x.Observed.row(x.Spec, frame) }

// next returns the true next observations after frame = t·E + c, also at the end of an episode.
func (x *Rollout) next(frame int) Observed {
	if k := x.last.index[frame]; k >= 0 {
		return x.last.row(x.Spec, int(k))
	}
	return x.frame(frame + x.E)
}

// ObsRow returns the observation of an agent step, row = (t·E + c)·N + i; Gather adds the cells.
func (x *Rollout) ObsRow(step int) []float32 { return row(x.Obs, step, x.Spec.ObsLen()) }

// NextRow returns the true next observation of an agent step, also at the end of an episode.
func (x *Rollout) NextRow(step int) []float32 {
	return row(x.next(step/x.N).Obs, step%x.N, x.Spec.ObsLen())
}

// NextObs returns the true next observations [N,O] after frame = t·E + c, also at the end of an episode.
func (x *Rollout) NextObs(frame int) []float32 { return x.next(frame).Obs }

// NextState returns the true next state of frame = t·E + c, also at the end of an episode.
func (x *Rollout) NextState(frame int) []float32 { return x.next(frame).State }

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

// Gather writes the network inputs of all agents, observations then cells, into dst [E·N,I] with I = Spec.InLen().
func (in *Obs) Gather(dst []float32, s *envs.Spec) { gather(dst, s, in.Obs, in.Cells) }

// Gather writes the network input of an agent step into dst [I].
func (x *Rollout) Gather(dst []float32, row int) { x.GatherFrom(dst[:x.Spec.InLen()], row) }

// GatherFrom is Gather for consecutive agent steps from row, as many as fit into dst. Rows of time step T are allowed.
func (x *Rollout) GatherFrom(dst []float32, row int) {
	o, h, n := x.Spec.ObsLen(), x.Spec.CellLen(), len(dst)/x.Spec.InLen()
	gather(dst, x.Spec, x.Obs[row*o:(row+n)*o], x.Cells[row*h:(row+n)*h])
}

// GatherNext writes the true next observation of an agent step, also at the end of an episode, into dst [I].
func (x *Rollout) GatherNext(dst []float32, step int) {
	next, o, h := x.next(step/x.N), x.Spec.ObsLen(), x.Spec.CellLen()
	gather(dst[:o+h], x.Spec, row(next.Obs, step%x.N, o), row(next.Cells, step%x.N, h))
}

// gather writes observations obs [B,O] and cells [B,H,W] next to each other into dst [B,I].
func gather(dst []float32, s *envs.Spec, obs []float32, cells []uint16) {
	o, h := s.ObsLen(), s.CellLen()
	if h == 0 {
		copy(dst, obs)
		return
	}
	for b := range len(dst) / (o + h) {
		to := dst[b*(o+h) : (b+1)*(o+h)]
		copy(to, obs[b*o:(b+1)*o])
		for i, cell := range cells[b*h : (b+1)*h] {
			to[o+i] = float32(cell)
		}
	}
}

// GatherAlive writes 1 for each living agent of frames into dst [B,N], 0 elsewhere and in the rows beyond.
func (x *Rollout) GatherAlive(dst []float32, frames []int32) {
	clear(dst)
	for k, frame := range frames {
		for i, alive := range row(x.Alive, int(frame), x.N) {
			dst[k*x.N+i] = float32(alive)
		}
	}
}

// GatherMask writes 1 for each allowed action of a frame into dst [N,K].
func (x *Rollout) GatherMask(dst []float32, frame int) {
	for i := range dst {
		if dst[i] = 1; x.Mask != nil {
			dst[i] = float32(x.Mask[frame*len(dst)+i])
		}
	}
}

// rolloutSize is the number of bytes of a rollout without its labels and last observations. The paper's rollout batch
// of 36,000 frames takes 0.1 GB with 7 agents and 11 by 11 cells of two bytes. It is a float64, since absurd settings
// overflow an integer.
func rolloutSize(s *envs.Spec, t, hidden int) float64 {
	n, observed, action := float64(s.Agents), observedSize(s)+float64(s.Agents), 4.0
	if s.Act.Choices == 0 {
		action = 8 * float64(s.Act.Dim) // before and after squashing
	}
	const row = 4 * 5     // log-probability, importance, value, both rewards
	const frame = 3*1 + 4 // three flags, index of a last observation
	return float64(s.NumEnvs) * (float64(t+1)*observed + float64(t)*(n*(action+row+4*float64(hidden))+frame))
}

// Fits returns an error if this machine lacks the memory for a rollout of t steps; hidden is as in NewRollout.
func Fits(s *envs.Spec, t, hidden int) error {
	return fitsMachine(rolloutSize(s, t, hidden), "rollout batch", t*s.NumEnvs, s.Name, "collect fewer frames")
}

// fitsMachine returns an error with advice if size, the bytes of frames of a task, exceeds the machine's memory.
func fitsMachine(size float64, what string, frames int, task, advice string) error {
	if machine := float64(machineMemory()); machine > 0 && size > machine {
		return fmt.Errorf("a %s of %d frames of %s takes %.2f GB, more than the %.2f GB of this machine: %s",
			what, frames, task, size/GB, machine/GB, advice)
	}
	return nil
}
