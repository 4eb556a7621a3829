// SPDX-License-Identifier: Apache-2.0

package nb

import "os"

// Chosen is what a cell should train of the experiments that its part of a table asks for: all if train is true, else none,
// so that running all cells of a notebook shows what is known and does not occupy the machine for days. NB_TRAIN=first, which
// executing notebooks at budget smoke sets, trains the first, to prove that the cell can.
func Chosen[T any](train bool, experiments []T) []T {
	switch {
	case train:
		return experiments
	case os.Getenv("NB_TRAIN") == "first" && len(experiments) > 0:
		return experiments[:1]
	}
	return nil
}

// Brief is normal, or brief where cells are executed only to prove that they can be, as Chosen tells.
func Brief[T any](normal, brief T) T {
	if os.Getenv("NB_TRAIN") == "first" {
		return brief
	}
	return normal
}
