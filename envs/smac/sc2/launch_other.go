// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package sc2

import "os/exec"

// launch starts cmd. Where the kernel cannot tie it to this program, only Close ends it.
func launch(cmd *exec.Cmd) error { return cmd.Start() }
