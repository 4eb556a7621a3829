// SPDX-License-Identifier: Apache-2.0

package rl

import (
	"fmt"
	"reflect"
)

// Schedule holds the training settings that depend on the budget.
type Schedule struct {
	Frames  int // frames of the whole training, summed over parallel environments
	Rollout int // frames of a rollout batch, a multiple of the parallel environments

	Epochs    int // policy-gradient learners: epochs over a rollout batch
	Minibatch int // policy-gradient learners: frames per gradient step

	Steps  int // value learners: gradient steps after each rollout batch
	Batch  int // value learners: frames per gradient step
	Replay int // value learners: frames in the replay buffer

	Updates int // gradient steps of any learner after each rollout batch

	LR    float64 // step size of learners; 0: the default
	Width int     // network width for small tasks, except CPM's core and ICES' exploration policy; 0: the default

	Sparing bool // reduces the most expensive computations, for machines without a GPU
	Quick   bool // also selects the smallest of several networks
}

// Scheduled is a config of group C (learn.Config, explore.Config, …) with settings that depend on the schedule.
type Scheduled[C any] interface {
	// Scheduled returns the config for training on the schedule.
	Scheduled(s Schedule) C
}

// OnSchedule returns c for training on the schedule, or c itself if it has no method Scheduled. It panics if Scheduled
// returns another type, as an embedded config's does, or has the wrong signature: it would never be called.
func OnSchedule[C any](c C, s Schedule) C {
	if of, ok := any(c).(Scheduled[C]); ok {
		next := of.Scheduled(s)
		if reflect.TypeOf(next) != reflect.TypeOf(c) {
			panic(fmt.Sprintf("rl: Scheduled of a %T returns a %T", c, next))
		}
		return next
	}
	if of := reflect.TypeOf(c); of != nil {
		if _, ok := of.MethodByName("Scheduled"); ok {
			panic(fmt.Sprintf("rl: Scheduled of a %T must take an rl.Schedule and return a %v", c, reflect.TypeFor[C]()))
		}
	}
	return c
}

// Within is the number of frames over which schedules such as ε decay: a third of training, BenchMARL's default for ε.
func (s Schedule) Within() int { return s.Frames / 3 }
