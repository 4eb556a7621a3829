// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/envtest/must"
)

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }

func TestOneRunThatFailsDoesNotStopTheOthers(t *testing.T) {
	st := open(t)
	broken := tiny(2)
	broken.Budget.EvalEpisodes = 0
	other := tiny(4)
	other.Learner = nil
	es := []Config{tiny(1), broken, tiny(3), other}
	for _, workers := range []int{0, 3, 1 << 60} { // beyond the experiments there are they cost nothing
		err := RunAll(t.Context(), es, st, workers)
		if err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.HasPrefix(err.Error(), "budget.eval_episodes is 0") || !contains(err, "an experiment needs") {
			t.Errorf("%d workers: got %v, want both mistakes in the order of the experiments", workers, err)
		}
	}
	if found, err := st.Find(results.Query{Complete: true}); err != nil || len(found) != 2 {
		t.Errorf("%d runs are complete, want 2 (%v)", len(found), err)
	}
}

func TestAStopBeginsNoFurtherRun(t *testing.T) {
	for _, workers := range []int{1, 2} {
		st := open(t)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var started atomic.Int32
		var es []Config
		for seed := range uint64(5) {
			first := true
			es = append(es, hooked(tiny(seed), func(context.Context, string) error {
				if first {
					first = false
					started.Add(1)
				}
				stop()
				return nil
			}))
		}
		err := RunAll(ctx, es, st, workers)
		if err != context.Canceled {
			t.Errorf("%d workers: got %v, want the context's error alone", workers, err)
		}
		entries, rerr := os.ReadDir(st.Dir())
		if rerr != nil || int(started.Load()) > workers || len(entries) > workers {
			t.Errorf("%d workers: %d runs were begun, the store has %d (%v)", workers, started.Load(), len(entries), rerr)
		}
	}
}

func TestAFailureIsNotHiddenByAStop(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	broken := tiny(1)
	broken.Task = broken.Task.WithShared(envs.Common{NumEnvs: 7, Reward: envs.Dense})
	stopping := hooked(tiny(2), func(context.Context, string) error { stop(); return nil })
	err := RunAll(ctx, []Config{broken, stopping}, open(t), 1)
	if err == nil || errors.Is(err, context.Canceled) || !contains(err, "want a multiple of the 7 parallel environments") {
		t.Errorf("got %v", err)
	}
}

func TestTheSameExperimentTwiceIsTrainedOnce(t *testing.T) {
	st := open(t)
	var trained, stored int // events come one at a time
	watch := func(e results.Event) {
		if e.Eval != nil {
			trained++
		}
		if e.FromStore {
			stored++
		}
	}
	must.Do(t, RunAll(t.Context(), []Config{tiny(1), tiny(1)}, st, 2, watch))
	if trained != 3 || stored != 1 {
		t.Errorf("%d evaluations and %d runs from the store, want 3 and 1", trained, stored)
	}
}

// Two machines get the same list. The second finds the first run taken and goes on with the next instead of waiting.
func TestRunsThatAnotherTrainsComeLast(t *testing.T) {
	st := open(t)
	es := []Config{tiny(1), tiny(2), tiny(3)}
	other := must.Get(st.Claim(t.Context(), must.Get(es[0].header())(t), false, nil))(t)
	var order []uint64
	err := RunAll(t.Context(), es, st, 1, func(e results.Event) {
		if e.Record == nil || e.Frames < e.Total || e.Eval == nil {
			return
		}
		order = append(order, e.Record.Seed)
		if e.Record.Seed == 3 {
			if err := other.Close(); err != nil { // the first machine stops
				t.Error(err)
			}
		}
	})
	if err != nil || !slices.Equal(order, []uint64{2, 3, 1}) {
		t.Errorf("the runs end in the order %v, %v", order, err)
	}
}

// The records of a store are shared. Running a complete run under another label leaves them as they are.
func TestACompleteRunIsReturnedUnderItsNewLabel(t *testing.T) {
	e, st := tiny(1), open(t)
	first := must.Get(Run(t.Context(), e, st))(t)
	st = open(t)
	st.Base(results.NewLayer(fstest.MapFS{first.ID + ".json.gz": {Data: must.Get(results.Pack(first))(t)}}))
	before := must.Get(st.Get(first.ID))(t)
	label := before.Method
	e.Method = "another label"
	again := must.Get(Run(t.Context(), e, st))(t)
	if again.Method != e.Method || before.Method != label {
		t.Errorf("returned as %q, stored as %q, want %q and %q", again.Method, before.Method, e.Method, label)
	}
}
