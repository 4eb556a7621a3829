// SPDX-License-Identifier: Apache-2.0

package rl

import "syscall"

// machineMemory is the number of bytes of memory that this machine has, 0 if it cannot be told.
var machineMemory = func() int64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit))
}
