// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"os"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
)

// Speed is what one training iteration takes, rollout batch and updates, without compiling and evaluation.
type Speed struct {
	FPS       float64 // frames per second
	Processor float64 // seconds of all cores together; 0 where the system does not report them
}

// MeasureSpeed trains so many rollout batches of e, at least 2, and returns the best speed without the first batch,
// which compiles. The best counts because other programs can only slow a measurement down.
func MeasureSpeed(ctx context.Context, e experiment.Config, batches int) (best Speed, err error) {
	e.Budget.Frames = batches * e.Learner.CollectFrames()
	e.Budget.Name, e.Budget.EvalEvery, e.Budget.EvalEpisodes = cermiclib.CustomBudget, e.Budget.Frames, 1
	dir, err := os.MkdirTemp("", "cermic-speed")
	if err != nil {
		return best, err
	}
	defer os.RemoveAll(dir)
	st, err := results.Open(dir)
	if err != nil {
		return best, err
	}
	done, before := 0, 0.0
	_, err = experiment.Run(ctx, e, st, func(ev results.Event) {
		now, failed := results.ProcessorSeconds()
		if used := now - before; ev.Scalars != nil {
			if done++; done > 1 {
				best.FPS = max(best.FPS, ev.FPS)
				if failed == nil && (best.Processor == 0 || used < best.Processor) {
					best.Processor = used
				}
			}
		}
		before = now // also after an evaluation, which is left out
	})
	return best, err
}
