// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fails runs the command, which must end with exit code 1 and one sentence on the standard error, and returns that.
func fails(t *testing.T, args ...string) string {
	t.Helper()
	p := start(t, args...)
	code, text := p.end(), p.stderr.String()
	if code != 1 || !strings.HasPrefix(text, "reproduce: ") || strings.Count(text, "\n") != 1 {
		t.Fatalf("%v ends with exit code %d:\n%s", args, code, p.output())
	}
	return text
}

func TestATrainingSaysNothingButItsProgressAndItsOutcome(t *testing.T) {
	out := strings.Split(strings.TrimSpace(finish(t, tinyTraining("mappo", t.TempDir())...)), "\n")
	for i, want := range []string{"backend go", "  50/300  ", "  100/300  ", "  150/300  ", "  200/300  ", "  250/300  ", "  300/300  ", "", "vmas/balance  mappo", "  score"} {
		if i >= len(out) || !strings.Contains(out[i], want) || want == "" && out[i] != "" {
			t.Fatalf("line %d does not have %q:\n%s", i+1, want, strings.Join(out, "\n"))
		}
	}
}

func TestATrainingThatDivergesNamesTheScalarAndIsNeverComplete(t *testing.T) {
	store := t.TempDir()
	args := tinyTraining("mappo", store, "learner.lr=1e30")
	first := fails(t, args...)
	for _, want := range []string{"iteration 0: learner: ", "critic_loss became ", "last checkpoint is at 0 frames"} {
		if !strings.Contains(first, want) {
			t.Errorf("%q does not say %q", first, want)
		}
	}
	if again := fails(t, args...); again != first {
		t.Errorf("the second time it says %q, the first time %q", again, first)
	}
	status := finish(t, "status", "-store", store)
	if !strings.Contains(status, "stopped") || strings.Contains(status, "complete") {
		t.Errorf("status:\n%s", status)
	}
}

func TestADamagedCheckpointIsSetAsideAndTrainingRecovers(t *testing.T) {
	needSignals(t)
	whole, store := t.TempDir(), t.TempDir()
	long := []string{"learner.minibatch_iterations=20"} // slow enough to be stopped in the middle
	finish(t, tinyTraining("mappo", whole, long...)...)
	if _, cut := signalled(t, os.Interrupt, "100/300", 0, tinyTraining("mappo", store, long...)); !cut {
		t.Skip("this machine is too quick to be stopped")
	}
	found, err := filepath.Glob(filepath.Join(store, "*", "checkpoint.safetensors"))
	if err != nil || len(found) != 1 {
		t.Fatalf("checkpoints %v, %v", found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(found[0], data, 0o666); err != nil {
		t.Fatal(err)
	}
	out := finish(t, tinyTraining("mappo", store, long...)...)
	if want := found[0] + " cannot be used: the checksum does not match; set aside as checkpoint.safetensors.damaged-1"; !strings.Contains(out, want) {
		t.Errorf("the damage is not named:\n%s", out)
	}
	if _, err := os.Stat(found[0] + ".damaged-1"); err != nil {
		t.Error(err)
	}
	sameResult(t, resultIn(t, whole), resultIn(t, store))
}
