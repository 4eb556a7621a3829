// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// stopTime is how long the command may take from a signal to its end.
const stopTime = 2 * time.Second

// signalled starts the command, sends it sig a moment after it has printed a line with text, and checks how it ends: cut is
// false if it was done before. It returns how long the end took.
func signalled(t *testing.T, sig os.Signal, text string, moment time.Duration, args []string) (took time.Duration, cut bool) {
	t.Helper()
	p := start(t, args...)
	p.until(text)
	time.Sleep(moment)
	sent := time.Now()
	_ = p.Process.Signal(sig) // fails if it is done, which its exit code tells as well
	code := p.end()
	took = time.Since(sent)
	switch last := p.said[len(p.said)-1]; {
	case code == 0:
		return took, false
	case sig == os.Kill && code == -1:
	case code != 130 || last != "Stopped and saved: the same command goes on from here." || p.stderr.Len() > 0:
		t.Errorf("after %v it ends with exit code %d:\n%s", sig, code, p.output())
	case took > stopTime:
		t.Errorf("after %v it took %v to end", sig, took)
	}
	return took, true
}

func needSignals(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("processes are not interrupted by signals here")
	}
}

func TestKillsAndStopsAtAnyMomentLeaveTheSameResult(t *testing.T) {
	needSignals(t)
	signals := []os.Signal{os.Interrupt, os.Kill, syscall.SIGTERM, os.Kill, os.Interrupt}
	if testing.Short() {
		signals = signals[3:]
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, method := range []string{"mappo", "mappo-cermic"} {
		whole, parts := t.TempDir(), t.TempDir()
		finish(t, tinyTraining(method, whole)...)
		cuts := 0
		for i, sig := range signals {
			text, moment := "backend go", 10*time.Millisecond // then it builds graphs
			if i%2 == 1 {
				text, moment = "frames/s", 60*time.Millisecond // then it trains, from the first or from a later checkpoint on
			}
			if _, cut := signalled(t, sig, text, time.Duration(r.Int64N(int64(moment))), tinyTraining(method, parts)); cut {
				cuts++
			}
		}
		finish(t, tinyTraining(method, parts)...)
		sameResult(t, resultIn(t, whole), resultIn(t, parts))
		t.Logf("%s: %d of %d processes were cut", method, cuts, len(signals))
		if cuts == 0 {
			t.Errorf("%s: every process was done before its signal", method)
		}
	}
}

func TestAStopInTheMiddleOfALongIterationIsQuick(t *testing.T) {
	needSignals(t)
	// Two iterations of 120 passes over the rollout batch, in 240 gradient steps each.
	long := []string{"learner.minibatch_iterations=120", "budget.frames=100"}
	whole, parts := t.TempDir(), t.TempDir()
	began := time.Now()
	finish(t, tinyTraining("mappo", whole, long...)...)
	third := time.Since(began) / 3
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		took, _ := signalled(t, sig, "backend go", third, tinyTraining("mappo", parts, long...))
		t.Logf("%v after %v: ended in %v", sig, third.Round(time.Millisecond), took.Round(time.Millisecond))
	}
	finish(t, tinyTraining("mappo", parts, long...)...)
	sameResult(t, resultIn(t, whole), resultIn(t, parts))
}

func TestAStopAtThePapersSizeIsQuick(t *testing.T) {
	needSignals(t)
	if testing.Short() {
		t.Skip("needs seconds of training")
	}
	// The paper's networks, minibatch and number of environments; the rollout batch is cut so that the update is reached in a second.
	args := []string{"train", "-method", "mappo-cermic", "-budget", "paper", "-store", t.TempDir(), "-set", "learner.frames_per_batch=2400"}
	for _, moment := range []time.Duration{50 * time.Millisecond, time.Second, 3 * time.Second} {
		took, _ := signalled(t, os.Interrupt, "backend go", moment, args)
		t.Logf("interrupted after %v: ended in %v", moment, took.Round(time.Millisecond))
	}
}
