// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// greedy is a task that observes more numbers than it declares.
type greedy struct{ declared, writes int }

func (g greedy) World() WorldSpec {
	w := DefaultWorld()
	w.Agents = append(w.Agents, DefaultAgent("agent", 0.05), DefaultAgent("other", 0.05))
	w.Obs = g.declared
	return w
}

func (greedy) Reset(*World, int, *rng.Rand)             {}
func (greedy) Reward(*World, int, []float32)            {}
func (greedy) Outcome(*World, int) (success, over bool) { return false, false }
func (g greedy) Observe(w *World, c, agent int, dst []float32) {
	for k := range g.writes {
		dst[k] = 1
	}
}

func TestMoreNumbersThanDeclaredAreNamed(t *testing.T) {
	for writes, want := range map[int]string{
		6: "<nil>",
		8: "mine/greedy: Observe fails (runtime error: index out of range [6] with length 6): " +
			"set w.Obs in World to the length of an observation, now 6",
	} {
		_, err := New("mine/greedy", envs.DefaultCommon(), DefaultSettings(), greedy{6, writes}, 1, 1)
		if got := fmt.Sprint(err); got != want {
			t.Errorf("Observe of %d numbers: got %q, want %q", writes, got, want)
		}
	}
}

// stumbling is greedy with a Reset that indexes past the agents.
type stumbling struct{ greedy }

func (stumbling) Reset(*World, int, *rng.Rand) {
	third := 3
	_ = make([]int, 2)[third]
}

func TestAFailingResetIsNamed(t *testing.T) {
	_, err := New("mine/stumbling", envs.DefaultCommon(), DefaultSettings(), stumbling{greedy{6, 6}}, 1, 1)
	if got, want := fmt.Sprint(err), "mine/stumbling: Reset fails: runtime error: index out of range [3] with length 2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// crooked is greedy with a modified world.
type crooked struct {
	greedy
	change func(w *WorldSpec)
}

func (c crooked) World() WorldSpec {
	w := c.greedy.World()
	c.change(&w)
	return w
}

func TestInconsistentTeamsAreRefused(t *testing.T) {
	two := []envs.Group{{Name: "cats", Obs: 6}, {Name: "mice", Obs: 4}}
	for want, change := range map[string]func(w *WorldSpec){
		"mine/crooked: agent other has team 1, but there are 0 groups": func(w *WorldSpec) { w.Agents[1].Team = 1 },
		"mine/crooked: agent other has team 2, but there are 2 groups": func(w *WorldSpec) {
			w.Groups, w.Agents[1].Team = two, 2
		},
		"mine/crooked: group mice has 0 agents and observes 4 numbers, want at least 1 and 1 to 6": func(w *WorldSpec) { w.Groups = two },
		"mine/crooked: group cats has 2 agents and observes 7 numbers, want at least 1 and 1 to 6": func(w *WorldSpec) {
			w.Groups = []envs.Group{{Name: "cats", Obs: 7}}
		},
		"mine/crooked: the world has no agent that is not scripted": func(w *WorldSpec) {
			w.Agents[0].Scripted, w.Agents[1].Scripted = true, true
		},
	} {
		task := crooked{greedy{6, 6}, change}
		_, err := New("mine/crooked", envs.DefaultCommon(), DefaultSettings(), task, 1, 1)
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	env := must.Value(New("mine/crooked", envs.DefaultCommon(), DefaultSettings(), crooked{greedy{6, 6}, func(w *WorldSpec) {
		w.Groups, w.Agents[1].Team, w.Agents[0].Range = two, 1, 2
	}}, 1, 1))
	if high := env.Spec().Act.High[0]; high != 2 {
		t.Errorf("the action limit is %g, want the largest range, 2", high)
	}
}
