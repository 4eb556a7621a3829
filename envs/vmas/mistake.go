// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"fmt"
	"runtime"
)

// explain, deferred around Observe, turns a panic into an error if Observe writes more numbers than World declares.
func (e *env) explain(c int) {
	r := recover()
	if r == nil {
		return
	}
	declared := e.spec.Obs[0]
	written := e.written(c)
	if _, ok := r.(runtime.Error); !ok || written <= declared {
		panic(r) // unrelated to the length of dst
	}
	err := fmt.Errorf("%s: Observe wrote %d numbers, w.Obs is %d: set it in World", e.spec.Name, written, declared)
	e.mistake.CompareAndSwap(nil, &err)
}

// written is the smallest length of dst at which Observe does not panic for any agent of environment c; 0 if none is
// found.
func (e *env) written(c int) int {
	most := 0
	for _, agent := range e.policy {
		room := e.spec.Obs[0]
		for fits := false; !fits; room++ {
			if room > 4096 {
				return 0
			}
			if fits = e.fits(c, agent, room); fits {
				most = max(most, room)
			}
		}
	}
	return most
}

// fits reports whether Observe does not panic with a dst of the given length.
func (e *env) fits(c, agent, room int) (ok bool) {
	defer func() { ok = recover() == nil }()
	e.task.Observe(e.world, c, agent, make([]float32, room))
	return true
}

// Err returns the error found in the task's Observe, if any.
func (e *env) Err() error {
	if err := e.mistake.Load(); err != nil {
		return *err
	}
	return nil
}
