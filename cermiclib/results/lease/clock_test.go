// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"testing"
	"time"
)

// A watcher whose clock is set back waits for a silence anew, and not until the clock has caught up; one whose clock is set forward takes
// over at most as early as it would have been allowed to by that clock, which costs its owner work and no result.
func TestAWatchersClockMayJump(t *testing.T) {
	elsewhere := state{number: 1, content: lockOf(t, Owner{Host: "elsewhere", Space: "other", PID: 1}), changed: time.Unix(1, 0)}
	for name, c := range map[string]struct {
		jump  time.Duration // after the third look; looks are ten seconds apart
		looks int           // until the run is free
	}{
		"no jump":        {0, 8},
		"back a year":    {-365 * 24 * time.Hour, 11},
		"back a minute":  {-time.Minute, 11},
		"forward a year": {365 * 24 * time.Hour, 4},
	} {
		w, now := Watcher{Options: Default()}, time.Unix(1e9, 0)
		w.Now = func() time.Time { return now }
		looks := 0
		for w.holds(elsewhere) != "" && looks < 100 {
			looks++
			if now = now.Add(10 * time.Second); looks == 3 {
				now = now.Add(c.jump)
			}
		}
		if looks+1 != c.looks {
			t.Errorf("%s: free at look %d, want %d", name, looks+1, c.looks)
		}
	}
	// None of this happens to a process that runs: its clock has a part that only goes on.
	if now := Default().Now(); now == now.Round(0) {
		t.Error("the clock of a process can be set")
	}
}
