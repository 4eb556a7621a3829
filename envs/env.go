// SPDX-License-Identifier: Apache-2.0

// Package envs defines what an environment is: E independent copies of one task, N agents each, stepped together.
//
// Shape letters, used in every comment of this module: T time, E environments, N agents, O observation, S state, K choices,
// D components of a continuous action, B rows.
//
// Nothing below this package knows of learning. A task is added by one file that declares a config struct and calls
// Register; everything else (command line, notebooks, conformance tests) finds it there.
package envs

import "math"

// Env steps E environments of a task in lockstep.
//
// The protocol: Reset(nil, out) once, then Step, then Reset(mask, out) with the copies that have Terminated or Truncated
// set, and so on. An Env is not safe for concurrent use; internally it may use several goroutines. An evaluation plays one episode in every
// copy and resets none before the last one is over: a copy whose episode has ended must accept further actions, whatever they are; nobody
// looks at what it shows then.
//
// paper:setup  the tuple (O, A, P, R, N, γ) of Section 3; agents see only their own row of Step.Obs
type Env interface {
	// Spec describes the shapes. The caller must not change it.
	Spec() *Spec
	// Reset starts a new episode in every environment c with mask[c] != 0 (nil: in all) and writes only the rows of out that
	// belong to those copies. Rewards, Score, Terminated and Truncated of those rows become 0.
	Reset(mask []uint8, out *Step)
	// Step advances every environment by one action and fills out, which holds the true last observation where an episode
	// ended. It never resets, never allocates, and its result depends neither on order nor on number of workers.
	Step(act *Actions, out *Step)
	// Save appends everything that the next Step or Reset depends on to dst; Load restores it.
	Save(dst []byte) []byte
	// Load returns an error, and leaves the Env unusable until the next full Reset, if state was not written by Save of
	// an equally configured Env.
	Load(state []byte) error
}

// Spec holds the shapes and constants of an environment.
type Spec struct {
	Name        string   // as registered: "vmas/balance"
	NumEnvs     int      // E
	Agents      int      // N
	Teams       []int    // [N] of which of the Groups each agent is; all 0 where there is one
	Groups      []Group  // groups of agents, each with a learner of its own; nil: all agents are one
	PeersAcross bool     // peers, whom Visible and RelPos tell of, are the agents of all groups, and not one's own group alone
	Group       string   // in a group's View: its name; else ""
	Opponents   []int    // in a group's View: groups of those whom columns N and further of Visible and RelPos tell of; else nil
	Obs         []int    // shape of one agent's observation: [18]; or cells [H W] whose values index Pixels
	Pixels      []uint8  // [V,8,8,3] RGB of each cell value; nil for vector observations
	Painted     bool     // networks read the painted pictures, pixel by pixel, and not the cells: the same at many times the cost
	Scalars     int      // X: numbers that an agent observes beside its cells; 0 for vector observations
	Entities    []Entity // named spans of an agent's row of Step.Obs; may be empty
	State       int      // S: length of the centralised state for critics and mixers; of cell tasks, what is no picture
	Act         ActSpec  //
	Masked      bool     // actions can be unavailable: Step.Mask is filled
	Horizon     int      // steps until truncation, of the configured reward mode
	EvalHorizon int      // steps over which Score is counted: the benchmark's own
	SolvableIn  int      // steps that are enough for a success, where the benchmark's own are too few; 0: those are enough
	Early       int      // steps at the beginning of an episode whose Score evaluations note beside the whole; 0: none
	Metric      string   // what the mean of Score's sum over an episode is called: "reward", "mean return", "win rate"
	Sparse      bool     // Step.Sparse is what the learner is trained on
	Solved      float32  // what Sparse adds up to, for each agent, over an episode that succeeds; 0: any reward; +Inf: none does
	Optimum     float32  // the largest sum of Score over an episode that a policy can count on; 0: unknown

	Deterministic bool // equal actions lead to equal episodes: seeds change nothing
	HidesPeers    bool // observations have no channel of each peer, though Visible and RelPos tell of it
}

// Group are agents of one kind, which BenchMARL trains apart from others: own networks, optimisers and buffers.
type Group struct {
	Name     string   // the benchmark's: "adversary"
	Obs      int      // O of its agents' vector observations; the rest of their rows of Step.Obs is zeros
	Entities []Entity // named spans of them; may be empty
}

// Peers is the number of agents whom Step.Visible and Step.RelPos tell of: the N agents first, then the Opponents of a View.
func (s *Spec) Peers() int { return s.Agents + len(s.Opponents) }

// HasSuccess reports whether the task says what a success is.
func (s *Spec) HasSuccess() bool { return !math.IsInf(float64(s.Solved), 1) }

// Succeeds reports whether an episode in which agents received sparse on average, all steps together, is a success.
func (s *Spec) Succeeds(sparse float64) bool {
	return sparse > 0 && sparse >= 0.9999*float64(s.Solved) // parts of a bonus add up to it within rounding
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

// InLen is the length of what a network reads of one agent's observation: O numbers, or X numbers and then H·W cells, each as its
// number. Every cell's number is exact as a float32.
func (s *Spec) InLen() int { return s.ObsLen() + s.CellLen() }

// ActSpec describes one agent's action: Choices > 0 means a discrete one, else Dim numbers in [Low, High].
type ActSpec struct {
	Choices   int       // K
	Targets   int       // the last Targets choices aim at the first Object entities, one each; 0: none aims at an entity
	Dim       int       // D
	Low, High []float32 // [D]
}

// Len is the length of the action's vector form, one-hot for discrete actions: K or D.
func (a *ActSpec) Len() int { return max(a.Choices, a.Dim) }

// EntityKind says what an Entity span is about.
type EntityKind string

// The kinds of spans.
const (
	Own    EntityKind = "own"    // about the observer alone
	Ally   EntityKind = "ally"   // relative data of one peer
	Object EntityKind = "object" // a package, a goal, an enemy
)

// ScreenSpan is the name of a span of random numbers, which nothing foretells.
const ScreenSpan = "screen"

// Entity names the span [From, To) of a flat observation. Spans of one kind have one length.
type Entity struct {
	Name     string
	Kind     EntityKind
	From, To int
}

// Step is what E environments show after one transition. Buffers are made by NewStep and refilled in place.
type Step struct {
	Obs                   []float32 // [E,N,O] after the transition, before any reset; [E,N,X] beside cells
	Cells                 []uint16  // [E,N,H,W] cell values; nil for vector observations
	State                 []float32 // [E,S]
	Mask                  []uint8   // [E,N,K] 1 = allowed, at least one for a living agent; nil when every action always is
	Alive                 []uint8   // [E,N] 1: the agent acts and learns; 0: it is dead: its action is ignored, its rows train nothing
	Dense, Sparse         []float32 // [E,N] the original reward; the sparse reward of the appendix
	Score                 []float32 // [E] this step's share of the benchmark's own metric
	Terminated, Truncated []uint8   // [E] never both; of both, learners take the episode for terminated
	Visible               []uint8   // [E,N,P] presence labels of the detector (App. A): Visible[i,j] = i perceives j; pre-training only; P = Spec.Peers() is N
	RelPos                []float32 // [E,N,P,2] position of j relative to i in world half sizes; same restriction
}

// Actions holds one action for every agent of every environment: Discrete if the spec is discrete, else Continuous. Step cuts a force beyond
// its bounds, takes one that is not a number for 0, and panics on a choice that does not exist.
type Actions struct {
	Discrete   []int32   // [E,N]
	Continuous []float32 // [E,N,D] physical units of the spec's [Low, High]
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
