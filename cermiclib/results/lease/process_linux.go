// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// processSpace names what process ids are unique in: the boot of the machine and the container.
func processSpace() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // without it the space is coarser, never wrong
	space, _ := os.Readlink("/proc/self/ns/pid")
	return strings.TrimSpace(string(boot)) + " " + space
}

// processStart returns when process pid started, in ticks since boot, or 0 where the system hides that, and whether it
// still runs.
func processStart(pid int) (start uint64, alive bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, syscall.Kill(pid, 0) == syscall.EPERM
	}
	// The second field is the program's name in brackets and may hold anything; the others follow its last bracket:
	// state is field 3, the start time field 22 (proc_pid_stat(5)).
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return 0, false
	}
	start, err = strconv.ParseUint(string(fields[19]), 10, 64)
	return start, err == nil
}
