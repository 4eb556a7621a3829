// SPDX-License-Identifier: Apache-2.0

//go:build unix

package results

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// swarmEnv holds a member of the swarm, as JSON.
const swarmEnv = "CERMIC_TEST_SWARM"

// member is one process of many that work off a store together. Those of one machine can see each other's processes, others only
// each other's signs of life.
type member struct {
	Store, Log, Host string
	Seed             uint64
	Runs             int
	Skew             time.Duration // of the machine's clock
	Rate             float64       // by which it runs fast or slow
	Silence          time.Duration
}

func swarmID(run int) string { return fmt.Sprintf("%016x", 0x5eed+run) }

func swarmExperiment(run int) []byte { return fmt.Appendf(nil, `{"run":%d}`, run) }

// swarmChild trains whatever run of the store is free, in an order of its own, until all are complete.
func swarmChild(text string) error {
	var m member
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return err
	}
	s, err := Open(m.Store)
	if err != nil {
		return err
	}
	began := time.Now()
	s.Note = func(string) {}
	s.life.me.Host, s.life.beat, s.life.silence, s.life.poll = m.Host, m.Silence/40, m.Silence, m.Silence/40
	s.life.now = func() time.Time {
		return began.Add(m.Skew + time.Duration(float64(time.Since(began))*m.Rate))
	}
	log, err := os.OpenFile(m.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	for _, wait := range []bool{false, true} {
		for _, run := range rand.New(rand.NewPCG(m.Seed, 1)).Perm(m.Runs) {
			for {
				err := m.train(s, log, run, wait)
				if errors.Is(err, ErrBusy) && wait {
					continue // it was asleep and has lost the run
				}
				if err != nil && !errors.Is(err, ErrBusy) {
					return err
				}
				break
			}
		}
	}
	return nil
}

// train is one run, with a line in the log where this process begins and where it ends.
func (m member) train(s *Store, log *os.File, run int, wait bool) error {
	r, err := s.Claim(context.Background(), swarmID(run), swarmExperiment(run), testHeader(), wait, nil)
	if err != nil {
		return err
	}
	if r.Complete() {
		return r.Close()
	}
	fmt.Fprintf(log, "%d begin %d\n", run, os.Getpid()) // one write of a line: lines of many processes do not mix
	err = train(r, func() { time.Sleep(15 * time.Millisecond) })
	if err == nil {
		fmt.Fprintf(log, "%d end %d\n", run, os.Getpid())
	}
	return errors.Join(err, r.Close())
}

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

// start adds a process on one of three machines, whose clocks show other times and run up to a quarter too fast or too slow.
func (w *swarm) start() {
	m := w.member
	m.Seed = w.random.Uint64()
	machine := w.random.IntN(3)
	m.Host = fmt.Sprintf("machine-%d", machine)
	m.Skew = []time.Duration{0, 9 * time.Hour, -100 * time.Hour}[machine]
	m.Rate = []float64{1, 0.8, 1.25}[machine]
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
	dir := t.TempDir()
	w := &swarm{t: t, random: rand.New(rand.NewPCG(7, 8)), disturbed: map[int]bool{}}
	// Silence is long beside what a busy machine may keep a living process waiting.
	w.member = member{Store: filepath.Join(dir, "runs"), Log: filepath.Join(dir, "log"), Runs: 60, Silence: 2500 * time.Millisecond}
	disturbances := 12
	if testing.Short() {
		w.member.Runs, w.member.Silence, disturbances = 15, 1500*time.Millisecond, 3
	}
	for range 6 {
		w.start()
	}
	for range disturbances {
		time.Sleep(time.Duration(20+w.random.IntN(200)) * time.Millisecond)
		w.disturb()
		w.start()
	}
	w.group.Wait()
	want := map[string]string{}
	for run := range w.member.Runs {
		r, err := openTest(t, w.member.Store).Get(swarmID(run))
		if err != nil || !r.Complete {
			t.Errorf("run %d is not complete: %v", run, err)
			continue
		}
		files, err := readResultFiles(filepath.Join(w.member.Store, swarmID(run)))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range resultFiles[1:] {
			if text := string(files[name]); run == 0 {
				want[name] = text
			} else if text != want[name] {
				t.Errorf("run %d has another %s than run 0:\n%s\n%s", run, name, text, want[name])
			}
		}
	}
	if undisturbed := resultOf(t, complete(t)); undisturbed[evalsFile] != want[evalsFile] || undisturbed[scalarsFile] != want[scalarsFile] {
		t.Error("what the swarm found is not what one process finds")
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
