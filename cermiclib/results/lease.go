// SPDX-License-Identifier: Apache-2.0

package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// owner is who trains a run: the first line of its lock file.
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

// lease is how the owners of runs show that they live, and how others find out. Only differences of one process's own
// clock count, so that clocks of different machines may show what they like.
type lease struct {
	me        owner
	heartbeat time.Duration // between two signs of life of a lock's owner
	ttl       time.Duration // without one, after which an owner on another machine counts as gone
	poll      time.Duration // between two looks at a lock that is being waited for
	rest      time.Duration // that must have passed before scalars make the record be written anew, in times of the last writing
	now       func() time.Time
	step      func() // called before each change of a run's folder; tests cut in here
}

// newLease is the lease of a process. An owner may miss five beats, or have a clock that is five times as slow as the others'.
func newLease() lease {
	return lease{me: self(), heartbeat: 10 * time.Second, ttl: time.Minute, poll: 250 * time.Millisecond, rest: 20, now: time.Now, step: func() {}}
}

// watch looks at one lock again and again.
type watch struct {
	lease
	last  state     // at the last look
	since time.Time // when it was first seen so
}

// holds describes who holds the lock in this state, "" if nobody does any more. Of a process here the system knows; of one
// elsewhere only its silence tells, and only to somebody who has watched it for long enough.
func (w *watch) holds(s state) string {
	if s.free() {
		return ""
	}
	o := s.owner()
	if o.Host == w.me.Host && o.Space == w.me.Space {
		if start, alive := processStart(o.PID); !alive || start != o.Start {
			return ""
		}
		return o.String()
	}
	now := w.now()
	if w.since.IsZero() || !s.same(w.last) || now.Before(w.since) { // the clock may have been set back
		w.last, w.since = s, now
	}
	if now.Sub(w.since) > w.ttl {
		return ""
	}
	return fmt.Sprintf("%s (silent for %v; after %v its run may be taken over)", o, now.Sub(w.since).Round(time.Second), w.ttl)
}

// state is what the folder of a run says about its lock: the newest lock file, and what is in it.
type state struct {
	number  int
	content []byte    // nil if there is no lock file
	changed time.Time // of the file, by whatever clock the file system has: only whether it moves counts
}

// released is what an owner leaves in its lock file when it gives the run back.
const released = "released\n"

func (s state) free() bool { return s.content == nil || bytes.HasPrefix(s.content, []byte(released)) }

// same says whether nobody has touched the lock between two looks.
func (s state) same(t state) bool {
	return s.number == t.number && (s.content == nil) == (t.content == nil) && bytes.Equal(s.content, t.content) && s.changed.Equal(t.changed)
}

// owner is who made the lock file; of one that is damaged nothing is known, and only its silence counts.
func (s state) owner() owner {
	var o owner
	line, _, _ := bytes.Cut(s.content, []byte("\n"))
	if json.Unmarshal(line, &o) != nil || o.Host == "" {
		return owner{Host: "another machine"}
	}
	return o
}
