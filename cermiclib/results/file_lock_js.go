// SPDX-License-Identifier: Apache-2.0

package results

import (
	"io/fs"
	"os"
)

// fileLock is a file without a lock: the files of a web page belong to one process.
type fileLock struct {
	path string
	flag int
}

func newLock(path string, flag int) *fileLock { return &fileLock{path, flag} }

// TryLock makes the file.
func (l *fileLock) TryLock() (bool, error) {
	f, err := os.OpenFile(l.path, l.flag, 0o666)
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// TryRLock always succeeds.
func (l *fileLock) TryRLock() (bool, error) { return true, nil }

// Unlock does nothing.
func (l *fileLock) Unlock() error { return nil }

// Stat describes the file.
func (l *fileLock) Stat() (fs.FileInfo, error) { return os.Stat(l.path) }

// Path is the file's.
func (l *fileLock) Path() string { return l.path }
