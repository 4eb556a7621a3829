// SPDX-License-Identifier: Apache-2.0

package results

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
)

func TestAClaimWaitsForTheOwnerAndThenFindsItsResult(t *testing.T) {
	s := openTest(t, t.TempDir())
	owner := claimTest(t, s)
	me := fmt.Sprintf("process %d on ", os.Getpid())
	_, err := s.Claim(t.Context(), testHeader(), false, nil)
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), me) {
		t.Errorf("a second claim: %v, want ErrBusy and %q", err, me)
	}
	if !strings.HasPrefix(s.Owner(testID), me) {
		t.Errorf("the owner is %q, want %q", s.Owner(testID), me)
	}
	waiting, claimed := make(chan string, 2), make(chan *Run)
	go func() {
		note := func(line string) { waiting <- line }
		r, err := s.Claim(t.Context(), testHeader(), true, note)
		if err != nil {
			t.Error(err)
		}
		claimed <- r
	}()
	if note := <-waiting; !strings.Contains(note, "waiting for run "+testID+", which "+me) {
		t.Errorf("the note is %q", note)
	}
	must.Do(t, errors.Join(train(owner, func() {}), owner.Close()))
	r := <-claimed
	if !r.Record().Complete || !reflect.DeepEqual(r.Record(), owner.Record()) || r.Close() != nil || len(waiting) > 0 {
		t.Errorf("after waiting the run is %+v", r.Record())
	}
	if who := s.Owner(testID); who != "" {
		t.Errorf("a finished run has the owner %q", who)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	s := openTest(t, t.TempDir())
	defer claimTest(t, s).Close()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.Claim(ctx, testHeader(), true, func(string) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A lock file without a lock belongs to a dead process. The run is free, for any content of the file.
func TestALockFileAloneHoldsNothing(t *testing.T) {
	for _, content := range []string{"", self(), "\x00damaged"} {
		s := openTest(t, t.TempDir())
		path := filepath.Join(s.Dir(), testID, lockFile)
		must.Do(t, WriteFile(path, []byte(content)))
		if who := s.Owner(testID); who != "" {
			t.Errorf("%q: the owner is %q", content, who)
		}
		if r := claimTest(t, s); r.Close() != nil {
			t.Errorf("%q: the run is not closed", content)
		}
	}
}

// A run's folder is deleted by hand and the run begun anew while its first owner still trains.
func TestTheOwnerOfADeletedRunWritesNoMore(t *testing.T) {
	s := openTest(t, t.TempDir())
	first := claimTest(t, s)
	must.Do(t, first.AppendScalars(1, map[string]float64{"loss": 1}))
	must.Do(t, os.RemoveAll(first.dir))
	second := claimTest(t, s)
	defer second.Close()
	before := resultOf(t, s.Dir())
	for _, err := range []error{
		first.AppendScalars(2, map[string]float64{"loss": 1}), first.AppendEval(Eval{Frames: 2}),
		first.SaveCheckpoint(Checkpoint{Frames: 2}), first.Finish(Host{}),
	} {
		if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "was deleted while the run was trained") {
			t.Errorf("got %v", err)
		}
	}
	first.record.Complete = true // as if it had been finished just before
	if err := first.Close(); err != nil || s.Owner(testID) == "" || resultOf(t, s.Dir()) != before {
		t.Errorf("the second owner is disturbed: %v, owner %q, %s", err, s.Owner(testID), resultOf(t, s.Dir()))
	}
}

// A process dies between writing a file and renaming it.
func TestLeftoversOfDeadProcessesAreRemoved(t *testing.T) {
	dir := partial(t)
	want := resultOf(t, complete(t))
	for _, name := range []string{recordFile, checkpointFile} {
		write(t, dir, name+".0123456789abcdef"+tempSuffix, read(t, dir, name)[:50])
	}
	finish(t, dir)
	if got := resultOf(t, dir); got != want {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if left, err := filepath.Glob(filepath.Join(dir, testID, "*"+tempSuffix)); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
