// SPDX-License-Identifier: Apache-2.0

//go:build unix

package nb

import (
	"os"
	"os/exec"
	"testing"
	"time"
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
