// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// Quickest is the least time of each step, of so many runs: other programs can only slow it down. The steps take turns, so that a busy machine
// slows all of them alike.
func Quickest(runs int, steps ...func() error) ([]time.Duration, error) {
	least := make([]time.Duration, len(steps))
	for run := range runs {
		for i, step := range steps {
			start := time.Now()
			if err := step(); err != nil {
				return least, err
			}
			if t := time.Since(start); run == 0 || t < least[i] {
				least[i] = t
			}
		}
	}
	return least, nil
}

// TrainedBy are the trainable variables below a scope that loss depends on.
func TrainedBy(loss *graph.Node, sc *model.Scope) (out []*graph.Node) {
	for _, v := range Variables(sc.Store(), sc.Scope()) {
		if v.Trainable && v.InUseByGraph(loss.Graph()) {
			out = append(out, v.NodeValue(loss.Graph()))
		}
	}
	return out
}

// GradientSums computes the gradients of loss and keeps the sum of each: enough to time them, which nothing else reads.
func GradientSums(loss *graph.Node, nodes ...*graph.Node) (out []*graph.Node) {
	if len(nodes) == 0 {
		return nil
	}
	for _, g := range graph.Gradient(loss, nodes...) {
		out = append(out, graph.ReduceAllSum(g))
	}
	return out
}
