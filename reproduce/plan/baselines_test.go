// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/envs/scripted"
	"cermic/envs/vmas"
)

func TestBaselinesHaveASuccessWhereTheTaskHasOne(t *testing.T) {
	played, err := Baselines("vmas/dispersion", 2, 1)
	if err != nil || len(played) != 2 || played[1].Success[0] != 1 {
		t.Errorf("dispersion: %+v, %v; want both policies, and a script that eats everything", played, err)
	}
	played, err = Baselines("vmas/ball_trajectory", 2, 1)
	if err != nil || len(played) != 2 || played[0].Success != nil {
		t.Errorf("ball_trajectory: %+v, %v; want no success", played, err)
	}
	if _, err := Baselines("vmas/navigaton", 2, 1); err == nil {
		t.Error("an unknown task is played")
	}
	if _, err := scripted.Rollout(vmas.DefaultWheel().WithShared(envs.Common{}), scripted.Random, 0, 1); err == nil {
		t.Error("no episodes are played")
	}
}

func TestScalesGoFromRandomToScriptedPlay(t *testing.T) {
	// scripted.Script dispersion eats everything in every episode.
	if s, err := Scale("vmas/dispersion"); err != nil || s.To != 4 || s.From < 0 || s.From > 1.5 || s.Episodes != 1000 {
		t.Errorf("dispersion %+v, %v", s, err)
	}
	if s, err := Scale("vmas/ball_trajectory"); err != nil || s.Episodes == 0 {
		t.Errorf("no scale for a task without a success: %v", err)
	}
	_, err := Scale("vmas/navigatoin")
	must.Refuse(t, err, "navigation")
}

// What is kept of play without learning is what playing gives: of each task the first episodes, of one all.
func TestKeptAnchorsAreWhatPlayGives(t *testing.T) {
	var kept []anchor
	if err := json.Unmarshal(anchorsFile, &kept); err != nil || len(kept) < 20 {
		t.Fatalf("%d anchors, %v", len(kept), err)
	}
	for _, want := range kept {
		var c struct{ Task envs.Config }
		if err := conf.Unmarshal(fmt.Appendf(nil, `{"Task":%s}`, want.Settings), &c); err != nil {
			t.Errorf("%s: %v: go run ./reproduce results -write", want.Settings, err)
			continue
		}
		if testing.Short() && strings.HasPrefix(c.Task.Kind(), "meltingpot/") { // whose episodes are long
			continue
		}
		policies := []scripted.Policy{scripted.Random, scripted.Script}
		if want.Script == nil {
			policies = policies[:1]
		}
		if len(want.First) != len(policies) {
			t.Errorf("%s: %d means of first episodes, want %d: go run ./reproduce results -write", want.Settings, len(want.First), len(policies))
			continue
		}
		if c.Task.Kind() == "vmas/dispersion" {
			if got, err := playAnchors(c.Task, want.Settings); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("play on %s gives %+v (%v), kept is %+v: go run ./reproduce results -write", want.Settings, got, err, want)
			}
		}
		for k, policy := range policies {
			got, err := scripted.RolloutDense(c.Task, policy, min(anchorSample, want.Episodes), anchorSeed)
			if err != nil || got == nil || stat.Mean(got.Dense, nil) != want.First[k] {
				t.Errorf("%s play on %s does not give %v (%v): go run ./reproduce results -write", policy, want.Settings, want.First[k], err)
			}
		}
	}
}

// A task that is not kept, with other settings for example, is played.
func TestAnchorsOfOtherSettingsArePlayed(t *testing.T) {
	c := vmas.DefaultDispersion()
	c.Agents++
	_, script, episodes, err := anchors(c)
	if err != nil || script != float64(c.Food) || episodes != 1000 {
		t.Errorf("with %d agents the script scores %g in %d episodes, %v; want all %d foods", c.Agents, script, episodes, err, c.Food)
	}
}

// Cooperators, defectors and both together have the returns of a prisoner's dilemma. Without cleaners no agent eats.
func TestJointPoliciesShowWhatTheGameIsAbout(t *testing.T) {
	if testing.Short() {
		t.Skip("plays many episodes")
	}
	for task, want := range map[string][]scripted.Policy{
		"meltingpot/prisoners_dilemma_in_the_matrix__repeated": {scripted.Random, scripted.Script, "cooperate + defect", "2 defect"},
		"meltingpot/clean_up": {scripted.Random, scripted.Script, "7 eat", "7 clean"},
		"vmas/balance":        {scripted.Random, scripted.Script},
	} {
		played := must.Get(Baselines(task, 3, 1))(t)
		var names []scripted.Policy
		earned := map[scripted.Policy]float64{}
		for _, p := range played {
			names = append(names, p.Policy)
			earned[p.Policy] = stat.Mean(p.Dense, nil)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s is played by %q, want %q", task, names, want)
		}
		if len(want) == 4 && !(earned[scripted.Script] > earned[want[2]] && earned[scripted.Script] > earned[want[3]] && earned[scripted.Script] > earned[scripted.Random]) {
			t.Errorf("%s: %v, want the script to earn most", task, earned)
		}
	}
}

func TestPoliciesAreThoseThatCanAct(t *testing.T) {
	for _, task := range Tasks() {
		cfg := must.Get(envs.Default(task.ID))(t)
		policies, err := scripted.Policies(cfg)
		if err != nil || policies[0] != scripted.Random {
			t.Fatalf("%s: %v, %v", task.ID, policies, err)
		}
		p, err := scripted.Rollout(cfg, scripted.Script, 1, 1)
		if err != nil || (p != nil) != (len(policies) == 2) {
			t.Errorf("%s is played by %v, but playing its script gives %v, %v", task.ID, policies, p, err)
		}
	}
}
