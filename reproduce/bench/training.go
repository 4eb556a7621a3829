// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"cermic/cermiclib/nn"
	"cermic/cermiclib/nn/xlacache"
	"cermic/reproduce/plan"
)

// Training returns a measurement of end-to-end frames a second of a method on Balance with the dense reward, at every
// setting of the paper but those of set: rollout batch and updates, evaluation left out, as the peer's figure does. The first iteration
// compiles; the second counts.
func Training(method string, set ...string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		e, err := plan.New(plan.Request{Task: "vmas/balance", Method: method, Budget: "paper", Set: append(set, "task.reward=dense"), Seed: 1})
		if err != nil {
			return 0, err
		}
		speed, err := plan.MeasureSpeed(ctx, e, 2)
		return speed.FPS, err
	}
}

// mappoFPS is measured once, for two figures.
var mappoFPS = once(Training("mappo"))

// once remembers the first value of a measurement that succeeds.
func once(measure func(context.Context) (float64, error)) func(context.Context) (float64, error) {
	var value float64
	return func(ctx context.Context) (_ float64, err error) {
		if value == 0 {
			value, err = measure(ctx)
		}
		return value, err
	}
}

// slowdown returns a measurement of how many times longer training MAPPO-CERMIC with a memory takes than training MAPPO, at
// equal settings.
func slowdown(memory string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		plain, err := mappoFPS(ctx)
		if err != nil {
			return 0, err
		}
		curious, err := Training("mappo-cermic", "explore.memory="+memory)(ctx)
		return plain / curious, err
	}
}

// ProductsGroup is counted only where it is asked for, as it trains four iterations at the paper's settings to do so.
const ProductsGroup = "products"

// productsRatio returns a measurement of how many times as many floating-point operations the matrix products of a whole iteration of MAPPO-CERMIC
// with a memory take as those of MAPPO, at equal settings: the slowdown that is left if all else costs nothing and every product runs at one speed.
func productsRatio(memory string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		plain, err := mappoProducts(ctx)
		if err != nil {
			return 0, err
		}
		curious, err := products("mappo-cermic", "explore.memory="+memory)(ctx)
		return curious / plain, err
	}
}

// mappoProducts is counted once, for three figures.
var mappoProducts = once(products("mappo"))

// products counts the operations of the matrix products of the one iteration that it trains, evaluation among it: at the paper's settings less
// than a hundredth.
func products(method string, set ...string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (total float64, err error) {
		e, err := plan.New(plan.Request{Task: "vmas/balance", Method: method, Budget: "paper", Set: append(set, "task.reward=dense"), Seed: 1})
		if err != nil {
			return 0, err
		}
		flops, runs := map[string]float64{}, map[string]float64{}
		xlacache.Watch(func(g xlacache.Graph) { flops[graphName(g.Name)] = g.Flops })
		defer xlacache.Watch(nil)
		var lock sync.Mutex
		nn.WatchRuns(func(name string) {
			lock.Lock()
			defer lock.Unlock()
			runs[strings.ReplaceAll(name, ".", "_")]++
		})
		defer nn.WatchRuns(nil)
		if _, err := plan.MeasureSpeed(ctx, e, 1); err != nil {
			return 0, err
		}
		for name, n := range runs {
			one, counted := flops[name]
			if !counted {
				return 0, fmt.Errorf("the graph %s ran and its products were not counted: that needs XLA's plug-in for the CPU, which go run ./reproduce setup installs", name)
			}
			total += n * one
		}
		return total, nil
	}
}

// peakMemory is the largest amount of memory this process has had, in MiB, as Linux counts it.
func peakMemory(context.Context) (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("peak memory is read from Linux's /proc: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kib); err == nil {
			return kib / 1024, nil
		}
	}
	return 0, errors.New("/proc/self/status has no VmHWM")
}
