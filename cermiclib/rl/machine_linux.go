// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// machineMemory is the number of bytes available to this process, 0 if unknown. It is the least of the machine's memory
// and the limits of the container, the address space (ulimit -v) and Go (GOMEMLIMIT), read once.
var machineMemory = sync.OnceValue(func() int64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0
	}
	least := int64(uint64(info.Totalram) * uint64(info.Unit))
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && limit > 0 {
			least = min(least, limit)
		}
	}
	var space syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &space) == nil && space.Cur > 0 && space.Cur < uint64(least) {
		least = int64(space.Cur)
	}
	return min(least, debug.SetMemoryLimit(-1))
})
