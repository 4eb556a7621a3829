// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd || openbsd

package results

import (
	"os"
	"syscall"
)

// guard holds the system's own lock on folder dir until the returned function is called. The system drops it when the
// process ends. A file system that has no such locks leaves a small chance that two claims take over one stale lock;
// each write checks its lock, so the loser stops.
func guard(dir string) (unguard func()) {
	d, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for {
		err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			break
		}
	}
	return func() { _ = d.Close() }
}
