// SPDX-License-Identifier: Apache-2.0

package results

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// lockFile, in a run's folder, is locked by the process that trains the run, and names it. The system unlocks it when
// that process ends.
const lockFile = "lock"

// alone is true in a web page, whose files belong to one process and cannot be locked.
const alone = runtime.GOOS == "js"

// ErrBusy is wrapped by the error about a run that another process is training.
var ErrBusy = errors.New("the run is being trained elsewhere")

// acquire locks the folder of a run. If another process holds the lock, acquire waits or, without wait, returns an
// error that names it and wraps ErrBusy.
func acquire(ctx context.Context, dir string, wait bool, note func(string)) (*flock.Flock, error) {
	path, id := filepath.Join(dir, lockFile), filepath.Base(dir)
	const busy = 10 // tries after which another process trains the run: Owner holds the lock for a moment only
	for try := 1; ; try++ {
		// Network file systems lock only files that are open for writing.
		l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o666))
		locked, err := l.TryLock()
		pause := 10 * time.Millisecond
		switch {
		case alone:
			return l, nil
		case err != nil:
			return nil, err
		case locked && held(l):
			_ = os.WriteFile(path, []byte(self()), 0o666) // for messages alone
			return l, nil
		case locked: // the file was removed meanwhile, at the end of the run or with its folder
			_ = l.Unlock()
		case try >= busy && !wait:
			return nil, fmt.Errorf("run %s is being trained by %s: %w", id, ownerIn(path), ErrBusy)
		case try == busy:
			note(fmt.Sprintf("waiting for run %s, which %s is training", id, ownerIn(path)))
		case try > busy:
			pause = 250 * time.Millisecond
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// held reports whether a locked file is still the one at its path. A lock on a removed file protects nothing.
func held(l *flock.Flock) bool {
	own, failed := l.Stat()
	now, err := os.Lstat(l.Path())
	return alone || failed == nil && err == nil && os.SameFile(own, now)
}

func self() string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed machine"
	}
	return fmt.Sprintf("process %d on %s", os.Getpid(), host)
}

func ownerIn(path string) string {
	if name, err := os.ReadFile(path); err == nil && len(name) > 0 {
		return string(name)
	}
	return "another process"
}

// anotherUser is the owner of a run whose lock may not be read: it may be held.
const anotherUser = "a process of another user"

// Owner names the process that is training run id, "" if none is. The owner may change right after the call.
func (s *Store) Owner(id string) string {
	path := filepath.Join(s.dir, id, lockFile)
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrPermission) {
		return anotherUser
	}
	if err != nil {
		return ""
	}
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	free, err := l.TryRLock()
	switch {
	case errors.Is(err, fs.ErrPermission):
		return anotherUser
	case err == nil && !free:
		return ownerIn(path)
	}
	_ = l.Unlock()
	return ""
}
