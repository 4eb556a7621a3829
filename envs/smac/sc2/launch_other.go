// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package sc2

import "os/exec"

// launch starts cmd. Here the kernel cannot tie it to this program, so only Close or Ctrl-C ends it; it therefore
// stays in this program's process group.
func launch(cmd *exec.Cmd) error { return cmd.Start() }

// kill ends the process that launch started.
func kill(cmd *exec.Cmd) error { return cmd.Process.Kill() }
