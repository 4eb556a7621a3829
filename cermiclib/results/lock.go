// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// ErrBusy is wrapped by the error of a claim on a run that another process is training.
var ErrBusy = errors.New("the run is being trained elsewhere")

const (
	beat    = 10 * time.Second // between two signs of life of a lock's owner
	silence = 60 * time.Second // without one, after which an owner on another machine counts as gone
)

// owner is the content of a lock file.
type owner struct {
	Host  string `json:"host"`
	Space string `json:"space"` // what process ids are unique in: this boot of this machine (or container)
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // when the process started; tells it from a later one with the same id
	Claim uint64 `json:"claim"` // counts the claims of the process
}

func (o owner) String() string { return fmt.Sprintf("process %d on %s", o.PID, o.Host) }

var claims atomic.Uint64

// self is the owner that a claim of this process writes, but for its number.
func self() owner {
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed machine"
	}
	pid := os.Getpid()
	start, _ := processStart(pid)
	return owner{host, processSpace(), pid, start, 0}
}

// lock is a held lock file. Whoever finds it knows who trains the run, and by the file's time that it still does.
type lock struct {
	path    string
	content []byte
	stop    chan struct{}
	beating sync.WaitGroup
}

// acquire takes the lock of a run's folder, also from an owner that is gone. If the lock is held it returns no lock and
// who holds it.
func acquire(dir string) (*lock, string, error) {
	me := self()
	me.Claim = claims.Add(1)
	content, err := json.Marshal(me)
	if err != nil {
		return nil, "", err
	}
	l := &lock{path: filepath.Join(dir, "lock"), content: content, stop: make(chan struct{})}
	// Checking an old lock, removing it and making a new one must be one step, or two claims could each remove the
	// other's.
	unguard := guard(dir)
	defer unguard()
	if holder, err := clearStale(l.path); holder != "" || err != nil {
		return nil, holder, err
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, "another process", nil
	}
	if err != nil {
		return nil, "", diskError(l.path, err)
	}
	_, err = f.Write(content)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		_ = os.Remove(l.path) // ours, but without a name it would only make others wait
		return nil, "", diskError(l.path, err)
	}
	l.beating.Add(1)
	go l.beatOn(beat)
	return l, "", nil
}

// clearStale removes the lock at path if its owner is gone, and returns the owner otherwise ("" if there is no lock).
func clearStale(path string) (holder string, err error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var o owner
	if json.Unmarshal(content, &o) != nil || o.Host == "" {
		o = owner{Host: "another machine"} // a lock that is just being written, or a damaged one: only its age counts
	}
	gone, silent, err := isGone(o, path)
	if err != nil || !gone {
		return o.String() + silent, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return "", nil
}

// isGone says whether the owner of the lock at path no longer runs. Of a process here the system knows; of one elsewhere
// only the silence tells, and is described for whoever waits.
func isGone(o owner, path string) (gone bool, silent string, err error) {
	if me := self(); o.Host == me.Host && o.Space == me.Space {
		start, alive := processStart(o.PID)
		return !alive || start != o.Start, "", nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, "", nil
	}
	if err != nil {
		return false, "", err
	}
	now, err := clock(filepath.Dir(path))
	age := now.Sub(info.ModTime()).Round(time.Second)
	return age > silence, fmt.Sprintf(" (last sign of life %v ago; after %v its lock is void)", age, silence), err
}

// clock reads the time of the file system under dir, which on a shared folder need not be that of this machine.
func clock(dir string) (time.Time, error) {
	f, err := os.CreateTemp(dir, "clock-*"+tempSuffix)
	if err != nil {
		return time.Time{}, diskError(dir, err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write([]byte{'t'}); err != nil {
		return time.Time{}, diskError(dir, err)
	}
	info, err := f.Stat()
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// beatOn gives a sign of life until the lock is released or lost.
func (l *lock) beatOn(every time.Duration) {
	defer l.beating.Done()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
			l.touch()
		}
	}
}

// touch renews the lock file's time by writing it again. If another claim has replaced the file in between, the write
// goes to the old one and harms nobody.
func (l *lock) touch() {
	f, err := os.OpenFile(l.path, os.O_RDWR, 0)
	if err != nil {
		return // held reports it at the next write
	}
	defer f.Close()
	found := make([]byte, len(l.content)+1)
	n, _ := f.ReadAt(found, 0)
	if bytes.Equal(found[:n], l.content) {
		_, _ = f.WriteAt(l.content, 0) // a missed beat is made up by the next
	}
}

// held returns an error if the lock is no longer ours, as after a machine slept so long that another took the run over.
func (l *lock) held() error {
	found, err := os.ReadFile(l.path)
	if err == nil && bytes.Equal(found, l.content) {
		return nil
	}
	var o owner
	if json.Unmarshal(found, &o) == nil && o.Host != "" {
		return fmt.Errorf("%s has been taken over by %s: %w", filepath.Dir(l.path), o, ErrBusy)
	}
	return fmt.Errorf("the lock of %s is gone: %w", filepath.Dir(l.path), ErrBusy)
}

// release gives the lock back; a lock that was lost is left to its new owner.
func (l *lock) release() error {
	close(l.stop)
	l.beating.Wait()
	unguard := guard(filepath.Dir(l.path))
	defer unguard()
	if l.held() != nil {
		return nil
	}
	return os.Remove(l.path)
}
