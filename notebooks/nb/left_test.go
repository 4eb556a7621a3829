// SPDX-License-Identifier: Apache-2.0

//go:build unix

package nb

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
)

func TestALeftTrainingLivesAsLongAsItsProcess(t *testing.T) {
	l := &left{folder: t.TempDir()}
	if l.process() != nil {
		t.Error("a process without a sign of life")
	}
	if err := l.live(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	if p := l.process(); p == nil || p.Pid != os.Getpid() {
		t.Errorf("this process is not found, but %v", p)
	}
	late := time.Now().Add(-10 * time.Second) // a busy machine
	if err := os.Chtimes(l.path(aliveFile), late, late); err != nil {
		t.Fatal(err)
	}
	if l.process() == nil {
		t.Error("a process is taken for gone because its sign of life is late")
	}
	old := time.Now().Add(-2 * lost) // the number may be another process's by now
	if err := os.Chtimes(l.path(aliveFile), old, old); err != nil {
		t.Fatal(err)
	}
	if l.process() != nil {
		t.Error("an old sign of life counts")
	}
	dead := exec.Command(os.Args[0], "-test.run", "^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	if err := l.live(dead.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if l.process() != nil {
		t.Error("a process that has ended is taken for alive")
	}
}

func TestASignOfLifeIsNeverSeenHalfWritten(t *testing.T) {
	l := &left{folder: t.TempDir()}
	if err := l.live(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		var err error
		for i := 0; i < 500 && err == nil; i++ {
			err = l.live(os.Getpid())
		}
		ended <- err
	}()
	for looks := 0; ; looks++ {
		select {
		case err := <-ended:
			if err != nil || looks == 0 {
				t.Errorf("%d looks, %v", looks, err)
			}
			return
		default:
			if l.process() == nil {
				t.Fatal("a process seemed gone while its sign of life was renewed")
			}
		}
	}
}

// A cell that was edited after its page was closed asks for a run that its process does not train: to wait for that would be in vain.
func TestACellThatAsksForAnotherRunStopsTheProcess(t *testing.T) {
	st, err := results.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &left{folder: t.TempDir()}
	before := Must(plan.New(plan.Request{Task: "balance", Method: "mappo", Budget: "smoke", Seed: 1}))
	after := Must(plan.New(plan.Request{Task: "balance", Method: "mappo", Budget: "smoke", Seed: 2}))
	if err := l.note(before); err != nil {
		t.Fatal(err)
	}
	process := exec.Command("sleep", "60")
	if err := process.Start(); err != nil {
		t.Skip(err)
	}
	ended := make(chan error)
	go func() { ended <- process.Wait() }()
	if err := l.live(process.Process.Pid); err != nil {
		t.Fatal(err)
	}
	s := &session{ctx: t.Context(), store: st, left: l}
	if r, err := s.follow(t.Context(), after, nil); r != nil || err != nil {
		t.Errorf("follow returns %v and %v, want neither: the cell trains what it asks for", r, err)
	}
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Error("the process goes on with what nobody asks for any more")
		_ = process.Process.Kill()
	}
	if !l.trains(Must(before.ID())) || l.trains(Must(after.ID())) {
		t.Error("the note does not say what the process trained")
	}
}
