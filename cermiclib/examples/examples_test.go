// SPDX-License-Identifier: Apache-2.0

// Package examples has four small programs that use the library.
package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cermic/cermiclib/nn"
)

// TestExamplesTrain builds the programs and runs them to their end.
func TestExamplesTrain(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs four programs")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "./...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, want := range map[string]string{
		"train":   "one more episode: score ",
		"learner": "mappo learner=search 3000 frames, score ",
		"task":    "mappo on vmas/gather 3000 frames, score ",
		"bonus":   "mappo-motion explore.motion_coef=0.1: 3000 frames, score ",
	} {
		cmd := exec.Command(filepath.Join(bin, name))
		cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOMLX_BACKEND="+nn.Sequential)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want %q in\n%s", name, err, want, out)
		}
	}
}
