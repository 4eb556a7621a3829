// SPDX-License-Identifier: Apache-2.0

//go:build unix

package nb

import (
	"os"
	"os/exec"
	"syscall"
)

// detach lets a command outlive this process and its terminal. It holds a lock on a file as long as it lives.
func detach(cmd *exec.Cmd, lock *os.File) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = []*os.File{lock}
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// locked reports whether a process holds the lock on a file.
func locked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == syscall.EWOULDBLOCK
}
