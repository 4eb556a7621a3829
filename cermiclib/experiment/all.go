// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"errors"
	"slices"
	"sync"

	"cermic/cermiclib/results"
)

// RunAll runs several experiments in order of es, at most workers at a time (0: one). Runs that another process trains
// come last, so that machines with one list share it. A failure does not stop the others: errors are joined in order of
// es. When ctx is cancelled, no further run begins and running ones are saved; its error is returned unless there are
// others. Watchers may be called from several goroutines, one event at a time.
func RunAll(ctx context.Context, es []Config, st *results.Store, workers int, watch ...func(results.Event)) error {
	var one sync.Mutex
	emit := func(e results.Event) {
		one.Lock()
		defer one.Unlock()
		for _, w := range watch {
			w(e)
		}
	}
	todo, errs := make([]int, len(es)), make([]error, len(es))
	for i := range todo {
		todo[i] = i
	}
	for _, wait := range []bool{false, true} {
		busy := make([]bool, len(es))
		share(ctx, todo, workers, func(i int) {
			_, err := start(ctx, es[i], st, wait, emit)
			switch {
			case err == nil || errors.Is(err, ctx.Err()):
			case errors.Is(err, results.ErrBusy) && !wait:
				busy[i] = true
			default:
				errs[i] = err
				r, _ := es[i].header()
				emit(results.Event{Record: &r, Failed: err.Error()})
			}
		})
		todo = slices.DeleteFunc(todo, func(i int) bool { return !busy[i] })
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return ctx.Err()
}

// share has workers do all of todo, in order, until ctx is cancelled.
func share(ctx context.Context, todo []int, workers int, do func(i int)) {
	slots := make(chan struct{}, max(1, min(workers, len(todo))))
	var group sync.WaitGroup
	for _, i := range todo {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		group.Go(func() {
			do(i)
			<-slots
		})
	}
	group.Wait()
}
