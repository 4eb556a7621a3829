// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// childEnv names the store that a second process of this test trains the toy run in; childStops the number of writes
// after which it stops without giving anything back, until it is killed.
const (
	childEnv   = "CERMIC_TEST_STORE"
	childStops = "CERMIC_TEST_STOP"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// These tests write thousands of files durably; on a busy disk they would do little but wait for it.
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() && os.Getenv("TMPDIR") == "" {
		if dir, err := os.MkdirTemp("/dev/shm", "results"); err == nil {
			defer os.RemoveAll(dir)
			os.Setenv("TMPDIR", dir)
		}
	}
	m.Run()
}

// child is what a second process does.
func child(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	s.Note = func(string) {}
	r, err := s.Claim(context.Background(), testID, []byte(testExperiment), testHeader(), true, nil)
	if err != nil {
		return err
	}
	fmt.Println("claimed")
	var stop, writes int
	if _, err := fmt.Sscan(os.Getenv(childStops), &stop); err != nil {
		return err
	}
	err = train(r, func() {
		if writes++; writes == stop {
			fmt.Println("stopped")
			_, _ = io.Copy(io.Discard, os.Stdin) // ends when the parent ends, should it not kill us
			os.Exit(1)
		}
	})
	return errors.Join(err, r.Close())
}

// startChild starts another process that stops after so many writes (0: never) and waits until it says word.
func startChild(t *testing.T, dir string, stop int, word string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childEnv+"="+dir, fmt.Sprintf("%s=%d", childStops, stop))
	c.Stderr = os.Stderr
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	for in := bufio.NewScanner(out); in.Scan(); {
		if in.Text() == word {
			return c
		}
	}
	t.Fatalf("the second process ended without saying %q", word)
	return nil
}

func TestOneProcessTrainsARunAtATime(t *testing.T) {
	want := resultOf(t, complete(t))
	dir := t.TempDir()
	other := startChild(t, dir, 5, "stopped")
	s := openTest(t, dir)
	_, err := s.Claim(context.Background(), testID, []byte(testExperiment), testHeader(), false, nil)
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), fmt.Sprintf("process %d on ", other.Process.Pid)) {
		t.Fatalf("got %v, want one that names process %d", err, other.Process.Pid)
	}
	if _, err := s.Get(testID); err != nil {
		t.Errorf("a run that is being trained cannot be read: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	var notes []string
	_, err = s.Claim(ctx, testID, []byte(testExperiment), testHeader(), true, func(note string) { notes = append(notes, note) })
	if !errors.Is(err, context.DeadlineExceeded) || len(notes) != 1 || !strings.Contains(notes[0], "waiting for run "+testID) {
		t.Errorf("got %v, notes %q", err, notes)
	}
	// Killed, the process gives nothing back; its run is free all the same, before anybody has asked for its exit code.
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for _, alive := processStart(other.Process.Pid); alive; _, alive = processStart(other.Process.Pid) {
		if time.Now().After(deadline) {
			t.Fatal("the killed process does not end")
		}
		time.Sleep(time.Millisecond)
	}
	finish(t, dir)
	if got := resultOf(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestManyProcessesAndGoroutinesShareARun(t *testing.T) {
	want := resultOf(t, complete(t))
	dir := t.TempDir()
	// Each stops at another place with the lock in its hands, is killed, and the rest go on.
	for stop := 1; stop <= 3; stop++ {
		c := startChild(t, dir, stop, "stopped")
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for range 3 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), childEnv+"="+dir, childStops+"=0")
		wg.Go(func() {
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	trained := make(chan bool, 8)
	for range 8 {
		wg.Go(func() {
			s := openTest(t, dir)
			r, err := s.Claim(context.Background(), testID, []byte(testExperiment), testHeader(), true, func(string) {})
			if err != nil {
				t.Error(err)
				return
			}
			trained <- !r.Complete()
			if err := errors.Join(train(r, func() {}), r.Close()); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			s := openTest(t, dir)
			for range 20 {
				if r, err := s.Get(testID); err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && r.Frames > testTotal {
					t.Errorf("read %+v, %v", r, err)
				}
			}
		})
	}
	wg.Wait()
	close(trained)
	count := 0
	for did := range trained {
		if did {
			count++
		}
	}
	if count > 1 {
		t.Errorf("%d goroutines trained one run", count)
	}
	if got := resultOf(t, dir); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

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
