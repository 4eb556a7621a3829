// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

func TestTasksPrintsBothPlayersForEveryNumberOfMilestones(t *testing.T) {
	out, err := command(t, "tasks", "navigation", "-episodes", "3")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 episodes", "vmas/navigation", "random 8 0.00", "script 1 1.00 10.00 ± 0.00"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("%q is missing from\n%s", want, out)
		}
	}
	if again, _ := command(t, "tasks", "navigation", "-episodes", "3"); again != out {
		t.Errorf("a second time it prints\n%s", again)
	}
	for _, args := range [][]string{{"tasks", "navigaton"}, {"tasks", "-episodes", "0"}} {
		if _, err := command(t, args...); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want one sentence", args, err)
		}
	}
}
