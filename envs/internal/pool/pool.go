// SPDX-License-Identifier: Apache-2.0

// Package pool distributes parallel environments over goroutines that live as long as the program.
//
// The caller of Run works itself and never waits for a helper to wake up. Helpers that arrive in time take a share of
// the ranges; late ones find none. All environments of a program share the helpers, so making an environment starts
// nothing and dropping one leaks nothing.
package pool

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Job is a fixed loop over [0, n), split into ranges. Ranges may run in any order and concurrently, so each must
// write only its own data. Only one goroutine at a time may run a Job.
type Job struct {
	work    func(from, to int)
	n       int
	grain   int
	ranges  int64 // constant, so that a late helper of an earlier Run can never take a range twice
	helpers int
	next    atomic.Int64 // the first range not taken
	pending atomic.Int64 // number of unfinished ranges
	done    chan struct{}
}

// wake passes jobs to idle helpers. The buffer keeps bursts of Runs from blocking; jobs beyond it need no helper.
var wake = make(chan *Job, 256)

// start starts the helpers once, for the first Job with several workers.
var start = sync.OnceFunc(func() {
	for range runtime.NumCPU() {
		go func() {
			for job := range wake {
				job.take()
			}
		}()
	}
})

// New prepares the loop work(from, to) over [0, n) for up to workers goroutines (0: one per core). No range is
// shorter than grain, except the last one.
func New(n, grain, workers int, work func(from, to int)) *Job {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	// Four ranges per worker balance environments of different cost; a single worker takes everything in one call.
	size := n
	if workers > 1 {
		size = max(grain, (n+4*workers-1)/(4*workers))
	}
	size = max(size, 1)
	j := &Job{work: work, n: n, grain: size, ranges: int64((n + size - 1) / size), done: make(chan struct{}, 1)}
	j.helpers = min(workers, int(j.ranges)) - 1
	j.next.Store(j.ranges)
	if j.helpers > 0 {
		start()
	}
	return j
}

// Run executes the whole loop and returns when all of it is done. It allocates nothing.
func (j *Job) Run() {
	if j.helpers <= 0 {
		if j.n > 0 {
			j.work(0, j.n)
		}
		return
	}
	j.pending.Store(j.ranges)
	j.next.Store(0)
	for range j.helpers {
		select {
		case wake <- j:
		default: // all helpers are busy with other environments, so the caller does their share
		}
	}
	j.take()
	<-j.done
}

// take processes ranges until none is left; the goroutine that finishes the last one signals completion.
func (j *Job) take() {
	for {
		k := j.next.Add(1) - 1
		if k >= j.ranges {
			return
		}
		from := int(k) * j.grain
		j.work(from, min(from+j.grain, j.n))
		if j.pending.Add(-1) == 0 {
			j.done <- struct{}{}
		}
	}
}
