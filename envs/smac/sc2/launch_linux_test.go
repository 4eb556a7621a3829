// SPDX-License-Identifier: Apache-2.0

package sc2

import (
	"syscall"
	"testing"

	"cermic/envs/envtest/must"
)

// Ctrl-C goes to a process group: a game that dies of it during its start would be started again.
func TestAGameHasAProcessGroupOfItsOwn(t *testing.T) {
	o, _ := install(t, "Base75689", "plays")
	g := must.Value(Acquire(o))
	defer g.Discard()
	if group, err := syscall.Getpgid(g.proc.cmd.Process.Pid); err != nil || group == syscall.Getpgrp() {
		t.Errorf("the game is in group %d, this program in %d (%v)", group, syscall.Getpgrp(), err)
	}
}
