// SPDX-License-Identifier: Apache-2.0

package results

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cermic/cermiclib/results/lease"
)

// plant writes a lock file into the toy run's folder.
func plant(t *testing.T, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, testID, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// locks lists the lock files of the toy run.
func locks(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, testID, lease.FileName+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// onHost gives s the lease of a process on another machine, whose clock advances by each at every look at it.
func onHost(s *Store, host string, each time.Duration) *Store {
	s.lease.Me.Host, s.lease.Poll, s.lease.Heartbeat = host, time.Microsecond, time.Hour // what dies in a test gives no more signs
	clock := time.Unix(0, 0).Add(time.Duration(len(host)) * 1e6 * time.Hour)             // no two machines agree
	s.lease.Now = func() time.Time {
		clock = clock.Add(each)
		return clock
	}
	return s
}

func TestALostLockStopsTheWriter(t *testing.T) {
	dir := t.TempDir()
	r := claimTest(t, openTest(t, dir))
	if err := r.AppendScalars(1, map[string]float64{"loss": 1}); err != nil {
		t.Fatal(err)
	}
	before := resultOf(t, dir)
	path := plant(t, dir, "lock.2", []byte(`{"host":"elsewhere","pid":7}`))
	if err := os.Remove(filepath.Join(r.dir, "lock.1")); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		r.AppendScalars(2, map[string]float64{"loss": 1}), r.AppendEval(Eval{Frames: 2}), r.SaveCheckpoint(Checkpoint{}), r.Finish(Host{}),
	} {
		if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "taken over by process 7 on elsewhere") {
			t.Errorf("got %v", err)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if found := locks(t, dir); len(found) != 1 || found[0] != path {
		t.Errorf("the locks are now %v", found)
	}
	if got := resultOf(t, dir); got != before {
		t.Errorf("a writer without its lock wrote %v", got)
	}
}

func TestWaitingEndsWithTheContextAndSaysForWhom(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "lock.3", []byte(`{"host":"elsewhere","pid":7}`+"\n"))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	var notes []string
	_, err := openTest(t, dir).Claim(ctx, testID, []byte(testExperiment), testHeader(), true, func(note string) { notes = append(notes, note) })
	if !errors.Is(err, context.DeadlineExceeded) || len(notes) != 1 || !strings.Contains(notes[0], "process 7 on elsewhere") {
		t.Errorf("got %v, notes %q", err, notes)
	}
}
