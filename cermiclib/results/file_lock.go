// SPDX-License-Identifier: Apache-2.0

//go:build !js

package results

import "github.com/gofrs/flock"

// fileLock is a lock on a file that the system releases when its process ends.
type fileLock = flock.Flock

// newLock makes a lock on the file at path, opened with the flags of os.OpenFile.
func newLock(path string, flag int) *fileLock {
	return flock.New(path, flock.SetFlag(flag), flock.SetPermissions(0o666))
}
