// SPDX-License-Identifier: Apache-2.0

package rl_test

import (
	"errors"
	"slices"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
)

// Two rollouts, together longer than an episode, have the right observations, actions and episode boundaries.
func TestCollectorContinuesAcrossRollouts(t *testing.T) {
	env := must.Value(libtest.DefaultIdentity().Build(1, 1))
	s := env.Spec()
	steps := s.Horizon/2 + 1
	x, p := rl.NewRollout(s, steps, 0), rl.NewCollector(env)
	ended := 0
	for i := range 2 {
		last := slices.Clone(x.Obs[steps*s.NumEnvs*s.Agents*s.ObsLen():])
		must.Do(t, p.Collect(x, func(t int, seen *envs.Step, act *envs.Actions) error {
			for row := range act.Discrete {
				act.Discrete[row] = int32(t % s.Act.Choices)
			}
			return nil
		}))
		if i > 0 && !slices.Equal(last, x.Obs[:len(last)]) {
			t.Error("the second rollout does not begin where the first ended")
		}
		for k := range steps {
			if got := x.Act.Discrete[k*s.NumEnvs*s.Agents]; got != int32(k%s.Act.Choices) {
				t.Errorf("step %d has action %d, want %d", k, got, k%s.Act.Choices)
			}
			if x.Done(k, 0) {
				ended++
				if k+1 < steps && x.IsFirst[(k+1)*s.NumEnvs] == 0 {
					t.Errorf("no episode begins after the end at step %d", k)
				}
			}
		}
	}
	if ended == 0 {
		t.Errorf("no episode has ended in %d steps, longer than one", 2*steps)
	}
	wrong := errors.New("no action")
	if err := p.Collect(x, func(int, *envs.Step, *envs.Actions) error { return wrong }); err != wrong {
		t.Errorf("got %v, want the error of choose", err)
	}
}
