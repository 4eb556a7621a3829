// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stopTime is the longest time from a signal to the end of the program.
const stopTime = 2 * time.Second

// signalled starts the program and sends it sig a moment after a line with text. cut is false if it was done before.
func signalled(t *testing.T, sig os.Signal, text string, moment time.Duration, args []string) (cut bool) {
	t.Helper()
	p := start(t, args...)
	p.until(text)
	time.Sleep(moment)
	sent := time.Now()
	_ = p.Process.Signal(sig) // fails if it is done, which its exit code tells as well
	switch code := p.end(); {
	case code == 0:
		return false
	case sig == os.Kill && code == -1:
	case code != 130 || p.stderr.String() != "reproduce: "+stopped+"\n":
		t.Errorf("after %v it ends with exit code %d:\n%s", sig, code, p.output())
	case time.Since(sent) > stopTime:
		t.Errorf("after %v it took %v to end", sig, time.Since(sent))
	}
	return true
}

func TestKillsAndStopsAtAnyMomentLeaveTheSameResult(t *testing.T) {
	signals := []os.Signal{os.Interrupt, os.Kill, syscall.SIGTERM, os.Kill}
	if testing.Short() {
		signals = signals[2:]
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, method := range []string{"mappo", "mappo-cermic"} {
		whole, parts := t.TempDir(), t.TempDir()
		finish(t, tinyTraining(method, whole)...)
		cuts := 0
		for i, sig := range signals {
			text, moment := "backend go", 10*time.Millisecond // then it builds graphs
			if i%2 == 1 {
				text, moment = "frames/s", 60*time.Millisecond // then it trains, from the first or a later checkpoint
			}
			if signalled(t, sig, text, time.Duration(r.Int64N(int64(moment))), tinyTraining(method, parts)) {
				cuts++
			}
		}
		finish(t, tinyTraining(method, parts)...)
		sameResult(t, whole, parts)
		if cuts == 0 {
			t.Errorf("%s: every process was done before its signal", method)
		}
	}
}

// Compiling the paper's networks takes longer than a stop may.
func TestAStopAtThePapersSizeIsQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("needs seconds of training")
	}
	line := "train -method mappo-cermic -budget paper -set learner.frames_per_batch=2400 -store "
	args := strings.Fields(line + t.TempDir())
	for _, moment := range []time.Duration{50 * time.Millisecond, time.Second} {
		signalled(t, os.Interrupt, "backend go", moment, args)
	}
}

func TestADivergedTrainingNamesTheScalarAndIsNeverComplete(t *testing.T) {
	store := t.TempDir()
	args := tinyTraining("mappo", store, "learner.lr=1e30")
	first := fails(t, args...)
	contains(t, first, "critic_loss became ", "iteration 0: ", "last checkpoint is at 0 frames")
	if again := fails(t, args...); again != first {
		t.Errorf("the second time it says %q, the first time %q", again, first)
	}
	status := finish(t, "status", "-store", store)
	contains(t, status, "stopped")
	lacks(t, status, "complete")
}

// JupyterLab, for which a shell script stands, is stopped by SIGTERM and waited for.
func TestLabStopsJupyterLabAndWaits(t *testing.T) {
	dir := t.TempDir()
	script := "trap 'sleep 0.3; echo saved > left; exit 0' TERM\necho ready > ready\nwhile :; do sleep 0.05; done\n"
	ctx, stop := context.WithCancel(t.Context())
	lab := exec.CommandContext(ctx, "sh", "-c", script)
	lab.Dir = dir
	done := make(chan error, 1)
	go func() { done <- attend(ctx, lab) }()
	appears(t, filepath.Join(dir, "ready"))
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want a stop", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "left")); string(text) != "saved\n" {
		t.Errorf("it left %q, %v", text, err)
	}
	err := attend(t.Context(), exec.CommandContext(t.Context(), "sh", "-c", "exit 3"))
	contains(t, fmt.Sprint(err), "JupyterLab ended")
}

// appears waits for a file with content.
func appears(t *testing.T, path string) {
	t.Helper()
	for range 2000 {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not appear", path)
}
