// SPDX-License-Identifier: Apache-2.0

package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// plant writes a lock of somebody else, whose last sign of life was that long ago.
func plant(t *testing.T, dir string, content []byte, age time.Duration) string {
	t.Helper()
	path := filepath.Join(dir, testID, "lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-age)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStaleLocksAreTakenOver(t *testing.T) {
	me := self()
	lockOf := func(o owner) []byte {
		content, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	elsewhere := owner{Host: "elsewhere", PID: me.PID, Start: me.Start}
	rebooted := owner{Host: me.Host, Space: "another boot", PID: me.PID, Start: me.Start}
	reused := owner{Host: me.Host, Space: me.Space, PID: me.PID, Start: me.Start + 1}
	for name, c := range map[string]struct {
		content []byte
		age     time.Duration
		busy    string // "" if the run is free
	}{
		"here, alive, long silent":     {lockOf(me), time.Hour, fmt.Sprintf("process %d on %s", me.PID, me.Host)},
		"here, gone":                   {lockOf(owner{Host: me.Host, Space: me.Space, PID: 1 << 30}), 0, ""},
		"here, its number reused":      {lockOf(reused), 0, ""},
		"elsewhere, alive":             {lockOf(elsewhere), silence / 2, "on elsewhere (last sign of life 30s ago; after 1m0s"},
		"elsewhere, silent":            {lockOf(elsewhere), silence + 5*time.Second, ""},
		"before the last boot, recent": {lockOf(rebooted), 0, fmt.Sprintf("process %d on ", me.PID)},
		"before the last boot":         {lockOf(rebooted), time.Hour, ""},
		"empty, recent":                {nil, 0, "another machine"},
		"empty":                        {nil, time.Hour, ""},
		"damaged, recent":              {[]byte(`{"host":"els`), 0, "another machine"},
		"damaged":                      {[]byte(`{"host":"els`), time.Hour, ""},
	} {
		dir := t.TempDir()
		plant(t, dir, c.content, c.age)
		r, err := openTest(t, dir).Claim(context.Background(), testID, []byte(testExperiment), testHeader(), false, nil)
		if c.busy != "" {
			if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), c.busy) {
				t.Errorf("%s: got %v, want %s", name, err, c.busy)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := r.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
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
	path := plant(t, dir, []byte(`{"host":"elsewhere","pid":7}`), 0)
	r.lock.touch() // must not write over the new owner
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
	if content, err := os.ReadFile(path); err != nil || !strings.Contains(string(content), "elsewhere") {
		t.Errorf("the new owner's lock is now %s, %v", content, err)
	}
	if got := resultOf(t, dir); !reflect.DeepEqual(got, before) {
		t.Errorf("a writer without its lock wrote %v", got)
	}
}

func TestTheOwnerGivesSignsOfLife(t *testing.T) {
	dir := t.TempDir()
	r := claimTest(t, openTest(t, dir))
	path := filepath.Join(dir, testID, "lock")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	r.lock.beating.Add(1)
	go r.lock.beatOn(time.Millisecond)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.ModTime().After(old) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no sign of life")
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the lock is left behind")
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestOneOfManyTakesAStaleLockOver(t *testing.T) {
	dir := t.TempDir()
	me := self()
	stale, err := json.Marshal(owner{Host: me.Host, Space: me.Space, PID: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		plant(t, dir, stale, 0)
		locks := make(chan *lock, 8)
		var wg sync.WaitGroup
		for range cap(locks) {
			wg.Go(func() {
				l, holder, err := acquire(filepath.Join(dir, testID))
				if err != nil || l == nil && !strings.Contains(holder, me.Host) {
					t.Errorf("holder %q, %v", holder, err)
				}
				if l != nil {
					locks <- l
				}
			})
		}
		wg.Wait()
		if n := len(locks); n != 1 {
			t.Fatalf("%d claims have the lock", n)
		}
		l := <-locks
		if err := errors.Join(l.held(), l.release()); err != nil {
			t.Fatal(err)
		}
	}
}
