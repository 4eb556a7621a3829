// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ProcessorSeconds is the time that all cores together have spent on this process, as Linux counts it.
func ProcessorSeconds() (float64, error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, fmt.Errorf("processor time is read from Linux's /proc: %w", err)
	}
	_, after, ok := strings.Cut(string(stat), ") ") // what stands before may hold blanks
	fields := strings.Fields(after)
	if !ok || len(fields) < 13 {
		return 0, errors.New("/proc/self/stat has another form")
	}
	user, errUser := strconv.ParseFloat(fields[11], 64)
	system, errSystem := strconv.ParseFloat(fields[12], 64)
	const ticks = 100 // a second, on every Linux
	return (user + system) / ticks, errors.Join(errUser, errSystem)
}
