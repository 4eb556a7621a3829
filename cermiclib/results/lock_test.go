// SPDX-License-Identifier: Apache-2.0

package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
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
	found, err := filepath.Glob(filepath.Join(dir, testID, lockName+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func lockOf(t *testing.T, o owner) []byte {
	t.Helper()
	content, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return append(content, '\n')
}

// onHost gives s the lease of a process on another machine, whose clock advances by each at every look at it.
func onHost(s *Store, host string, each time.Duration) *Store {
	s.lease.me.Host, s.lease.poll = host, time.Microsecond
	clock := time.Unix(0, 0).Add(time.Duration(len(host)) * 1e6 * time.Hour) // no two machines agree
	s.lease.now = func() time.Time {
		clock = clock.Add(each)
		return clock
	}
	return s
}

func TestALockIsVoidWhenItsOwnerIsGoneOrSilent(t *testing.T) {
	me := self()
	elsewhere := owner{Host: "elsewhere", PID: me.PID, Start: me.Start}
	rebooted := owner{Host: me.Host, Space: "another boot", PID: me.PID, Start: me.Start}
	reused := owner{Host: me.Host, Space: me.Space, PID: me.PID, Start: me.Start + 1}
	for name, c := range map[string]struct {
		content []byte
		at      string // "" if the run is free at once
		after   bool   // free after a minute of silence
	}{
		"here, alive":             {lockOf(t, me), fmt.Sprintf("process %d on %s", me.PID, me.Host), false},
		"here, gone":              {lockOf(t, owner{Host: me.Host, Space: me.Space, PID: 1 << 30}), "", true},
		"here, its number reused": {lockOf(t, reused), "", true},
		"elsewhere":               {lockOf(t, elsewhere), "on elsewhere (silent for 0s; after 1m0s", true},
		"before the last boot":    {lockOf(t, rebooted), fmt.Sprintf("process %d on ", me.PID), true},
		"given back":              {[]byte(released), "", true},
		"given back, torn":        {[]byte(released + `re","pid":7}`), "", true},
		"empty":                   {[]byte{}, "another machine", true},
		"damaged":                 {[]byte(`{"host":"els`), "another machine", true},
	} {
		for _, file := range []string{"lock", "lock.1", "lock.41"} { // the first is that of an older version
			dir := t.TempDir()
			plant(t, dir, file, c.content)
			s := openTest(t, dir)
			clock := time.Now()
			s.lease.now = func() time.Time { return clock }
			w := watch{lease: s.lease}
			l, holder, err := w.acquire(filepath.Join(dir, testID))
			if err != nil || (l == nil) != (c.at != "") || !strings.Contains(holder, c.at) {
				t.Errorf("%s, %s: at once %v, %q, %v, want %q", name, file, l, holder, err, c.at)
			}
			if l == nil {
				clock = clock.Add(ttlHere(s) - time.Second)
				if l, _, err := w.acquire(filepath.Join(dir, testID)); l != nil || err != nil {
					t.Fatalf("%s, %s: taken over too early, %v", name, file, err)
				}
				clock = clock.Add(2 * time.Second)
				l, _, err = w.acquire(filepath.Join(dir, testID))
				if err != nil || (l != nil) != c.after {
					t.Errorf("%s, %s: after a minute %v, %v", name, file, l, err)
				}
			}
			if l == nil {
				continue
			}
			if found := locks(t, dir); len(found) != 1 || found[0] != l.path {
				t.Errorf("%s, %s: the locks are %v, want %s", name, file, found, l.path)
			}
			if err := l.release(false); err != nil {
				t.Errorf("%s, %s: %v", name, file, err)
			}
		}
	}
}

func ttlHere(s *Store) time.Duration { return s.lease.ttl }

func TestASignOfLifeKeepsALockHoweverTheClocksGo(t *testing.T) {
	for _, elsewhere := range []time.Duration{-1e6 * time.Hour, 0, 1e6 * time.Hour} {
		dir := t.TempDir()
		owner := claimTest(t, onHost(openTest(t, dir), "elsewhere", 0))
		w := watch{lease: newLease()}
		clock := time.Now()
		w.now = func() time.Time { return clock }
		for n := range uint64(10) {
			if l, _, err := w.acquire(owner.dir); l != nil || err != nil {
				t.Fatalf("taken over at the %d-th sign of life, %v", n, err)
			}
			clock = clock.Add(w.ttl - time.Second)
			owner.lock.touch(n)
			// The time that the file system shows is the owner's own where nobody corrects it.
			if err := os.Chtimes(owner.lock.path, clock.Add(elsewhere), clock.Add(elsewhere)); err != nil {
				t.Fatal(err)
			}
		}
		if err := owner.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestALostLockStopsTheWriter(t *testing.T) {
	dir := t.TempDir()
	r := claimTest(t, openTest(t, dir))
	if err := r.AppendScalars(1, map[string]float64{"loss": 1}); err != nil {
		t.Fatal(err)
	}
	before := resultOf(t, dir)
	path := plant(t, dir, "lock.2", []byte(`{"host":"elsewhere","pid":7}`))
	if err := os.Remove(r.lock.path); err != nil {
		t.Fatal(err)
	}
	r.lock.touch(1) // must not bring the old lock back
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

func TestTheOwnerGivesSignsOfLife(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	s.lease.heartbeat = time.Millisecond
	r := claimTest(t, s)
	first, err := newestLock(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if now, err := newestLock(r.dir); err != nil || string(now.content) != string(first.content) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no sign of life")
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err := newestLock(r.dir); err != nil || !s.free() {
		t.Errorf("the lock is left behind: %s, %v", s.content, err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestOneOfManyTakesAVoidLockOver(t *testing.T) {
	me := self()
	for _, content := range [][]byte{nil, []byte(released), lockOf(t, owner{Host: me.Host, Space: me.Space, PID: 1 << 30})} {
		dir := t.TempDir()
		if content != nil {
			plant(t, dir, "lock", content)
		} else if err := os.MkdirAll(filepath.Join(dir, testID), 0o755); err != nil {
			t.Fatal(err)
		}
		for round := range 30 {
			won := make(chan *lock, 8)
			var wg sync.WaitGroup
			for range cap(won) {
				wg.Go(func() {
					w := watch{lease: newLease()}
					l, _, err := w.acquire(filepath.Join(dir, testID))
					if err != nil {
						t.Error(err)
					}
					if l != nil {
						won <- l
					}
				})
			}
			wg.Wait()
			// All may have found another's draft or lock in their way; then they would look again.
			if n := len(won); n > 1 {
				t.Fatalf("round %d: %d claims have the lock", round, n)
			}
			if len(won) == 0 {
				continue
			}
			l := <-won
			if err := errors.Join(l.held(), l.release(false)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The system's links are taken away by a folder that has none: the lock is then made under its name at once.
func TestWithoutLinksALockIsMadeExclusively(t *testing.T) {
	dir := t.TempDir()
	l := &lock{lease: newLease(), path: filepath.Join(dir, "lock.1"), content: []byte("{\"host\":\"a\"}\n")}
	other := filepath.Join(t.TempDir(), "gone", "draft") // its link fails as one into another file system does
	if won, err := l.link(other); won || err != nil {
		t.Errorf("without its draft a claim gets %v, %v", won, err)
	}
	if info, err := os.Stat("/dev/shm"); err != nil || !info.IsDir() || !crossesFileSystems(t, dir) {
		t.Skip("there are no two file systems here, between which no link can be made")
	}
	draft := filepath.Join(foreign(t, dir), "draft")
	if err := os.WriteFile(draft, l.content, 0o644); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(draft)
	if won, err := l.link(draft); !won || err != nil || l.held() != nil {
		t.Errorf("the first claim gets %v, %v", won, err)
	}
	second := &lock{lease: newLease(), path: l.path, content: []byte("{\"host\":\"b\"}\n")}
	if won, err := second.link(draft); won || err != nil {
		t.Errorf("the second claim gets %v, %v", won, err)
	}
	if won, err := l.link(draft); !won || err != nil {
		t.Errorf("a claim that is told twice that it has the lock gets %v, %v", won, err)
	}
}

// foreign is a folder on another file system than dir, as far as this machine has one.
func foreign(t *testing.T, dir string) string {
	t.Helper()
	if strings.HasPrefix(dir, "/dev/shm") {
		return "/tmp"
	}
	return "/dev/shm"
}

func crossesFileSystems(t *testing.T, dir string) bool {
	t.Helper()
	a := filepath.Join(dir, "probe")
	b := filepath.Join(foreign(t, dir), filepath.Base(dir)+"-probe")
	if err := os.WriteFile(a, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(b)
	return os.Link(a, b) != nil
}

func TestWaitingEndsWithTheContextAndSaysForWhom(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "lock.3", lockOf(t, owner{Host: "elsewhere", PID: 7}))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	var notes []string
	_, err := openTest(t, dir).Claim(ctx, testID, []byte(testExperiment), testHeader(), true, func(note string) { notes = append(notes, note) })
	if !errors.Is(err, context.DeadlineExceeded) || len(notes) != 1 || !strings.Contains(notes[0], "process 7 on elsewhere") {
		t.Errorf("got %v, notes %q", err, notes)
	}
}
