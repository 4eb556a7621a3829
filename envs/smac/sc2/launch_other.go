// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package sc2

import "os/exec"

// launch starts cmd. Where the kernel cannot tie it to this program, only Close ends it, or Ctrl-C for all that the terminal runs: therefore
// it stays in this program's process group.
func launch(cmd *exec.Cmd) error { return cmd.Start() }

// kill ends what launch started.
func kill(cmd *exec.Cmd) error { return cmd.Process.Kill() }
