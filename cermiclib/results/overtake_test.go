// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// errDied ends a toy run as a kill does: nothing is given back.
var errDied = errors.New("died")

// trainSome trains the toy run for so many writes and then dies, or to its end if that comes first.
func trainSome(r *Run, writes int) (err error) {
	defer func() {
		if got := recover(); got == any(errDied) {
			err = errDied
		} else if got != nil {
			panic(got)
		}
	}()
	return train(r, func() {
		if writes--; writes == 0 {
			panic(errDied)
		}
	})
}

// die leaves a run as a kill does: its lock stays, and nobody beats.
func die(r *Run) {
	r.lock = nil
}

// claimOn claims the toy run from another machine, on whose clock a void lock is void at the second look.
func claimOn(t *testing.T, dir, host string) *Run {
	t.Helper()
	s := onHost(openTest(t, dir), host, time.Hour)
	s.Note = func(string) {}
	r, err := s.Claim(t.Context(), testID, []byte(testExperiment), testHeader(), true, nil)
	if err != nil {
		t.Fatalf("%s: %v", host, err)
	}
	return r
}

// A writer falls asleep before any one of the changes that it makes in the folder: when it claims the run, takes it up from what
// another left, appends, saves or finishes. A second machine takes the run over, trains some of it and dies or ends; then the
// first one wakes up in the middle of what it did. Whatever it still does, a third machine must end with the one true result,
// and the first must not believe that the run is its own unless it had finished it.
func TestAWriterThatWasOvertakenInItsSleepChangesNothing(t *testing.T) {
	t.Parallel()
	want := resultOf(t, complete(t))
	starts := map[string]func() string{"from nothing": func() string { return t.TempDir() }, "from a part": func() string { return partial(t) }}
	afters := []int{0, 1, 6, 1000} // writes of the second machine
	if testing.Short() {
		afters = []int{4}
	}
	for name, start := range starts {
		for _, writes := range afters {
			at, slept := 0, true
			for ; slept; at++ {
				slept = sleepAt(t, fmt.Sprintf("%s, %d writes, step %d", name, writes, at), start(), at, writes, want)
			}
			if at < 20 {
				t.Errorf("%s: the writer makes only %d changes", name, at)
			}
		}
	}
}

// sleepAt is one such story; it says whether the writer came to its step at all.
func sleepAt(t *testing.T, name, dir string, at, writes int, want string) (slept bool) {
	t.Helper()
	s := onHost(openTest(t, dir), "sleeper", time.Hour)
	s.Note = func(string) {}
	steps, finished := 0, false
	s.lease.Step = func() {
		if steps++; steps-1 != at {
			return
		}
		slept = true
		found, err := openTest(t, dir).Get(testID)
		finished = err == nil && found.Complete
		r := claimOn(t, dir, "second")
		switch {
		case r.Complete():
			if err := r.Close(); err != nil {
				t.Errorf("%s: the second machine: %v", name, err)
			}
		case writes == 0:
			die(r)
		default:
			err := trainSome(r, writes)
			if errors.Is(err, errDied) {
				die(r)
			} else if err = errors.Join(err, r.Close()); err != nil {
				t.Errorf("%s: the second machine: %v", name, err)
			}
		}
	}
	r, err := s.Claim(t.Context(), testID, []byte(testExperiment), testHeader(), false, nil)
	if err == nil {
		resumed := r.Complete() // found so after waking up: the second machine's work
		err = train(r, func() {})
		if slept && !finished && !resumed && err == nil {
			owned := r.lock != nil && r.lock.Held() == nil
			if !owned && !errors.Is(err, ErrBusy) {
				t.Errorf("%s: the overtaken writer finished a run that was not its own", name)
			}
		}
		if closing := r.Close(); closing != nil {
			t.Errorf("%s: closing: %v", name, closing)
		}
	}
	if err != nil && !errors.Is(err, ErrBusy) && !strings.Contains(err.Error(), "no such file") {
		t.Errorf("%s: the sleeper: %v", name, err)
	}
	third := claimOn(t, dir, "third")
	if err := errors.Join(train(third, func() {}), third.Close()); err != nil {
		t.Errorf("%s: the third machine: %v", name, err)
	}
	if got := resultOf(t, dir); got != want {
		t.Errorf("%s: got %v\nwant %v", name, got, want)
	}
	if found := locks(t, dir); len(found) > 0 {
		t.Errorf("%s: locks are left: %v", name, found)
	}
	return slept
}
