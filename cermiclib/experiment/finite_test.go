// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"cermic/cermiclib/learn"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/vmas"
)

// spoil makes the environments of e show NaN or infinite numbers from the iteration after the first on: change says in
// which field, while collecting or evaluating.
func spoil(e Config, change func(s *envs.Step), when string, from int) (spoiled Config, watch func(results.Event)) {
	stage, iterations := "", 0
	spoil := func(s *envs.Step) {
		if stage == when && iterations >= from {
			change(s)
		}
	}
	e.Task = altered{e.Task.(vmas.Balance), func(env envs.Env) envs.Env { return spoiledEnv{env, env.(envs.Coverer), spoil} }}
	e = hooked(e, func(_ context.Context, now string) error { stage = now; return nil })
	return e, func(event results.Event) {
		if event.Scalars != nil {
			iterations++
		}
	}
}

func TestNumbersThatAreNotFiniteStopTheRun(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	diverging := tiny(3).Learner.(learn.MAPPO)
	diverging.LR = 1e30
	for name, c := range map[string]struct {
		change func(s *envs.Step)
		when   string
		from   int // first iteration that is spoiled
		want   string
		frames int // of the last checkpoint
	}{
		"reward":           {func(s *envs.Step) { s.Dense[2] = nan }, collecting, 1, "extrinsic became NaN in iteration 1", 200},
		"infinite reward":  {func(s *envs.Step) { s.Dense[2] = inf }, collecting, 0, "extrinsic became +Inf in iteration 0", 0},
		"training score":   {func(s *envs.Step) { s.Score[1] = nan }, collecting, 1, "train_score became NaN in iteration 1", 200},
		"evaluation score": {func(s *envs.Step) { s.Score[1] = nan }, evaluating, 2, "an episode's score became NaN in the evaluation at 800 frames", 600},
		"observation":      {func(s *envs.Step) { s.Obs[5] = nan }, collecting, 1, "component 5 of the observation of agent 0 of vmas/balance became NaN in environment 0 at step 1 of iteration 1", 200},
		"step size":        {nil, "", 0, "iteration 0: learner: critic_loss became +Inf in update ", 0},
	} {
		t.Run(name, func(t *testing.T) {
			st, e := open(t), tiny(3)
			var watch []func(results.Event)
			if c.change == nil {
				e.Learner = diverging
			}
			for try := range 2 { // the second goes on from the last checkpoint and ends alike
				spoiled := e
				if c.change != nil {
					var w func(results.Event)
					spoiled, w = spoil(e, c.change, c.when, max(0, c.from-try*c.frames/200))
					watch = []func(results.Event){w}
				}
				got, err := Run(t.Context(), spoiled, st, watch...)
				if err == nil || strings.Contains(err.Error(), "\n") || !contains(err, c.want) || got.Complete || got.Frames != c.frames {
					t.Fatalf("try %d: got %v with %d frames, complete %v; want %q and %d frames", try, err, got.Frames, got.Complete, c.want, c.frames)
				}
				must.Refuse(t, err, fmt.Sprintf("its last checkpoint is at %d frames", c.frames))
			}
			id := must.Get(e.ID())(t)
			if r, err := st.Get(id); err != nil || r.Complete || r.Frames != c.frames {
				t.Errorf("the store has %+v, %v", r, err)
			}
			if c.change == nil {
				return
			}
			// Nothing of it was written: once the environment is well again, the run ends as if it had always been.
			whole := open(t)
			must.Do(t, RunAll(t.Context(), []Config{e}, whole, 1))
			must.Do(t, RunAll(t.Context(), []Config{e}, st, 1))
			sameRecord(t, record(t, whole, id), record(t, st, id))
		})
	}
}
