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
	// What makes a run complete goes first, so that a deletion that is cut short leaves no result that looks whole.
	for _, name := range []string{recordFile, earlierDone} {
		if e := os.Remove(filepath.Join(dir, name)); err == nil && !errors.Is(e, fs.ErrNotExist) {
			err = e
		}
	}
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		return errors.Join(err, l.Release(false))
	}
	return l.Release(true)
}
