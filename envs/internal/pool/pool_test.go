// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"sync"
	"testing"
)

// Every run visits every index exactly once, even if several jobs share the helpers and helpers arrive a run late.
func TestRunVisitsEveryIndexOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 60, 1024} {
		for _, workers := range []int{1, 2, 3, 8} {
			t.Run(fmt.Sprintf("n=%d/workers=%d", n, workers), func(t *testing.T) {
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() {
						visits := make([]int, n)
						job := New(n, 4, workers, func(from, to int) {
							for i := from; i < to; i++ {
								visits[i]++
							}
						})
						for run := 1; run <= 200; run++ {
							job.Run()
							for i, v := range visits {
								if v != run {
									t.Errorf("index %d was visited %d times in %d runs", i, v, run)
									return
								}
							}
						}
					})
				}
				all.Wait()
			})
		}
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	sum := make([]float32, 256)
	job := New(len(sum), 8, 4, func(from, to int) {
		for i := from; i < to; i++ {
			sum[i] += float32(i)
		}
	})
	if got := testing.AllocsPerRun(100, job.Run); got != 0 {
		t.Errorf("Run makes %g allocations, want 0", got)
	}
}
