// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"syscall"
	"time"
)

// ProcessorSeconds is the time that all cores together have spent on this process, to the microsecond.
func ProcessorSeconds() (float64, error) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0, fmt.Errorf("processor time is not known: %w", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds(), nil
}
