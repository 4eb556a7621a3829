// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"cermic/envs/envtest/must"
)

// childEnv names the store that a second process of this test trains the toy run in.
const childEnv = "CERMIC_TEST_STORE"

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

// child is the main function of a second process.
func child(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	s.Note = func(note string) { fmt.Println(note) }
	r, err := s.Claim(context.Background(), testHeader(), true, nil)
	if err != nil {
		return err
	}
	return errors.Join(train(r, func() {}), r.Close())
}

// Processes wait for the owner of a partial run. Then they and goroutines train it together while others read it.
func TestManyProcessesAndGoroutinesShareARun(t *testing.T) {
	finished := complete(t)
	want, dir := resultOf(t, finished), partial(t)
	whole := must.Get(openTest(t, finished).Get(testID))(t)
	owner := claimTest(t, openTest(t, dir))
	var wg, waiting sync.WaitGroup
	for range 3 {
		c := exec.Command(os.Args[0])
		c.Env, c.Stderr = append(os.Environ(), childEnv+"="+dir), os.Stderr
		out := must.Get(c.StdoutPipe())(t)
		must.Do(t, c.Start())
		waiting.Add(1)
		wg.Go(func() {
			note, err := bufio.NewReader(out).ReadString('\n')
			if want := "waiting for run " + testID + ", which " + self(); !strings.HasPrefix(note, want) {
				t.Errorf("a process notes %q, %v, want %q", note, err, want)
			}
			waiting.Done()
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	waiting.Wait()
	must.Do(t, owner.Close())
	var trained atomic.Int32
	for range 8 {
		s := openTest(t, dir)
		wg.Go(func() {
			r, err := s.Claim(context.Background(), testHeader(), true, func(string) {})
			if err != nil {
				t.Error(err)
				return
			}
			if !r.Record().Complete {
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
