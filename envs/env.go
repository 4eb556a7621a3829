// SPDX-License-Identifier: Apache-2.0

// Package envs defines environments: E parallel environments of one task, with N agents each, stepped together.
//
// Shape letters of all comments: T time, E environments, N agents, O observation, S state, K discrete actions, D
// components of a continuous action, B rows.
//
// Packages below envs contain no learning code. A new task is one file with a config struct and a call of Register. The
// command line, notebooks and conformance tests find it in the registry.
package envs

import (
	"fmt"
	"math"
)

// Env steps E environments of a task in lockstep.
//
// The protocol: Reset(nil, out) once, then Step, then Reset(mask, out) for the environments with Terminated or
// Truncated set, and so on. An Env is not safe for concurrent use; internally it may use several goroutines. An
// evaluation runs one episode in every environment and resets none before the last one is over. An environment whose
// episode has ended must therefore accept further actions; its output is ignored.
//
// paper:setup  The tuple (O, A, P, R, N, γ) of Section 3; agents observe only their own row of Step.Obs.
type Env interface {
	// Spec describes the shapes. The caller must not change it.
	Spec() *Spec
	// Reset starts a new episode in every environment c with mask[c] != 0 (nil: all) and writes only their rows of
	// out. Rewards, Score, Terminated and Truncated of those rows become 0.
	Reset(mask []uint8, out *Step)
	// Step advances every environment by one action and fills out with the true last observation at the end of an
	// episode. It never resets or allocates, and its result depends neither on the order nor on the number of workers.
	Step(act *Actions, out *Step)
	// Save appends the complete state that later steps and resets depend on; Load restores it.
	Save(dst []byte) []byte
	// Load returns an error if state was not written by Save of an equally configured Env. The Env is then unusable
	// until the next full Reset.
	Load(state []byte) error
}

// Spec holds the shapes and constants of an environment.
type Spec struct {
	Name        string  // as registered: "vmas/balance"
	NumEnvs     int     // E
	Agents      int     // N
	Teams       []int   // [N] group of each agent; all 0 if there is one group
	Groups      []Group // groups of agents with separate learners; nil: one group
	PeersAcross bool    // Visible and RelPos cover the agents of all groups, not only one's own
	Group       string  // in a group's View: its name; else ""
	// in a group's View: the groups of the peers in columns N and further of Visible and RelPos; else nil
	Opponents   []int
	Obs         []int    // shape of one agent's observation: [18]; or [H W] cells with indices into Pixels
	Pixels      []uint8  // [V,8,8,3] RGB of each cell value; nil for vector observations
	Scalars     int      // X: length of the vector observation beside cells; 0 for vector observations
	Entities    []Entity // named spans of an agent's row of Step.Obs; may be empty
	State       int      // S: length of the central state for critics and mixers, without cells
	Act         ActSpec  //
	Masked      bool     // actions can be unavailable: Step.Mask is filled
	Horizon     int      // steps until truncation with the configured reward
	EvalHorizon int      // steps over which Score is counted: the benchmark's own horizon
	SolvableIn  int      // steps that suffice for a success, if the benchmark's do not; 0: they do
	Early       int      // number of first steps whose Score evaluations record separately; 0: none
	Metric      string   // name of an episode's summed Score: "reward", "mean return", "win rate"
	Sparse      bool     // the learner is trained on Step.Sparse
	Solved      float32  // each agent's sparse return in a successful episode; 0: any reward; +Inf: success is undefined
	Optimum     float32  // the largest guaranteed score of an episode; 0: unknown

	Deterministic bool // equal actions lead to equal episodes for all seeds
	HidesPeers    bool // observations lack features of each peer, although Visible and RelPos have them
}

// Group is a set of agents that trains separately, as in BenchMARL: own networks, optimisers and buffers.
type Group struct {
	Name     string   // the benchmark's: "adversary"
	Obs      int      // O of its agents; the rest of their rows of Step.Obs is zero
	Entities []Entity // named spans of these observations; may be empty
}

// Peers is the number of agents in Step.Visible and Step.RelPos: the N agents, then the Opponents of a View.
func (s *Spec) Peers() int { return s.Agents + len(s.Opponents) }

// HasSuccess reports whether the task defines success.
func (s *Spec) HasSuccess() bool { return !math.IsInf(float64(s.Solved), 1) }

// Succeeds reports whether an episode with this sparse return, averaged over agents, is a success.
func (s *Spec) Succeeds(sparse float64) bool {
	return sparse > 0 && sparse >= 0.9999*float64(s.Solved) // rounding of summed partial rewards
}

// ObsLen is the length of one agent's row of Step.Obs: O for vector observations, X for cells.
func (s *Spec) ObsLen() int {
	if len(s.Obs) == 2 {
		return s.Scalars
	}
	return s.Obs[0]
}

// CellLen is the length of one agent's row of Step.Cells: H·W, or 0 for vector observations.
func (s *Spec) CellLen() int {
	if len(s.Obs) == 2 {
		return s.Obs[0] * s.Obs[1]
	}
	return 0
}

// InLen is the length of a network's input per agent: O numbers, or X numbers and H·W cells. A cell number is exact
// as a float32.
func (s *Spec) InLen() int { return s.ObsLen() + s.CellLen() }

// CheckReset panics if the mask or the buffers of a Reset have the wrong shape. Environments index without checks, on
// goroutines whose panics could not be recovered.
func (s *Spec) CheckReset(mask []uint8, out *Step) {
	e, rows := s.NumEnvs, s.NumEnvs*s.Agents
	peers, choices := rows*s.Peers(), len(out.Mask)
	if s.Masked {
		choices = rows * s.Act.Choices
	}
	for _, length := range [...][2]int{
		{len(out.Obs), rows * s.ObsLen()}, {len(out.Cells), rows * s.CellLen()}, {len(out.State), e * s.State},
		{len(out.Mask), choices}, {len(out.Alive), rows}, {len(out.Dense), rows}, {len(out.Sparse), rows},
		{len(out.Score), e}, {len(out.Terminated), e}, {len(out.Truncated), e}, {len(out.Visible), peers},
		{len(out.RelPos), 2 * peers},
	} {
		if length[0] != length[1] {
			panic(s.Name + ": the Step has the wrong shapes; make it with envs.NewStep")
		}
	}
	if mask != nil && len(mask) != s.NumEnvs {
		panic(fmt.Sprintf("%s: a mask of %d environments, want %d", s.Name, len(mask), s.NumEnvs))
	}
}

// CheckActions panics if the actions or the buffers of a Step have the wrong shape, or if a choice is out of range.
func (s *Spec) CheckActions(act *Actions, out *Step) {
	s.CheckReset(nil, out)
	rows, k := s.NumEnvs*s.Agents, s.Act.Choices
	if k > 0 && len(act.Discrete) != rows || k == 0 && len(act.Continuous) != rows*s.Act.Dim {
		panic(fmt.Sprintf("%s: %d choices and %d components of continuous actions, want one action for each of %d agents",
			s.Name, len(act.Discrete), len(act.Continuous), rows))
	}
	for row, choice := range act.Discrete {
		if uint32(choice) >= uint32(k) {
			panic(fmt.Sprintf("%s: choice %d in row %d, want 0 to %d", s.Name, choice, row, k-1))
		}
	}
}

// ActSpec describes one agent's action: discrete if Choices > 0, else Dim numbers in [Low, High].
type ActSpec struct {
	Choices   int       // K
	Targets   int       // the last Targets actions aim at the first Object entities, one each; 0: no targets
	Dim       int       // D
	Low, High []float32 // [D]
}

// Len is the length of an action as a vector, one-hot if discrete: K or D.
func (a *ActSpec) Len() int { return max(a.Choices, a.Dim) }

// EntityKind is the kind of an Entity span.
type EntityKind string

// The kinds of spans.
const (
	Own    EntityKind = "own"    // about the observer alone
	Ally   EntityKind = "ally"   // relative data of one peer
	Object EntityKind = "object" // a package, a goal, an enemy
)

// ScreenSpan is the name of a span of unpredictable random numbers.
const ScreenSpan = "screen"

// Entity names the span [From, To) of a flat observation. Spans of one kind have equal length.
type Entity struct {
	Name     string
	Kind     EntityKind
	From, To int
}

// Step is the output of E environments after one transition. NewStep makes its buffers, which are refilled in place.
type Step struct {
	Obs   []float32 // [E,N,O] after the transition, before any reset; [E,N,X] beside cells
	Cells []uint16  // [E,N,H,W] cell values; nil for vector observations
	State []float32 // [E,S]
	// [E,N,K] 1 = allowed, at least one per living agent; nil if all actions are always allowed
	Mask []uint8
	// [E,N] 1: the agent acts and learns; 0: it is dead, its action is ignored and its rows train nothing
	Alive                 []uint8
	Dense, Sparse         []float32 // [E,N] the original reward; the sparse reward of the appendix
	Score                 []float32 // [E] the step's contribution to the benchmark's metric
	Terminated, Truncated []uint8   // [E] not both; learners use Terminated if they are
	// [E,N,P] detector labels (App. A): i perceives j; for pre-training only; P = Spec.Peers()
	Visible []uint8
	RelPos  []float32 // [E,N,P,2] position of j relative to i in world half sizes; for pre-training only
}

// Actions holds one action for every agent of every environment: Discrete if the spec is discrete, else Continuous.
// Step clamps continuous actions to their bounds, replaces NaN by 0, and panics on a discrete action out of range.
type Actions struct {
	Discrete   []int32   // [E,N]
	Continuous []float32 // [E,N,D] in the units of the spec's [Low, High]
}

// NewStep makes the buffers of a Step for s.
func NewStep(s *Spec) *Step {
	e, n := s.NumEnvs, s.Agents
	out := &Step{
		Obs:        make([]float32, e*n*s.ObsLen()),
		State:      make([]float32, e*s.State),
		Alive:      make([]uint8, e*n),
		Dense:      make([]float32, e*n),
		Sparse:     make([]float32, e*n),
		Score:      make([]float32, e),
		Terminated: make([]uint8, e),
		Truncated:  make([]uint8, e),
		Visible:    make([]uint8, e*n*s.Peers()),
		RelPos:     make([]float32, e*n*s.Peers()*2),
	}
	if cells := s.CellLen(); cells > 0 {
		out.Cells = make([]uint16, e*n*cells)
	}
	if s.Masked {
		out.Mask = make([]uint8, e*n*s.Act.Choices)
	}
	return out
}

// NewActions makes the buffers of Actions for s.
func NewActions(s *Spec) *Actions {
	if s.Act.Choices > 0 {
		return &Actions{Discrete: make([]int32, s.NumEnvs*s.Agents)}
	}
	return &Actions{Continuous: make([]float32, s.NumEnvs*s.Agents*s.Act.Dim)}
}
