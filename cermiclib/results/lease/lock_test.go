// SPDX-License-Identifier: Apache-2.0

package lease

import (
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

// plant writes a lock file into a folder.
func plant(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// locks lists the lock files in a folder.
func locks(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, FileName+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func lockOf(t *testing.T, o Owner) []byte {
	t.Helper()
	content, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return append(content, '\n')
}

// acquired is the lock of a folder that nobody holds.
func acquired(t *testing.T, dir string, o Options) *Lock {
	t.Helper()
	w := Watcher{Options: o}
	l, holder, err := w.Acquire(dir)
	if err != nil || l == nil {
		t.Fatalf("held by %q, %v", holder, err)
	}
	return l
}

func TestALockIsVoidWhenItsOwnerIsGoneOrSilent(t *testing.T) {
	me := Self()
	elsewhere := Owner{Host: "elsewhere", PID: me.PID, Start: me.Start}
	rebooted := Owner{Host: me.Host, Space: "another boot", PID: me.PID, Start: me.Start}
	reused := Owner{Host: me.Host, Space: me.Space, PID: me.PID, Start: me.Start + 1}
	for name, c := range map[string]struct {
		content []byte
		at      string // "" if the run is free at once
		after   bool   // free after a minute of silence
	}{
		"here, alive":             {lockOf(t, me), fmt.Sprintf("process %d on %s", me.PID, me.Host), false},
		"here, gone":              {lockOf(t, Owner{Host: me.Host, Space: me.Space, PID: 1 << 30}), "", true},
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
			clock := time.Now()
			w := Watcher{Options: Default()}
			w.Now = func() time.Time { return clock }
			l, holder, err := w.Acquire(dir)
			if err != nil || (l == nil) != (c.at != "") || !strings.Contains(holder, c.at) {
				t.Errorf("%s, %s: at once %v, %q, %v, want %q", name, file, l, holder, err, c.at)
			}
			if l == nil {
				clock = clock.Add(w.TTL - time.Second)
				if l, _, err := w.Acquire(dir); l != nil || err != nil {
					t.Fatalf("%s, %s: taken over too early, %v", name, file, err)
				}
				clock = clock.Add(2 * time.Second)
				l, _, err = w.Acquire(dir)
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
			if err := l.Release(false); err != nil {
				t.Errorf("%s, %s: %v", name, file, err)
			}
		}
	}
}

// denyReading makes every lock file one that only another user may read; as root, whom no permission stops, a test could
// not.
func denyReading(t *testing.T) {
	open := openLock
	openLock = func(path string) (*os.File, error) {
		return nil, &os.PathError{Op: "open", Path: path, Err: os.ErrPermission}
	}
	t.Cleanup(func() { openLock = open })
}

func TestALockThatCannotBeReadIsHeldUntilItIsSilent(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "lock.1", lockOf(t, Owner{Host: "elsewhere", PID: 7}))
	denyReading(t)
	clock := time.Now()
	w := Watcher{Options: Default()}
	w.Now = func() time.Time { return clock }
	acquire := func(want string) {
		t.Helper()
		l, holder, err := w.Acquire(dir)
		if l != nil || err != nil || !strings.Contains(holder, want) {
			t.Fatalf("got %v, %q, %v, want it held by somebody %q", l, holder, err, want)
		}
	}
	acquire("of another user (silent for 0s")
	clock = clock.Add(w.TTL - time.Second)
	if err := os.Chtimes(filepath.Join(dir, "lock.1"), clock, clock); err != nil { // a sign of life
		t.Fatal(err)
	}
	acquire("of another user (silent for 0s")
	if who, _ := w.Holder(dir); !strings.Contains(who, "of another user") {
		t.Errorf("for showing, it is held by %q", who)
	}
	clock = clock.Add(w.TTL + time.Second)
	l, holder, err := w.Acquire(dir)
	if l == nil || err != nil {
		t.Fatalf("after a minute of silence: %q, %v", holder, err)
	}
	if err := l.Release(false); err != nil {
		t.Error(err)
	}
}

func TestAFolderWhoseLockIsNoFileIsHeldBySomebody(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "lock.1"), 0o777); err != nil {
		t.Fatal(err)
	}
	if who, _ := Default().Holder(dir); who == "" {
		t.Error("nobody holds it")
	}
	if who, _ := Default().Holder(filepath.Join(dir, "none")); who != "" {
		t.Errorf("%s holds a folder that is not there", who)
	}
}

func TestASignOfLifeKeepsALockHoweverTheClocksGo(t *testing.T) {
	for _, elsewhere := range []time.Duration{-1e6 * time.Hour, 0, 1e6 * time.Hour} {
		dir := t.TempDir()
		o := Default()
		o.Me.Host = "elsewhere"
		owner := acquired(t, dir, o)
		w := Watcher{Options: Default()}
		clock := time.Now()
		w.Now = func() time.Time { return clock }
		for n := range uint64(10) {
			if l, _, err := w.Acquire(dir); l != nil || err != nil {
				t.Fatalf("taken over at the %d-th sign of life, %v", n, err)
			}
			clock = clock.Add(w.TTL - time.Second)
			owner.touch(n)
			// The time that the file system shows is the owner's own where nobody corrects it.
			if err := os.Chtimes(owner.path, clock.Add(elsewhere), clock.Add(elsewhere)); err != nil {
				t.Fatal(err)
			}
		}
		if err := owner.Release(false); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheOwnerGivesSignsOfLife(t *testing.T) {
	dir := t.TempDir()
	o := Default()
	o.Heartbeat = time.Millisecond
	l := acquired(t, dir, o)
	first, err := newestLock(dir)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if now, err := newestLock(dir); err != nil || string(now.content) != string(first.content) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no sign of life")
		}
	}
	if err := l.Release(false); err != nil {
		t.Fatal(err)
	}
	if s, err := newestLock(dir); err != nil || !s.free() {
		t.Errorf("the lock is left behind: %s, %v", s.content, err)
	}
	if err := os.Remove(l.path); err != nil {
		t.Fatal(err)
	}
	l.touch(1)
	if found := locks(t, dir); len(found) != 0 {
		t.Errorf("a late sign of life brings %v back", found)
	}
}

func TestOneOfManyTakesAVoidLockOver(t *testing.T) {
	me := Self()
	for _, content := range [][]byte{nil, []byte(released), lockOf(t, Owner{Host: me.Host, Space: me.Space, PID: 1 << 30})} {
		dir := t.TempDir()
		if content != nil {
			plant(t, dir, "lock", content)
		}
		for round := range 30 {
			won := make(chan *Lock, 8)
			var wg sync.WaitGroup
			for range cap(won) {
				wg.Go(func() {
					w := Watcher{Options: Default()}
					l, _, err := w.Acquire(dir)
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
			if err := errors.Join(l.Held(), l.Release(false)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The system's links are taken away by a folder that has none: the lock is then made under its name at once.
func TestWithoutLinksALockIsMadeExclusively(t *testing.T) {
	dir := t.TempDir()
	l := &Lock{Options: Default(), path: filepath.Join(dir, "lock.1"), content: []byte("{\"host\":\"a\"}\n")}
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
	if won, err := l.link(draft); !won || err != nil || l.Held() != nil {
		t.Errorf("the first claim gets %v, %v", won, err)
	}
	second := &Lock{Options: Default(), path: l.path, content: []byte("{\"host\":\"b\"}\n")}
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
