// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"cermic/cermiclib/results"
	"cermic/cermiclib/rl"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/explore"
)

// tinyLock is tiny on the combination lock, whose positions coverage counts.
func tinyLock(seed uint64) Config {
	e := tiny(seed)
	lock := explore.DefaultLock()
	lock.NumEnvs, lock.Length, lock.MaxSteps = 5, 3, 10
	e.Task = lock
	return e
}

// TestCoverageCountsTheCellsVisitedSinceTrainingBegan: visits add up to the agent steps, never fall, and agree with the
// coverage scalar.
func TestCoverageCountsTheCellsVisitedSinceTrainingBegan(t *testing.T) {
	st := open(t)
	e := tinyLock(1)
	var last *results.Visits
	if _, err := Run(context.Background(), e, st, func(event results.Event) {
		if event.Scalars == nil {
			return
		}
		v, sum := event.Visits, uint64(0)
		for cell, n := range v.Counts {
			if sum += n; last != nil && n < last.Counts[cell] {
				t.Errorf("cell %d was visited %d times at %d frames, and %d times before", cell, n, event.Frames, last.Counts[cell])
			}
		}
		if want := uint64(event.Frames * 2); sum != want || v.Frames != event.Frames {
			t.Errorf("%d visits at %d frames, want %d at %d", sum, v.Frames, want, event.Frames)
		}
		if got := event.Scalars["coverage"]; got != v.Coverage() || got <= 0 || got > 1 {
			t.Errorf("coverage is %g, of the visits %g", got, v.Coverage())
		}
		last = v
	}); err != nil {
		t.Fatal(err)
	}
	stored := must.Get(Visits(e, st))(t)
	if last == nil || !reflect.DeepEqual(stored, last) || stored.Frames != e.Budget.Frames || len(stored.Scene.Shapes) == 0 {
		t.Errorf("stored are %+v, last told %+v", stored, last)
	}
}

// TestTheBonusOfACellIsTheMeanOfItsAgentSteps has two environments of two agents for two steps. The second agent is in
// the first group.
func TestTheBonusOfACellIsTheMeanOfItsAgentSteps(t *testing.T) {
	v := &coverage{agents: 2, cells: []int32{0, 1, 0, -1, 2, 1, 0, 0}, visits: results.Visits{Recent: []uint64{4, 2, 1, 0}, Bonus: []float64{9, 9, 9, 9}}}
	spec := &envs.Spec{Agents: 2, NumEnvs: 2, Obs: []int{1}, Act: envs.ActSpec{Choices: 2}, Teams: []int{1, 0}, Groups: []envs.Group{{Name: "b", Obs: 1}, {Name: "a", Obs: 1}}}
	views := envs.Views(spec)
	var groups []*group
	for i, paid := range [][]float32{{1, 50, 3, 4}, {10, 20, 30, 40}} {
		groups = append(groups, &group{view: views[i], x: &rl.Rollout{N: 1, Intrinsic: paid}})
	}
	v.averageBonus(groups)
	if want := []float64{(10 + 20 + 40 + 4) / 4., (1 + 3) / 2., 30, 0}; !slices.Equal(v.visits.Bonus, want) {
		t.Errorf("cells are paid %v, want %v", v.visits.Bonus, want)
	}
}

// A caller's hook stays when another one adds its own.
func TestHooksOfRolloutBatchesAddUp(t *testing.T) {
	var first, second []int
	ctx := OnRollout(t.Context(), func(frames int, _ []*rl.Rollout) { first = append(first, frames) })
	ctx = OnRollout(ctx, func(frames int, _ []*rl.Rollout) { second = append(second, frames) })
	must.Get(Run(ctx, tiny(1), open(t)))(t)
	if len(first) < 2 || first[0] != 0 || !slices.Equal(first, second) {
		t.Errorf("hooks were called at %v and %v frames, want both at every rollout batch", first, second)
	}
}

// A fork's hook gets no batch of its parent, and a resumed value learner's no step that it plays again.
func TestHooksGetTheRunAlone(t *testing.T) {
	parent := small("mappo-cermic")
	parent.Budget.Frames = 200
	var frames []int
	fork := branch(t, parent, 100, "explore.alpha=0.9")
	must.Get(Run(OnRollout(t.Context(), func(at int, _ []*rl.Rollout) { frames = append(frames, at) }), fork, open(t)))(t)
	if want := []int{100, 150}; !slices.Equal(frames, want) {
		t.Errorf("the fork's hook was called at %v frames, want %v", frames, want)
	}
	e, st := tinyQ(1), open(t)
	each := e.Learner.CollectFrames()
	e.Budget.Frames = 3 * each
	stopAt(t, e, 2*each, st)
	steps := 0
	must.Get(Run(OnStep(t.Context(), func(envs.Env) { steps++ }), e, st))(t)
	if want := each / e.Task.Shared().NumEnvs; steps != want {
		t.Errorf("the resumed run's hook was called at %d steps, want %d", steps, want)
	}
}
