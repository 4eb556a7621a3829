// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package results

import "errors"

// ProcessorSeconds is an error: only Linux has it.
func ProcessorSeconds() (float64, error) {
	return 0, errors.New("processor time is known on Linux alone")
}
