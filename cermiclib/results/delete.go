// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cermic/cermiclib/results/lease"
)

// Delete removes the run called id from the store's folder, with its weights. A run that a process is training is kept, and the error names
// that process and wraps ErrBusy; one that the folder does not have is an error that wraps fs.ErrNotExist. Committed records stay.
func (s *Store) Delete(id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	dir := filepath.Join(s.dir, id)
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("no run %s in %s: %w", id, s.dir, fs.ErrNotExist)
	}
	w := lease.Watcher{Options: s.lease}
	l, holder, err := w.Acquire(dir)
	if err != nil {
		return err
	}
	if l == nil {
		return fmt.Errorf("run %s is being trained by %s: %w", id, holder, ErrBusy)
	}
	// The record goes first, so that an interrupted deletion leaves no run that looks complete.
	if err = os.Remove(filepath.Join(dir, recordFile)); err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		return errors.Join(err, l.Release(false))
	}
	return l.Release(true)
}
