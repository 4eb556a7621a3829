// SPDX-License-Identifier: Apache-2.0

//go:build unix

package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// swarm is the parent's side.
type swarm struct {
	t         *testing.T
	random    *rand.Rand
	member    member
	mu        sync.Mutex
	alive     []*exec.Cmd
	disturbed map[int]bool // processes that were killed, or stopped for longer than a lock lasts
	group     sync.WaitGroup
}

// start adds a process on one of three machines, whose clocks show other times and run up to a quarter too fast or too slow; to two of them
// the store is a folder on a slow network.
func (w *swarm) start() {
	m := w.member
	m.Seed = w.random.Uint64()
	machine := w.random.IntN(3)
	m.Host = fmt.Sprintf("machine-%d", machine)
	m.Skew = []time.Duration{0, 9 * time.Hour, -100 * time.Hour}[machine]
	m.Rate = []float64{1, 0.8, 1.25}[machine]
	m.Slow = []time.Duration{0, 10 * time.Millisecond, 50 * time.Millisecond}[machine]
	text, err := json.Marshal(m)
	if err != nil {
		w.t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), swarmEnv+"="+string(text))
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.alive = append(w.alive, c)
	w.mu.Unlock()
	w.group.Go(func() {
		err := c.Wait()
		w.mu.Lock()
		defer w.mu.Unlock()
		for i := range w.alive {
			if w.alive[i] == c {
				w.alive = append(w.alive[:i], w.alive[i+1:]...)
				break
			}
		}
		if err != nil && !w.disturbed[c.Process.Pid] {
			w.t.Errorf("an undisturbed process ended with %v: %s", err, said.String())
		}
	})
}

// disturb kills one of the processes, or stops it until another has taken its run over and then lets it wake.
func (w *swarm) disturb() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.alive) == 0 {
		return
	}
	c := w.alive[w.random.IntN(len(w.alive))]
	w.disturbed[c.Process.Pid] = true
	if w.random.IntN(3) > 0 {
		_ = c.Process.Kill()
		return
	}
	if c.Process.Signal(syscall.SIGSTOP) == nil {
		w.group.Go(func() {
			time.Sleep(2 * w.member.Silence)
			_ = c.Process.Signal(syscall.SIGCONT)
		})
	}
}

// Processes on three machines work off one store. They are killed and stopped at random, others join. In the end every run is
// complete and right, and nobody has begun a run that another one, who was left in peace, had begun.
func TestASwarmTrainsEachRunOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of leases")
	}
	t.Parallel()
	dir := t.TempDir()
	w := &swarm{t: t, random: rand.New(rand.NewPCG(7, 8)), disturbed: map[int]bool{}}
	// Silence is long beside what a busy machine may keep a living process waiting.
	w.member = member{Store: filepath.Join(dir, "runs"), Log: filepath.Join(dir, "log"), Runs: 60, Silence: 2500 * time.Millisecond}
	for range 6 {
		w.start()
	}
	for range 12 {
		time.Sleep(time.Duration(20+w.random.IntN(200)) * time.Millisecond)
		w.disturb()
		w.start()
	}
	w.group.Wait()
	whole, err := openTest(t, complete(t)).Get(testID)
	if err != nil {
		t.Fatal(err)
	}
	for run := range w.member.Runs {
		r, err := openTest(t, w.member.Store).Get(swarmID(run))
		if err != nil || !r.Complete {
			t.Errorf("run %d is not complete: %v", run, err)
			continue
		}
		if !reflect.DeepEqual(r.Evals, whole.Evals) || !reflect.DeepEqual(r.Scalars, whole.Scalars) {
			t.Errorf("run %d has %+v, one process finds %+v", run, r, whole)
		}
	}
	w.audit()
}

// audit reads the log.
func (w *swarm) audit() {
	data, err := os.ReadFile(w.member.Log)
	if err != nil {
		w.t.Fatal(err)
	}
	owner, again, ended := map[int]int{}, 0, map[int]bool{}
	for line := range strings.Lines(string(data)) {
		var run, pid int
		var what string
		if _, err := fmt.Sscan(line, &run, &what, &pid); err != nil {
			w.t.Fatalf("%q: %v", line, err)
		}
		before, begun := owner[run]
		switch {
		case ended[run]:
			w.t.Errorf("run %d was trained again after its end", run)
		case what == "begin" && begun && !w.disturbed[before]:
			w.t.Errorf("run %d was begun by process %d although process %d trained it", run, pid, before)
		case what == "begin" && begun:
			again++
		case what == "end" && before != pid:
			w.t.Errorf("run %d was ended by process %d and owned by %d", run, pid, before)
		}
		owner[run], ended[run] = pid, what == "end"
	}
	w.t.Logf("%d processes were disturbed, %d runs were taken over", len(w.disturbed), again)
	if again == 0 {
		w.t.Error("no run was ever taken over")
	}
}
