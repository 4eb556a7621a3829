// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cermic/envs"
)

// The printed spec of a task without groups starts as it did before groups existed, so that old saved states still
// load.
func TestASpecWithoutGroupsIsPrintedAsBefore(t *testing.T) {
	text := fmt.Sprintf("%+v", envs.Spec{HidesPeers: true})
	for _, part := range []string{ungrouped, hidden} {
		if !strings.Contains(text, part) {
			t.Errorf("printed spec %s does not contain %q", text, part)
		}
	}
}

// In each group's observations, the entity spans point to the landmarks and agents that they name.
func TestEntitiesOfBothGroupsLieWhereTheySeeThem(t *testing.T) {
	for _, opponents := range []Opponents{AsObjects, AsPeers} {
		cfg := DefaultSimpleAdversary()
		cfg.Agents, cfg.Adversaries, cfg.Opponents = 5, 2, opponents
		e := buildNumEnvs(t, cfg, 3)
		step := envs.NewStep(e.Spec())
		e.Reset(nil, step)
		positions := map[string]Vec{} // by the names of spans
		w := e.world
		for i := range w.landmarks {
			positions[fmt.Sprintf("landmark %d", i)] = w.Pos(0, i)
		}
		for k, view := range envs.Views(e.Spec()) {
			own := view.Step(step)
			view.Gather(own, step)
			g := e.spec.Groups[k]
			self := w.Pos(0, w.Agent(view.Agent(0)))
			peers, objects := 0, 0
			for _, x := range g.Entities {
				offset := Vec{own.Obs[x.From], own.Obs[min(x.From+1, g.Obs-1)]}
				if at, ok := positions[x.Name]; ok && at.Sub(self) != offset {
					t.Errorf("%s of %s is at %v, want %v", x.Name, g.Name, offset, at.Sub(self))
				}
				switch x.Kind {
				case envs.Ally:
					peers++
				case envs.Object:
					objects++
				}
			}
			wantPeers, wantObjects := view.Spec.Agents-1, w.landmarks+5-view.Spec.Agents
			if opponents == AsPeers {
				wantPeers, wantObjects = 4, w.landmarks
			}
			last := slices.MaxFunc(g.Entities, func(a, b envs.Entity) int { return a.To - b.To })
			if peers != wantPeers || objects != wantObjects || last.To != g.Obs ||
				view.Spec.Peers() != map[Opponents]int{AsObjects: view.Spec.Agents, AsPeers: 5}[opponents] {
				t.Errorf("%s, opponents are %s: %d peers and %d objects in %d of %d numbers, want %d and %d",
					g.Name, opponents, peers, objects, last.To, g.Obs, wantPeers, wantObjects)
			}
		}
	}
}
