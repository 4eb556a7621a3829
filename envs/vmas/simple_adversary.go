// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"

	"cermic/envs"
	"cermic/envs/rng"
)

// SimpleAdversary is the task vmas/simple_adversary: the good agents want one of them near a goal and the adversaries
// far from it. Only the good agents observe which of the landmarks is the goal; there is one landmark fewer than
// agents. The two groups train separately, each with its own learner.
type SimpleAdversary struct {
	envs.Common
	Settings
	Agents      int `json:"n_agents" range:"2..100" help:"number of agents, including adversaries"`
	Adversaries int `json:"n_adversaries" range:"1..99" help:"number of adversaries; they do not observe the goal"`

	Opponents Opponents `json:"opponents" oneof:"objects,peers" help:"class of opponents for detectors and memories; objects: landmarks, peers: agents"`
	Goal      GoalDraw  `json:"goal" oneof:"world,copy" help:"environments that share a goal; world: all, as in the original, copy: none"`
}

// GoalDraw selects which environments share a goal.
//
// The original draws one goal for all environments whenever they reset together. Episodes of this task have equal
// length, so a rollout batch of one episode per environment has only one goal. With a goal per environment, a rollout
// batch contains all goals.
type GoalDraw string

// The values of goal.
const (
	GoalOfWorld GoalDraw = "world"
	GoalOfEnv   GoalDraw = "copy"
)

// DefaultSimpleAdversary returns the settings of BenchMARL 1.5.2 (conf/task/vmas/simple_adversary.yaml).
func DefaultSimpleAdversary() SimpleAdversary {
	a := SimpleAdversary{Common: envs.DefaultCommon(), Settings: DefaultSettings(), Agents: 3, Adversaries: 1,
		Opponents: AsObjects, Goal: GoalOfWorld}
	a.Reward = envs.Dense
	return a
}

func init() { envs.Register(DefaultSimpleAdversary()) }

// Kind, WithShared and WithDiscrete implement envs.Config and envs.Discretiser.
func (SimpleAdversary) Kind() string                           { return "vmas/simple_adversary" }
func (a SimpleAdversary) WithShared(s envs.Common) envs.Config { a.Common = s; return a }
func (a SimpleAdversary) WithDiscrete(d Discrete) envs.Config  { a.Discrete = d; return a }

// Build makes the environment.
func (a SimpleAdversary) Build(seed uint64, workers int) (envs.Env, error) {
	return New(a.Kind(), a.Common, a.Settings, &simpleAdversary{a}, seed, workers)
}

// simpleAdversary implements Task. The bodies are the landmarks, the adversaries, then the good agents. Memory is one
// number: the index of the goal landmark.
type simpleAdversary struct{ SimpleAdversary }

func (a *simpleAdversary) Validate() error {
	if a.Adversaries >= a.Agents {
		return fmt.Errorf("n_adversaries is %d, want less than n_agents, %d", a.Adversaries, a.Agents)
	}
	return nil
}

// Source: specification of VMAS 1.5.2; equal to its recordings (testdata/golden).
const (
	adversaryRadius         = 0.15 // of all agents
	adversaryLandmarkRadius = 0.08
)

func (a *simpleAdversary) World() WorldSpec {
	s := DefaultWorld()
	for i := range a.Agents - 1 {
		landmark := Body{Name: fmt.Sprintf("landmark %d", i), Shape: Sphere(adversaryLandmarkRadius), Mass: 1}
		s.Landmarks = append(s.Landmarks, landmark)
	}
	for i := range a.Agents {
		name, team := fmt.Sprintf("adversary_%d", i), 0
		if i >= a.Adversaries {
			name, team = fmt.Sprintf("agent_%d", i-a.Adversaries), 1
		}
		agent := DefaultAgent(name, adversaryRadius)
		agent.Collides, agent.Team = false, team
		s.Agents = append(s.Agents, agent)
	}
	s.Groups, s.Across = a.groups(len(s.Landmarks)), a.Opponents == AsPeers
	s.Obs = 2 * (1 + 2*(a.Agents-1)) // of the good agents; adversaries do not observe the goal
	s.Memory = []Slot{{"goal", 1}}
	// The teams have opposite interests, so no success could reward all.
	s.SparseIsDense = true
	return s
}

func (a *simpleAdversary) Reset(w *World, c int, r *rng.Rand) {
	for b := range w.count {
		w.Place(c, b, Vec{r.Uniform(-1, 1), r.Uniform(-1, 1)})
	}
	if a.Goal == GoalOfWorld {
		r = w.Common()
	}
	w.Memory(c)[0] = float32(r.IntN(w.landmarks))
}

func (a *simpleAdversary) goal(w *World, c int) Vec { return w.Pos(c, int(w.Memory(c)[0])) }

func (a *simpleAdversary) Observe(w *World, c, agent int, dst []float32) {
	bodies, self := w.Positions(c), w.Agent(agent)
	pos := bodies[self]
	if agent >= a.Adversaries {
		dst = dst[put(dst, a.goal(w, c).Sub(pos)):]
	}
	for b, at := range bodies {
		if b != self {
			dst[0], dst[1] = at.X-pos.X, at.Y-pos.Y
			dst = dst[2:]
		}
	}
}

// Reward: an adversary gets its negative distance to the goal. Good agents get the adversaries' distances minus that
// of the nearest good agent.
func (a *simpleAdversary) Reward(w *World, c int, dst []float32) {
	goal, agents := a.goal(w, c), w.Positions(c)[w.Agent(0):]
	far := float32(0)
	for i, at := range agents[:a.Adversaries] {
		d := at.Sub(goal).Norm()
		dst[i] = -d
		far += d
	}
	good := agents[a.Adversaries:]
	near := good[0].Sub(goal).Norm()
	for _, at := range good[1:] {
		near = min(near, at.Sub(goal).Norm())
	}
	for i := a.Adversaries; i < a.Agents; i++ {
		dst[i] = far - near
	}
}

// Outcome: the task has neither success nor end.
func (a *simpleAdversary) Outcome(*World, int) (success, over bool) { return false, false }

// Script sends every agent to the goal, adversaries too.
func (a *simpleAdversary) Script(w *World, c, agent int) Vec {
	return w.spring(c, agent, a.goal(w, c), 10, 2)
}

// Paint draws the landmarks other than the goal as rings.
func (a *simpleAdversary) Paint(w *World, c int, scene *envs.Scene) {
	for i := range scene.Shapes {
		scene.Shapes[i].Hollow = i != int(w.Memory(c)[0])
	}
}

// Opponents selects the entity class of agents of the other group.
//
// Reading: the paper does not mention tasks with opponents. BenchMARL trains each group on the observations of its
// own agents, and SMACv2's enemies are not agents. So opponents are objects by default.
type Opponents string

// The values of opponents.
const (
	AsObjects Opponents = "objects" // like landmarks: detectors and memories cover the agent's own group only
	AsPeers   Opponents = "peers"   // like teammates: detectors and memories cover all agents
)

// kind is the entity kind of an opponent.
func (o Opponents) kind() envs.EntityKind {
	if o == AsPeers {
		return envs.Ally
	}
	return envs.Object
}

// groups returns BenchMARL's groups. An observation lists relative positions: the goal (good agents only), landmarks,
// adversaries, then good agents, without the observer. An adversary observes nothing about itself, so its own entity
// spans the whole observation.
func (a *simpleAdversary) groups(landmarks int) []envs.Group {
	good := a.Agents - a.Adversaries
	adversary := a.spans(0, landmarks, a.Adversaries-1, envs.Ally, good, a.Opponents.kind())
	agent := a.spans(2, landmarks, a.Adversaries, a.Opponents.kind(), good-1, envs.Ally)
	width := 2 * (landmarks + a.Agents - 1)
	return []envs.Group{
		{Name: "adversary", Obs: width,
			Entities: append(adversary, envs.Entity{Name: "agent", Kind: envs.Own, From: 0, To: width})},
		{Name: "agent", Obs: 2 + width, Entities: append(agent, envs.Entity{Name: "goal", Kind: envs.Own, From: 0, To: 2})},
	}
}

// spans returns the entities of an observation from index from on: landmarks, adversaries and good agents.
func (a *simpleAdversary) spans(from, landmarks, adversaries int, adversary envs.EntityKind, good int,
	agent envs.EntityKind) (out []envs.Entity) {
	for _, of := range []struct {
		name  string
		kind  envs.EntityKind
		count int
	}{{"landmark", envs.Object, landmarks}, {"adversary", adversary, adversaries}, {"agent", agent, good}} {
		for i := range of.count {
			out = append(out, envs.Entity{Name: fmt.Sprintf("%s %d", of.name, i), Kind: of.kind, From: from, To: from + 2})
			from += 2
		}
	}
	return out
}
