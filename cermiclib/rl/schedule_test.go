// SPDX-License-Identifier: Apache-2.0

package rl

import "testing"

type group interface{ Kind() string }

type scheduled struct{ steps int }

func (scheduled) Kind() string                 { return "scheduled" }
func (c scheduled) Scheduled(s Schedule) group { c.steps = s.Frames; return c }

type misdeclared struct{ steps int }

func (misdeclared) Kind() string                       { return "misdeclared" }
func (c misdeclared) Scheduled(s Schedule) misdeclared { c.steps = s.Frames; return c }

func TestOnScheduleRefusesAWrongSignature(t *testing.T) {
	if c := OnSchedule[group](scheduled{}, Schedule{Frames: 7}).(scheduled); c.steps != 7 {
		t.Errorf("the schedule has not been applied: %+v", c)
	}
	if c := OnSchedule[group](nil, Schedule{}); c != nil {
		t.Errorf("a nil config became %v", c)
	}
	defer func() {
		if recover() == nil {
			t.Error("a method Scheduled that returns its own type does not panic")
		}
	}()
	OnSchedule[group](misdeclared{}, Schedule{Frames: 7})
}
