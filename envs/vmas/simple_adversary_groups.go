// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"

	"cermic/envs"
)

// Opponents says what the agents of another group are to an agent.
//
// Reading: the paper has no word on tasks with opponents. BenchMARL trains each group on what its own agents saw, and enemies of SMACv2
// are no agents at all, so that opponents are objects unless one asks for peers.
type Opponents string

// What opponents can be.
const (
	AsObjects Opponents = "objects" // like landmarks: detectors and memories know an agent's own group alone
	AsPeers   Opponents = "peers"   // like its own group: detectors and memories tell them apart, too
)

// kind is that of an opponent's entity.
func (o Opponents) kind() envs.EntityKind {
	if o == AsPeers {
		return envs.Ally
	}
	return envs.Object
}

// groups are BenchMARL's. Observations are pairs of numbers: the goal, for good agents alone, then landmarks, adversaries, good agents,
// without the observer. An adversary sees no number that is about itself alone, so that its own span is all that it sees.
func (a *simpleAdversary) groups(landmarks int) []envs.Group {
	good := a.Agents - a.Adversaries
	adversary := a.spans(0, landmarks, a.Adversaries-1, envs.Ally, good, a.Opponents.kind())
	agent := a.spans(2, landmarks, a.Adversaries, a.Opponents.kind(), good-1, envs.Ally)
	width := 2 * (landmarks + a.Agents - 1)
	return []envs.Group{
		{Name: "adversary", Obs: width, Entities: append(adversary, envs.Entity{Name: "agent", Kind: envs.Own, From: 0, To: width})},
		{Name: "agent", Obs: 2 + width, Entities: append(agent, envs.Entity{Name: "goal", Kind: envs.Own, From: 0, To: 2})},
	}
}

// spans are the entities of an observation from a place on: landmarks, adversaries and good agents of these kinds.
func (a *simpleAdversary) spans(from, landmarks, adversaries int, adversary envs.EntityKind, good int, agent envs.EntityKind) (out []envs.Entity) {
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
