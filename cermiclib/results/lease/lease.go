// SPDX-License-Identifier: Apache-2.0

// Package lease lets processes on several machines share folders: whoever works on one holds a lock file in it, which others take over
// when its owner is gone. Nothing but the folder itself is needed, also over a network; lock.go says how.
package lease

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// Owner is who holds a folder: the first line of its lock file.
type Owner struct {
	Host  string `json:"host"`
	Space string `json:"space"` // what process ids are unique in: this boot of this machine (or container)
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // when the process started; tells it from a later one with the same id
	Claim uint64 `json:"claim"` // counts the locks that the process has made
}

func (o Owner) String() string {
	if o.Host == unknownHost {
		return "a process " + o.Host
	}
	return fmt.Sprintf("process %d on %s", o.PID, o.Host)
}

// unknownHost is the host of an owner whose lock file is damaged or cannot be read.
const unknownHost = "on another machine or of another user"

var made atomic.Uint64

// Self is the owner that this process writes, but for the number of the lock.
func Self() Owner {
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed machine"
	}
	pid := os.Getpid()
	start, _ := processStart(pid)
	return Owner{host, processSpace(), pid, start, 0}
}

// Options are how owners show that they live, and how others find out. Only differences of one process's own clock count, so that clocks
// of different machines may show what they like.
type Options struct {
	Me        Owner
	Heartbeat time.Duration // between two signs of life of a lock's owner
	TTL       time.Duration // time-to-live: without a sign for so long, an owner on another machine counts as gone
	Poll      time.Duration // between two looks at a lock that is being waited for
	Now       func() time.Time
	Step      func() // called before each change of a folder; tests cut in here
}

// Default are the options of this process. An owner may miss five heartbeats, or have a clock that is five times as slow as the others'.
func Default() Options {
	return Options{Me: Self(), Heartbeat: 10 * time.Second, TTL: time.Minute, Poll: 250 * time.Millisecond, Now: time.Now, Step: func() {}}
}

// Watcher looks at the lock of one folder again and again.
type Watcher struct {
	Options
	last  state     // at the last look
	since time.Time // when it was first seen so
}

// holds describes who holds the lock in this state, "" if nobody does any more. Of a process here the system knows,
// unless it hides those of other users; of one elsewhere only its silence tells, and only to somebody who has watched it
// for long enough.
func (w *Watcher) holds(s state) string {
	if s.free() {
		return ""
	}
	o := s.owner()
	if o.Host == w.Me.Host && o.Space == w.Me.Space {
		start, alive := processStart(o.PID)
		switch {
		case alive && start == o.Start:
			return o.String()
		case !alive || start != 0:
			return ""
		}
	}
	now := w.Now()
	if w.since.IsZero() || !s.same(w.last) || now.Before(w.since) { // the clock may have been set back
		w.last, w.since = s, now
	}
	if now.Sub(w.since) > w.TTL {
		return ""
	}
	return fmt.Sprintf("%s (silent for %v; after %v its run may be taken over)", o, now.Sub(w.since).Round(time.Second), w.TTL)
}

// state is what a folder says about its lock: the newest lock file, and what is in it.
type state struct {
	number  int
	content []byte    // nil if there is no lock file
	changed time.Time // of the file, by whatever clock the file system has: only whether it moves counts
}

// released is what an owner leaves in its lock file when it gives the folder back.
const released = "released\n"

func (s state) free() bool { return s.content == nil || bytes.HasPrefix(s.content, []byte(released)) }

// same says whether nobody has touched the lock between two looks.
func (s state) same(t state) bool {
	return s.number == t.number && (s.content == nil) == (t.content == nil) && bytes.Equal(s.content, t.content) && s.changed.Equal(t.changed)
}

// owner is who made the lock file; of one that is damaged nothing is known, and only its silence counts.
func (s state) owner() Owner {
	var o Owner
	line, _, _ := bytes.Cut(s.content, []byte("\n"))
	if json.Unmarshal(line, &o) != nil || o.Host == "" {
		return Owner{Host: unknownHost}
	}
	return o
}
