// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"

	"cermic/envs"
)

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
