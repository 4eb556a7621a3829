// SPDX-License-Identifier: Apache-2.0

package viz_test

import (
	"fmt"
	"math"
	"testing"

	"cermic/cermiclib/results"
	"cermic/viz"
)

// trained is a synthetic run of a setting; its curves rise at the given pace.
func trained(id, method string, pace float64, frames int) *results.Record {
	r := &results.Record{ID: id, Method: method, Scalars: map[string][]results.Point{}}
	for f := 0; f <= frames; f += 20_000 {
		x := float64(f) / pace
		r.Evals = append(r.Evals, results.Eval{Frames: f, Scores: []float64{50 * (1 - math.Exp(-x))}})
		r.Scalars["bonus"] = append(r.Scalars["bonus"], results.Point{Frames: f, Value: math.Exp(-x) + 0.05*math.Sin(9*x)})
	}
	return r
}

var measures = []viz.Measure{{viz.Score, "mean episodic reward"}, {"bonus", "intrinsic reward"}, {"none", "consistency γ"}}

func TestTrainingLooksAsBefore(t *testing.T) {
	others := []*results.Record{
		trained("a", "mappo-cermic", 2e5, 600_000),
		trained("b", "mappo-cermic explore.alpha=0.5", 1e5, 600_000),
		trained("c", "mappo-cermic explore.alpha=1", 3e5, 100_000), // an older state of the run in front
	}
	p, err := viz.Training(trained("c", "mappo-cermic explore.alpha=1", 3e5, 380_000), others, 3, measures...)
	if err != nil {
		t.Fatal(err)
	}
	checkImage(t, "training", p.Image())
}

func TestTrainingOfARunThatHasNotBegunShowsTheOthers(t *testing.T) {
	p, err := viz.Training(&results.Record{}, []*results.Record{trained("a", "mappo-cermic", 2e5, 600_000)}, 2, measures...)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(p.Legend) != "[mappo-cermic]" || len(p.Rows) != 2 || len(p.Rows[1]) != 1 {
		t.Errorf("legend %v and %d rows, want the one method and three panels in two rows", p.Legend, len(p.Rows))
	}
	p.Image() // must not panic
}
