// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"fmt"
	"reflect"
)

// Schedule is what a budget says of training, to whatever takes part in it.
type Schedule struct {
	Frames  int // of the whole training, summed over parallel environments
	Rollout int // frames of a rollout batch, a multiple of the parallel environments

	Epochs    int // of a policy gradient over a rollout batch
	Minibatch int // frames of one of its gradient steps

	Steps  int // gradient steps of a value learner after each rollout batch
	Batch  int // frames of one of them
	Replay int // frames that its replay buffer holds

	Updates int // gradient steps of the learner after each rollout batch, whatever its kind, for parts that keep pace

	LR    float64 // step size of learners; 0: their own
	Width int     // width of networks, where they are in proportion to small tasks, but of CPM's core and of ICES' exploration policy; 0: their own

	Sparing bool // spares what takes most time of a machine without a GPU
	Quick   bool // takes the smallest of several networks, too
}

// Scheduled is a config of group C (learn.Config, explore.Config, …) with settings that depend on the budget.
type Scheduled[C any] interface {
	// Scheduled returns the config as it is trained on the schedule.
	Scheduled(s Schedule) C
}

// OnSchedule is c as it is trained on the schedule: c itself, if its settings are the same at every budget. It panics if Scheduled returns
// another type, as that of an embedded config does, or is not that of a Scheduled[C]: it would never be called.
func OnSchedule[C any](c C, s Schedule) C {
	if of, ok := any(c).(Scheduled[C]); ok {
		next := of.Scheduled(s)
		if reflect.TypeOf(next) != reflect.TypeOf(c) {
			panic(fmt.Sprintf("rl: Scheduled of a %T returns a %T", c, next))
		}
		return next
	}
	if of := reflect.TypeOf(c); of != nil && hasScheduled(of) {
		panic(fmt.Sprintf("rl: Scheduled of a %T must take an rl.Schedule and return a %v", c, reflect.TypeFor[C]()))
	}
	return c
}

func hasScheduled(of reflect.Type) bool {
	_, ok := of.MethodByName("Scheduled")
	return ok
}

// Within is the part of all frames over which something is done that is to end before training does: a third, BenchMARL's default for ε.
func (s Schedule) Within() int { return s.Frames / 3 }
