// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"cermic/cermiclib/results/lease"
)

// tempSuffix ends the names of files that are being written.
const tempSuffix = lease.Temporary

// replaceBy makes path hold what write writes, at once and durably: a reader, or a machine that loses power, sees the old
// file or the new one. It goes by way of temp, another file in the same folder, which nobody else may be writing.
func replaceBy(temp, path string, write func(io.Writer) error) error {
	if err := writeFile(temp, write); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// writeFile makes a file durable, or leaves none.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return diskError(path, err)
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		_ = os.Remove(path) // gives the space back; the error that counts is the one above
		return diskError(path, err)
	}
	return nil
}

// syncDir makes renames in dir durable, where the system can do that.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return diskError(dir, err)
	}
	return nil
}

// diskError adds what to do when the disk is full; every write to a run passes here.
func diskError(path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk is full at %s; everything up to the last checkpoint is kept, free some space and start "+
			"again: %w", path, syscall.ENOSPC)
	}
	return err
}
