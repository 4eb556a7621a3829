// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package results

import (
	"errors"
)

// ProcessorSeconds is the time that all cores together have spent on this process; it is asked of Linux alone.
func ProcessorSeconds() (float64, error) {
	return 0, errors.New("processor time is known on Linux alone")
}
