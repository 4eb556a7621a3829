// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cermic/cermiclib/learn"
	"cermic/envs/conf"
)

// TestEveryLearnerCollectsWithinTheSmokeBudget: a learner says itself how a budget trains it, or a moment's run would take minutes.
func TestEveryLearnerCollectsWithinTheSmokeBudget(t *testing.T) {
	for _, kind := range conf.Kinds[learn.Config]() {
		e := configure(t, Request{Task: "vmas/balance", Method: "mappo", Budget: "smoke", Set: []string{"learner=" + kind}})
		if frames := e.Learner.CollectFrames(); frames > e.Budget.Frames {
			t.Errorf("learner %s collects %d frames at once, the budget has %d: give its config a method Scheduled", kind, frames, e.Budget.Frames)
		}
	}
}

// TestAnAdditionIsOneFile: a learner, an explorer, a policy, a memory, a method and a task, each a file that is not there yet, go through
// the tests that ask the registry, and are trained.
func TestAnAdditionIsOneFile(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles half of the module anew")
	}
	if _, err := FindMethod("mappo-motion"); err == nil {
		t.Skip("this is the module with the additions")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for file, folder := range map[string]string{
		"learner.go": "cermiclib/learn", "explorer.go": "cermiclib/explore", "policy.go": "cermiclib/policy", "memory.go": "cermiclib/memory",
		"task.go": "envs/vmas", "method.go": "reproduce/plan", "train_test.go": "reproduce/plan",
	} {
		replace[filepath.Join(root, folder, "added_"+file)] = filepath.Join(root, "reproduce/plan/testdata/addition", file+".txt")
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(overlay, text, 0o644); err != nil {
		t.Fatal(err)
	}
	for folder, tests := range map[string][]string{
		"envs/vmas": {
			"TestTasksKeepTheContract/gather", "TestDiscreteTasksKeepTheContract/gather", "Resets", "Keywords",
			"TestProgress", "TestActionsThatAreNoNumbers", "Scene", "TestRandomPlayStaysSound/gather",
		},
		"cermiclib/learn":  {"TestEveryLearner"},
		"cermiclib/memory": {"TestEveryMemoryKeepsTheContract/glance"},
		"reproduce/plan": {
			"TestAdditionsTrainAtSmoke", "Frozen", "TestEverySetting", "TestTheListedChoices", "TestEveryTaskAndMethodMakes", "TestEveryLearner",
			"TestEveryMethodTrainsOn/mappo-motion", "TestEveryMethodActs/mappo-motion", "TestEveryMethodGoesOn/mappo-motion",
			"TestEveryExplorerWorksWithEveryLearner/motion", "Labels", "Starred", "TestValueLearners",
		},
	} {
		t.Run(folder, func(t *testing.T) {
			cmd := exec.Command("go", "test", "-overlay", overlay, "-vet=off", "-run", strings.Join(tests, "|"), "./"+folder)
			cmd.Dir = root
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("with the additions: %v\n%s", err, out)
			}
		})
	}
}
