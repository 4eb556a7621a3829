// SPDX-License-Identifier: Apache-2.0

//go:build unix

package nb

import (
	"os/exec"
	"syscall"
)

// detach lets a command outlive this process, its kernel and their terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
