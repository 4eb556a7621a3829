// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"cermic/envs/envtest/must"
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
	defer must.InMemory()()
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
	ballast = 4 << 20 // slow enough that a kill meets the run, and most of all the writing of its checkpoints
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
	must.Get(c.StdinPipe())(t)
	out := must.Get(c.StdoutPipe())(t)
	must.Do(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	for in := bufio.NewScanner(out); in.Scan(); {
		if in.Text() == word {
			return c
		}
	}
	t.Fatalf("the second process ended without saying %q", word)
	return nil
}

// Three processes are killed in training; then processes and goroutines train the run together while others read it.
func TestManyProcessesAndGoroutinesShareARun(t *testing.T) {
	finished := complete(t)
	want, dir := resultOf(t, finished), t.TempDir()
	whole := must.Get(openTest(t, finished).Get(testID))(t)
	for stop := 1; stop <= 3; stop++ {
		_ = startChild(t, dir, stop, "stopped").Process.Kill()
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
	var trained atomic.Int32
	for range 8 {
		s := openTest(t, dir)
		wg.Go(func() {
			r, err := s.Claim(context.Background(), testID, []byte(testExperiment), testHeader(), true, func(string) {})
			if err != nil {
				t.Error(err)
				return
			}
			if !r.Complete() {
				trained.Add(1)
			}
			if err := errors.Join(train(r, func() {}), r.Close()); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			for range 20 {
				r, err := s.Get(testID)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil || len(r.Evals) > 0 && !reflect.DeepEqual(r.Evals, whole.Evals[:len(r.Evals)]) {
					t.Errorf("read %+v, %v: not the start of %+v", r, err, whole)
				}
			}
		})
	}
	wg.Wait()
	if n := trained.Load(); n > 1 {
		t.Errorf("%d goroutines trained one run", n)
	}
	if got := resultOf(t, dir); got != want {
		t.Errorf("got %v\nwant %v", got, want)
	}
}
