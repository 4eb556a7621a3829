// SPDX-License-Identifier: Apache-2.0

package results

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

func TestHostNamesProgramAndMachine(t *testing.T) {
	h := CollectHost("go")
	if h.Backend != "go" || h.Go != runtime.Version() || h.Cores != runtime.NumCPU() || h.CPU == "" || h.Seconds != 0 {
		t.Errorf("host is %+v", h)
	}
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Skip("not in a git working copy")
	}
	if h.Commit != strings.TrimSpace(string(head)) {
		t.Errorf("commit is %q, want %s", h.Commit, head)
	}
}
