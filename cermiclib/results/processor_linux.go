// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"syscall"
	"time"
)

// ProcessorSeconds is the processor time that this process has used on all cores, to the microsecond.
func ProcessorSeconds() (float64, error) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0, fmt.Errorf("processor time is unknown: %w", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds(), nil
}
