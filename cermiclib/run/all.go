// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"sync"

	"cermic/cermiclib/results"
)

// RunAll runs several experiments, at most workers at a time (0: one), in order of es. One that fails does not stop the
// others; all errors are returned joined. Watchers may be called from several goroutines, one event at a time.
func RunAll(ctx context.Context, es []Experiment, st *results.Store, workers int, watch ...func(results.Event)) error {
	var one sync.Mutex
	tell := func(e results.Event) {
		one.Lock()
		defer one.Unlock()
		for _, w := range watch {
			w(e)
		}
	}
	next := make(chan Experiment)
	errs := make([]error, max(1, workers))
	var group sync.WaitGroup
	for w := range errs {
		group.Go(func() {
			for e := range next {
				if _, err := Run(ctx, e, st, tell); err != nil {
					errs[w] = errors.Join(errs[w], err)
				}
			}
		})
	}
	for _, e := range es {
		if ctx.Err() != nil {
			break
		}
		next <- e
	}
	close(next)
	group.Wait()
	return errors.Join(errs...)
}
