// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package lease

import (
	"errors"
	"os"
	"syscall"
)

// processSpace names what process ids are unique in; here the machine alone.
func processSpace() string { return "" }

// processStart returns whether process pid runs; when it started is not known here.
func processStart(pid int) (start uint64, alive bool) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return 0, false
	}
	err = p.Signal(syscall.Signal(0))
	return 0, err == nil || errors.Is(err, os.ErrPermission)
}
