// SPDX-License-Identifier: Apache-2.0

//go:build unix

package nb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"cermic/cermiclib/experiment"
	"cermic/envs/envtest/must"
	"cermic/reproduce/plan"
)

// sleeper starts a process that holds the lock of l, as a detached training does.
func sleeper(t *testing.T, l *left) (ended chan error) {
	t.Helper()
	lock := must.Get(os.Create(l.path(processFile)))(t)
	process := exec.Command("sleep", "60")
	if err := errors.Join(detach(process, lock), process.Start()); err != nil {
		t.Skip(err)
	}
	fmt.Fprintln(lock, process.Process.Pid)
	lock.Close()
	ended = make(chan error, 1)
	go func() { ended <- process.Wait() }()
	t.Cleanup(func() { _ = process.Process.Kill() })
	return ended
}

func TestADetachedTrainingIsStoppedWhereItsCellRunsAgain(t *testing.T) {
	t.Setenv("NB_STORE", t.TempDir())
	st := Store()
	l := leftHere(st)
	e := Must(plan.New(plan.Request{Task: "balance", Method: "mappo", Budget: "smoke", Seed: 1}))
	must.Do(t, l.note(e))
	ended := sleeper(t, l)
	if !locked(l.path(processFile)) {
		t.Error("a process that lives is taken for gone")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the cell trains nothing: it only takes over
	if _, err := Train(ctx, e, st); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the detached process goes on beside its cell")
	}
	if locked(l.path(processFile)) || l.read() == nil {
		t.Error("a training that was taken over still looks detached")
	}
}

// A form that has moved on finds what its cell trains, and lets a person stop it.
func TestAFormNamesAndStopsTheTrainingThatItsCellHasLeft(t *testing.T) {
	t.Setenv("NB_STORE", t.TempDir())
	t.Setenv("NB_HEADLESS", "")
	st := Store()
	l := leftHere(st)
	other := Must(plan.New(plan.Request{Task: "balance", Method: "mappo", Budget: "smoke", Seed: 1}))
	e := Must(plan.New(plan.Request{Task: "wheel", Method: "mappo", Budget: "smoke", Seed: 1}))
	must.Do(t, l.note(other))
	ended := sleeper(t, l)
	offer([]experiment.Config{e}, st, "", "cermic-train")
	if !l.lives() {
		t.Error("a form that only shows another number stops the training")
	}
	offer([]experiment.Config{e}, st, stopLeft, "cermic-train")
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the button does not stop the training")
	}
	if l.lives() || len(must.Get(plan.Missing([]experiment.Config{e}, st))(t)) != 1 {
		t.Error("stopping trains, or leaves a note of the training")
	}
}

func TestAProcessThatIsAskedAnotherWayIsNoneOfACells(t *testing.T) {
	l := &left{folder: t.TempDir()}
	l.stop() // there is none
	must.Do(t, os.WriteFile(l.path(processFile), fmt.Appendln(nil, os.Getpid()), 0o666))
	l.stop() // the number is this test's, which holds no lock and must not be interrupted
	if locked(l.path(processFile)) {
		t.Error("a file without a lock is taken for a process")
	}
}

func TestADetachedProcessKnowsItsTraining(t *testing.T) {
	e := Must(plan.New(plan.Request{Task: "balance", Method: "mappo-cermic", Budget: "smoke", Seed: 2}))
	l := &left{folder: t.TempDir(), Settings: map[string]string{"α": "0.4"}}
	t.Setenv("NB_STORE", t.TempDir())
	if takeOver(Store()).detached {
		t.Error("a test is taken for a detached process")
	}
	must.Do(t, l.note(e))
	t.Setenv(leftVariable, l.folder)
	found := takeOver(nil)
	if !found.detached || found.Settings["α"] != "0.4" || Must(Must(found.experiment()).ID()) != Must(e.ID()) || found.Method != "mappo-cermic" {
		t.Errorf("the process finds %+v", found)
	}
}
