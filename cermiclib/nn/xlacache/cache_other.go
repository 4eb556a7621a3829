// SPDX-License-Identifier: Apache-2.0

//go:build !linux || !cgo || noxla

package xlacache

import "errors"

// Install does nothing here: compiled graphs are kept on Linux only, where the plug-in is loaded through cgo.
func Install(path, dir string) error {
	return errors.New("compiled graphs are not kept on this system")
}

// Counts returns zeros.
func Counts() (loaded, compiled int) { return 0, 0 }
