// SPDX-License-Identifier: Apache-2.0

package envs_test

import (
	"slices"
	"strings"
	"testing"

	"cermic/envs"
)

// threeAgents are agents of groups 1, 0 and 1 in 2 environments, with observations of 3 and 2 numbers, masks and
// optional cells.
func threeAgents(across bool) *envs.Spec {
	return &envs.Spec{
		Name: "test", NumEnvs: 2, Agents: 3, Teams: []int{1, 0, 1}, PeersAcross: across, Obs: []int{3}, State: 9,
		Masked: true,
		Groups: []envs.Group{{Name: "hunter", Obs: 2,
			Entities: []envs.Entity{{Name: "prey", Kind: envs.Object, From: 0, To: 2}}}, {Name: "prey", Obs: 3}},
		Act: envs.ActSpec{Choices: 2},
	}
}

// numbered is a step with distinct numbers.
func numbered(s *envs.Spec) *envs.Step {
	out := envs.NewStep(s)
	for _, v := range [][]float32{out.Obs, out.State, out.Dense, out.Sparse, out.RelPos} {
		for i := range v {
			v[i] = float32(i)
		}
	}
	for _, v := range [][]uint8{out.Mask, out.Alive, out.Visible} {
		for i := range v {
			v[i] = uint8(i)
		}
	}
	return out
}

func TestAViewShowsTheRowsOfItsGroupWithoutTheirPadding(t *testing.T) {
	whole := threeAgents(false)
	views, step := envs.Views(whole), numbered(whole)
	if len(views) != 2 || views[0].Name != "hunter" || views[0].Spec.Agents != 1 || views[1].Spec.Agents != 2 ||
		views[0].Spec.ObsLen() != 2 ||
		views[1].Spec.State != 6 || len(views[0].Spec.Entities) != 1 || views[1].Spec.Entities != nil ||
		views[1].Spec.Groups != nil || views[1].Spec.Peers() != 2 {
		t.Fatalf("views are %+v and %+v", views[0].Spec, views[1].Spec)
	}
	hunter, prey := views[0].Step(step), views[1].Step(step)
	views[0].Gather(hunter, step)
	views[1].Gather(prey, step)
	for name, c := range map[string]struct{ got, want []float32 }{
		"a hunter's observation":    {hunter.Obs, []float32{3, 4, 12, 13}},
		"its critic's state":        {hunter.State, []float32{3, 4, 12, 13}},
		"the prey's observations":   {prey.Obs, []float32{0, 1, 2, 6, 7, 8, 9, 10, 11, 15, 16, 17}},
		"their critic's state":      {prey.State, prey.Obs},
		"the prey's rewards":        {prey.Dense, []float32{0, 2, 3, 5}},
		"a hunter's sparse rewards": {hunter.Sparse, []float32{1, 4}},
		"the prey's places":         {prey.RelPos[:8], []float32{0, 1, 4, 5, 12, 13, 16, 17}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if want := []uint8{0, 1, 4, 5, 6, 7, 10, 11}; !slices.Equal(prey.Mask, want) {
		t.Errorf("the prey's masks are %v, want %v", prey.Mask, want)
	}
	if want := []uint8{0, 2, 6, 8, 9, 11, 15, 17}; !slices.Equal(prey.Visible, want) {
		t.Errorf("the prey's labels are %v, want %v", prey.Visible, want)
	}
	if &hunter.Terminated[0] != &step.Terminated[0] {
		t.Error("a group's episodes do not end with the other group's")
	}
	all := envs.NewActions(whole)
	for i, v := range views {
		act := v.Actions(all)
		for k := range act.Discrete {
			act.Discrete[k] = int32(10*i + k)
		}
		v.Act(all, act)
	}
	if want := []int32{10, 0, 11, 12, 1, 13}; !slices.Equal(all.Discrete, want) {
		t.Errorf("all actions are %v, want %v", all.Discrete, want)
	}
}

func TestOpponentsThatArePeersFollowAnAgentsOwnGroup(t *testing.T) {
	whole := threeAgents(true)
	view := envs.Views(whole)[0]
	step := view.Step(numbered(whole))
	view.Gather(step, numbered(whole))
	if want := []uint8{4, 3, 5, 13, 12, 14}; view.Spec.Peers() != 3 || !slices.Equal(step.Visible, want) {
		t.Errorf("the hunter's labels are %v of %d peers, want %v", step.Visible, view.Spec.Peers(), want)
	}
	if view.Agent(0) != 1 || view.Agent(2) != 2 || !slices.Equal(view.Spec.Opponents, []int{1, 1}) {
		t.Errorf("peers are %d and %d of groups %v", view.Agent(0), view.Agent(2), view.Spec.Opponents)
	}
}

func TestTheViewOfTheOnlyGroupIsTheEnvironmentItself(t *testing.T) {
	s := threeAgents(false)
	s.Groups, s.Teams = nil, []int{0, 0, 0}
	views := envs.Views(s)
	step, act := envs.NewStep(s), envs.NewActions(s)
	if len(views) != 1 || views[0].Spec != s || !views[0].All() || views[0].Step(step) != step ||
		views[0].Actions(act) != act {
		t.Errorf("%d views, of %+v", len(views), views[0].Spec)
	}
}

func TestWrongActionsAndBuffersPanicWithASentence(t *testing.T) {
	discrete := threeAgents(false)
	plane := envs.Spec{Name: "test", NumEnvs: 2, Agents: 1, Obs: []int{1}, Act: envs.ActSpec{Dim: 2}}
	step, act := envs.NewStep(discrete), envs.NewActions(discrete)
	for says, call := range map[string]func(){
		"5 choices":                 func() { discrete.CheckActions(&envs.Actions{Discrete: act.Discrete[1:]}, step) },
		"1 components":              func() { plane.CheckActions(&envs.Actions{Continuous: make([]float32, 1)}, envs.NewStep(&plane)) },
		"choice -1 in row 2":        func() { discrete.CheckActions(&envs.Actions{Discrete: []int32{0, 0, -1, 0, 0, 0}}, step) },
		"row 5, want 0 to 1":        func() { discrete.CheckActions(&envs.Actions{Discrete: []int32{0, 0, 1, 0, 0, 2}}, step) },
		"1 environments, want 2":    func() { discrete.CheckReset([]uint8{1}, step) },
		"make it with envs.NewStep": func() { discrete.CheckReset(nil, &envs.Step{}) },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.HasPrefix(got, "test: ") || !strings.Contains(got, says) {
					t.Errorf("panics with %q, want it to say %q", got, says)
				}
			}()
			call()
		}()
	}
	discrete.CheckReset(nil, step)
	discrete.CheckActions(act, step)
}
