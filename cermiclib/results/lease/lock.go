// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// How processes on several machines share a folder, which holds a run, with nothing but what network file systems keep their word on: making a
// file under a new name, renaming and removing are single steps, and who opens a file sees what was last closed. The
// system's own locks are not used; over a network some forget them and some only pretend.
//
//  1. The lock files of a run are numbered. A claim makes the next number, which only one of many can; the files before it
//     are removed after. No number comes back while the run is unfinished, so that nobody removes the lock of somebody else by
//     mistake, however late.
//  2. The owner of the newest one changes its content every few seconds. One that is not seen to change for the time-to-live, by the
//     watcher's own clock, is void.
//  3. An owner that was only asleep does no harm when it wakes. It writes under names that carry its number, and gives a file
//     its real name only after a look at its lock; its successor removes first the lock, then all such names, and only then
//     reads.
//
// A late owner that was still bringing the folder in order may set a good checkpoint aside, which costs work and no result:
// every record and checkpoint is checked when it is read.

// ErrBusy is wrapped by the error of a claim on a run that another process is training, or has taken over.
var ErrBusy = errors.New("the run is being trained elsewhere")

// FileName is the beginning of the names of lock files; the number follows. A file without a number is from an older version.
const FileName = "lock"

// Temporary ends the names of files that are being written; what a crash leaves under such a name is rubbish.
const Temporary = ".tmp"

// Lock is the newest lock file of a folder, made by this process.
type Lock struct {
	Options
	Number  int
	path    string
	content []byte // its first line
	stop    chan struct{}
	beating sync.WaitGroup
}

// Acquire takes the lock of a folder, also from an owner that is gone. If it is held, it returns no lock and who
// holds it.
func (w *Watcher) Acquire(dir string) (*Lock, string, error) {
	before, err := newestLock(dir)
	if err != nil {
		return nil, "", err
	}
	if holder := w.holds(before); holder != "" {
		return nil, holder, nil
	}
	me := w.Me
	me.Claim = made.Add(1)
	line, err := json.Marshal(me)
	if err != nil {
		return nil, "", err
	}
	l := &Lock{Options: w.Options, Number: before.number + 1, content: append(line, '\n'), stop: make(chan struct{})}
	l.path = filepath.Join(dir, FileName+"."+strconv.Itoa(l.Number))
	w.Step()
	draft, err := l.draft(dir)
	if err != nil {
		return nil, "", err
	}
	defer os.Remove(draft)
	// Having made a file in the folder, a client of a network file system lists it anew.
	if again, err := newestLock(dir); err != nil || !again.same(before) {
		return nil, "another process", err
	}
	w.Step()
	if won, err := l.link(draft); err != nil || !won {
		return nil, "another process", err
	}
	w.Step()
	if err := l.succeed(dir); err != nil {
		_ = os.Remove(l.path) // ours, but nobody would give it back
		if errors.Is(err, ErrBusy) {
			return nil, "another process", nil
		}
		return nil, "", err
	}
	l.beating.Add(1)
	go l.keepBeating(l.Heartbeat)
	return l, "", nil
}

// draft writes the lock file under a name of its own, so that it is whole when it gets its real one.
func (l *Lock) draft(dir string) (string, error) {
	path := filepath.Join(dir, fmt.Sprintf("claim-%016x%s", rand.Uint64(), Temporary))
	err := os.WriteFile(path, l.content, 0o666)
	if err != nil {
		_ = os.Remove(path)
	}
	return path, err
}

// link gives the draft the lock's name, which only one claim can.
func (l *Lock) link(draft string) (won bool, err error) {
	err = os.Link(draft, l.path)
	if err == nil {
		return true, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // a new owner has removed the draft
	}
	if !errors.Is(err, fs.ErrExist) { // a file system without links
		f, exclusive := os.OpenFile(l.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if exclusive == nil {
			_, err = f.Write(l.content)
			return err == nil, errors.Join(err, f.Close())
		}
		if !errors.Is(exclusive, fs.ErrExist) {
			return false, exclusive
		}
	}
	return l.Held() == nil, nil // a server that is asked twice says that the file exists: it may be ours
}

// succeed removes the lock files before this one; it returns ErrBusy if there is one after it, because this claim was too slow.
func (l *Lock) succeed(dir string) error {
	numbers, err := lockNumbers(dir)
	if err != nil {
		return err
	}
	for name, number := range numbers {
		if number > l.Number {
			return ErrBusy
		}
		if number == l.Number {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// lockNumbers are the lock files in a folder and their numbers.
func lockNumbers(dir string) (map[string]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	numbers := map[string]int{}
	for _, e := range entries {
		rest, is := strings.CutPrefix(e.Name(), FileName)
		if is && rest == "" {
			numbers[FileName] = 0
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(rest, ".")); is && err == nil && strings.HasPrefix(rest, ".") {
			numbers[e.Name()] = n
		}
	}
	return numbers, nil
}

// Holder says who has locked a folder and not given it back, "" if nobody has, and how long ago the last sign of life
// was by the clocks of this machine and of the file system; an owner on this machine that is gone is left out. A folder
// that cannot be read is held by somebody. It is for showing and for choosing what to do first: only Acquire knows.
func (o Options) Holder(dir string) (who string, silent time.Duration) {
	newest, err := newestLock(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", 0
	case err != nil:
		return Owner{Host: unknownHost}.String(), 0
	}
	w := Watcher{Options: o}
	if w.holds(newest) == "" {
		return "", 0
	}
	return newest.owner().String(), time.Since(newest.changed)
}

// newestLock reads the lock of highest number in a folder.
func newestLock(dir string) (state, error) {
	for {
		numbers, err := lockNumbers(dir)
		if err != nil || len(numbers) == 0 {
			return state{}, err
		}
		newest := ""
		for name, number := range numbers {
			if newest == "" || number > numbers[newest] {
				newest = name
			}
		}
		content, changed, err := readLock(filepath.Join(dir, newest))
		if errors.Is(err, fs.ErrPermission) {
			content, err = []byte{}, nil // another user's: only its silence tells
		}
		if !errors.Is(err, fs.ErrNotExist) { // else it was replaced in between
			return state{numbers[newest], content, changed}, err
		}
	}
}

// maxLock is more than a lock file ever has in bytes.
const maxLock = 1 << 16

// openLock is os.Open; tests deny it, also to root.
var openLock = os.Open

// readLock opens a lock file, so that a network file system asks its server, and reads it. What is no regular file is refused before: to
// open a pipe would wait for somebody who writes.
func readLock(path string) (content []byte, changed time.Time, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, changed, err
	}
	if !info.Mode().IsRegular() {
		return nil, changed, fmt.Errorf("%s is no regular file (%s)", path, info.Mode().Type())
	}
	f, err := openLock(path)
	if err != nil {
		return nil, info.ModTime(), err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, changed, err
	}
	content, err = io.ReadAll(io.LimitReader(f, maxLock))
	return content, info.ModTime(), err
}

// keepBeating gives a sign of life until the lock is released.
func (l *Lock) keepBeating(every time.Duration) {
	defer l.beating.Done()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := uint64(1); ; n++ {
		select {
		case <-l.stop:
			return
		case <-tick.C:
			l.touch(n)
		}
	}
}

// touch is the n-th sign of life: a number behind the first line. A lock that was taken over is not there to be written.
func (l *Lock) touch(n uint64) {
	f, err := os.OpenFile(l.path, os.O_RDWR, 0)
	if err != nil {
		return // Held reports it at the next write
	}
	defer f.Close()
	_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", n), int64(len(l.content))) // a missed beat is made up by the next
}

// Held returns an error if the folder belongs to somebody else, as after this machine slept for so long that another took it over.
func (l *Lock) Held() error {
	found, _, err := readLock(l.path)
	if err == nil && bytes.HasPrefix(found, l.content) {
		return nil
	}
	dir := filepath.Dir(l.path)
	if s, err := newestLock(dir); err == nil && !s.free() {
		return fmt.Errorf("%s has been taken over by %s: %w", dir, s.owner(), ErrBusy)
	}
	return fmt.Errorf("the lock of %s is gone: %w", dir, ErrBusy)
}

// Release gives the folder back. The file stays, for the next claim to count on from, unless all work there is finished.
func (l *Lock) Release(finished bool) error {
	close(l.stop)
	l.beating.Wait()
	if l.Held() != nil {
		return nil
	}
	l.Step()
	if finished {
		if err := os.Remove(l.path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(released), 0) // over what is there: a full disk has room for that
	return errors.Join(err, f.Truncate(int64(len(released))), f.Close())
}
