// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

func TestTheSecondProcessWaitsForTheFirst(t *testing.T) {
	store := t.TempDir()
	args := tinyTraining("mappo", store, "learner.minibatch_iterations=20")
	first := start(t, args...)
	if !first.until("50/300") {
		first.end()
		t.Fatal(first.output())
	}
	// However slowly the second one starts, the first must not be done by then.
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	second := start(t, args...)
	waits := second.until("waiting for run")
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if !waits {
		second.end()
		t.Fatalf("the second process does not wait:\n%s", second.output())
	}
	line := second.said[len(second.said)-1]
	if !strings.Contains(line, fmt.Sprintf("which process %d on ", first.Process.Pid)) || !strings.HasSuffix(line, "is training") {
		t.Errorf("it does not say for whom: %q", line)
	}
	if code := first.end(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, first.output())
	}
	if code := second.end(); code != 0 || !strings.Contains(second.output(), "in the store") || strings.Contains(second.output(), "frames/s") {
		t.Errorf("exit code %d:\n%s", code, second.output())
	}
	_, one, _ := strings.Cut(first.output(), "score")
	_, two, _ := strings.Cut(second.output(), "score")
	if one != two || one == "" {
		t.Errorf("the summaries differ:\n%s\n%s", one, two)
	}
}
