// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/nn"
	"cermic/cermiclib/results"
	"cermic/envs/rng"
	"cermic/reproduce/plan"
)

// paperHours measures how many hours a MAPPO run of the paper's budget takes, evaluation left out, from the speed of one iteration.
func paperHours(ctx context.Context) (float64, error) {
	fps, err := mappoFPS(ctx)
	if err != nil {
		return 0, err
	}
	budget, err := plan.FindPreset("paper")
	return float64(budget.Budget.Frames) / fps / 3600, err
}

// together returns a measurement of the frames a second of so many MAPPO runs with different seeds, trained at the same time in one process
// with the settings of the budget short, all of them together: from when each has done one iteration until the first one is at its end.
func together(runs int) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		var es []experiment.Config
		for seed := range runs {
			e, err := plan.New(plan.Request{Task: "vmas/balance", Method: "mappo", Budget: "short", Set: []string{"task.reward=dense"}, Seed: uint64(seed + 1)})
			if err != nil {
				return 0, err
			}
			e.Budget.Frames = 6 * e.Learner.CollectFrames()
			e.Budget.Name, e.Budget.EvalEvery, e.Budget.EvalEpisodes = plan.CustomBudget, e.Budget.Frames, 1
			es = append(es, e)
		}
		dir, err := os.MkdirTemp("", "cermic-bench")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
		st, err := results.Open(dir)
		if err != nil {
			return 0, err
		}
		s := span{runs: runs, began: map[uint64]bool{}}
		if err := experiment.RunAll(ctx, es, st, runs, s.watch); err != nil {
			return 0, err
		}
		return s.rate()
	}
}

// span counts the frames of several runs while all of them train.
type span struct {
	runs       int
	began      map[uint64]bool // seeds that have done an iteration
	start, end time.Time
	frames     int
	ended      bool
}

// watch takes the events of all runs, one at a time.
func (s *span) watch(e results.Event) {
	switch {
	case e.Scalars == nil || s.ended:
	case len(s.began) < s.runs:
		s.began[e.Record.Seed] = true
		s.start = time.Now()
	default:
		s.frames += e.Total / 6
		s.end, s.ended = time.Now(), e.Frames >= e.Total
	}
}

func (s *span) rate() (float64, error) {
	if s.frames == 0 {
		return 0, fmt.Errorf("%d runs were never in training at the same time", s.runs)
	}
	return float64(s.frames) / s.end.Sub(s.start).Seconds(), nil
}

// batched returns a measurement of how many times faster one graph that holds seeds networks takes a gradient step in each than as many graphs do
// at the same time, as runs that are trained together: networks of 16-256-256-4, each on so many rows of its own.
func batched(seeds, rows int) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		backend, err := nn.Open()
		if err != nil {
			return 0, err
		}
		var builds []*nn.Build
		defer func() {
			for _, b := range builds {
				b.Close()
			}
		}()
		network := func(groups int) *nn.Program { // with variables of its own: who changes them must be alone
			b := &nn.Build{Backend: backend, Store: nn.NewStore(1), Seed: 1}
			builds = append(builds, b)
			p, failed := regression(b, "net", groups, rows)
			err = errors.Join(err, failed)
			return p
		}
		one, each := network(seeds), make([]*nn.Program, seeds)
		for i := range each {
			each[i] = network(1)
		}
		if err != nil {
			return 0, err
		}
		a, err := quickest(ctx, one)
		if err != nil {
			return 0, err
		}
		s, err := quickest(ctx, each...)
		return s.Seconds() / a.Seconds(), err
	}
}

// regression is a gradient step of groups networks side by side, each [rows,16] to [rows,4] through two layers of 256 units.
func regression(b *nn.Build, name string, groups, rows int) (*nn.Program, error) {
	p, err := nn.NewProgram(b, name, []nn.Input{nn.F32("x", groups, rows, 16)}, func(sc *model.Scope, in []*graph.Node) []*graph.Node {
		sc = sc.At("%s", name)
		y := in[0]
		for _, layer := range []struct {
			name  string
			width int
		}{{"a", 256}, {"b", 256}, {"c", 4}} {
			y = nn.LinearEach(sc.At("%s", layer.name), y, layer.width)
			if layer.width == 256 {
				y = graph.Tanh(y)
			}
		}
		loss := graph.ReduceAllMean(graph.Square(y))
		nn.Adam{LR: 1e-4, Eps: 1e-6, Clip: 5}.Minimize(sc, loss)
		return []*graph.Node{loss}
	})
	if err != nil {
		return nil, err
	}
	r := rng.New(1, "bench rows")
	p.Feed(0, func(dst []float32) {
		for i := range dst {
			dst[i] = r.Uniform(-1, 1)
		}
	})
	return p, nil
}

// quickest is the shortest time in which all programs run once, at the same time, of as many trials as fit in a second: other programs can
// only slow them.
func quickest(ctx context.Context, programs ...*nn.Program) (time.Duration, error) {
	best, errs := time.Hour, make([]error, len(programs))
	for began := time.Now(); time.Since(began) < time.Second; {
		start := time.Now()
		var all sync.WaitGroup
		for i, p := range programs {
			all.Go(func() {
				if errs[i] = p.Run(); errs[i] == nil {
					p.Scalar(0) // a GPU may not have finished before it is read
				}
			})
		}
		all.Wait()
		best = min(best, time.Since(start))
		if err := errors.Join(append(errs, ctx.Err())...); err != nil {
			return 0, err
		}
	}
	return best, nil
}
