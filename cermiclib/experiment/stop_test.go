// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
)

// stopIn stops a run of tiny(seed) in the second of its iterations, in the given stage. While stubborn is open, the
// stage ignores the stop.
func stopIn(t *testing.T, st *results.Store, seed uint64, stage string, stubborn <-chan struct{}) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stopped, iterations := false, 0
	e := hooked(tiny(seed), func(_ context.Context, now string) error {
		if now != stage || iterations != 1 || stopped {
			return nil
		}
		stopped = true
		stop()
		if stubborn != nil {
			<-stubborn
		}
		return nil
	})
	e.Budget.EvalEvery = 200 // every iteration has every stage
	got, err := Run(ctx, e, st, func(event results.Event) {
		if event.Eval != nil {
			iterations++
		}
	})
	if !errors.Is(err, context.Canceled) || got.Complete {
		t.Fatalf("stopped in stage %s: complete %v, %v", stage, got.Complete, err)
	}
	if got.Frames != 200 || len(got.Evals) != 1 {
		t.Errorf("stopped in stage %s of the second iteration: %d frames and %d evaluations, want those of the first", stage, got.Frames, len(got.Evals))
	}
}

func TestARunNamesTheSourcesOfAllItsSessions(t *testing.T) {
	committed, err := SourcesOf("HEAD")
	if err != nil {
		t.Skip(err)
	}
	defer func(hash func() string) { sourcesHash = hash }(sourcesHash)
	for _, c := range []struct {
		earlier, now, want string
		dirty              bool
	}{
		{committed, committed, committed, false}, {"other", committed, results.SeveralSources, true}, {"", committed, results.SeveralSources, true},
		{"other", "other", "other", true}, {committed, "", results.SeveralSources, true}, {"", "", "", true},
	} {
		sourcesHash = func() string { return c.now }
		st, e := open(t), tiny(6)
		stopIn(t, st, 6, stages[0], nil)
		e.Budget.EvalEvery = 200
		r := must.Get(st.Claim(t.Context(), must.Get(e.header())(t), false, nil))(t)
		saved, _ := r.LoadCheckpoint()
		if got := saved.Meta[metaSources]; got != c.now {
			t.Errorf("the checkpoint names sources %q", got)
		}
		saved.Meta[metaSources] = c.earlier
		must.Do(t, errors.Join(r.SaveCheckpoint(saved), r.Close()))
		got := must.Get(Run(t.Context(), e, st))(t)
		if got.Host.Sources != c.want || got.Host.Dirty != c.dirty {
			t.Errorf("after sources %q the record names %+v, want %+v", c.earlier, got.Host, c)
		}
	}
}

func TestAStopInAnyStageIsSavedAndGoneOnFrom(t *testing.T) {
	e := tiny(6)
	e.Budget.EvalEvery = 200
	whole := open(t)
	want := must.Get(Run(t.Context(), e, whole))(t)
	for _, stage := range stages {
		st := open(t)
		stopIn(t, st, 6, stage, nil)
		must.Get(Run(t.Context(), e, st))(t)
		sameRecord(t, record(t, whole, want.ID), record(t, st, want.ID))
	}
}

func TestAStageThatDoesNotNoticeAStopIsLeftBehind(t *testing.T) {
	defer func(usual time.Duration) { patience = usual }(patience)
	patience = 50 * time.Millisecond
	e := tiny(7)
	e.Budget.EvalEvery = 200
	whole, parts := open(t), open(t)
	want := must.Get(Run(t.Context(), e, whole))(t)
	before := runtime.NumGoroutine()
	stubborn := make(chan struct{})
	stopIn(t, parts, 7, learning, stubborn)
	// The run goes on, here in the same process, while the stage that was left behind still hangs.
	must.Get(Run(t.Context(), e, parts))(t)
	sameRecord(t, record(t, whole, want.ID), record(t, parts, want.ID))
	close(stubborn)
	settle(t, before)
}

// settle waits until no more than want goroutines are left.
func settle(t *testing.T, want int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left, want %d", runtime.NumGoroutine(), want)
		}
	}
}

func TestAStopBeforeTheStartTouchesNothing(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	st := open(t)
	if _, err := Run(ctx, tiny(1), st); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if entries, err := os.ReadDir(st.Dir()); err != nil || len(entries) > 0 {
		t.Errorf("the store has %v, %v", entries, err)
	}
}

func TestAStopThatCannotBeSavedSaysSo(t *testing.T) {
	st := open(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var got error
	e := hooked(tiny(2), func(_ context.Context, stage string) error {
		stop()
		// The run is removed while it trains.
		if got == nil {
			got = os.RemoveAll(st.Dir())
		}
		return nil
	})
	_, err := Run(ctx, e, st)
	if err == nil || errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("got %v, %v: a lost state passes for a saved one", err, got)
	}
	if want := "its state at 0 frames could not be saved"; err != nil && !contains(err, want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if err := RunAll(ctx, []Config{e}, st, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("RunAll with a stopped context returns %v", err)
	}
}
