// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"cermic/cermiclib/results"
)

// trained is a synthetic run of a setting; its curves rise at the given pace.
func trained(id, method string, pace float64, frames int) *results.Record {
	r := &results.Record{ID: id, Method: method, Scalars: map[string]results.Points{}}
	for f := 0; f <= frames; f += 20_000 {
		x := float64(f) / pace
		r.Evals = append(r.Evals, results.Eval{Frames: f, Scores: []float64{50 * (1 - math.Exp(-x))}})
		r.Scalars["bonus"] = append(r.Scalars["bonus"], results.Point{Frames: f, Value: math.Exp(-x) + 0.05*math.Sin(9*x)})
	}
	return r
}

// ofCermic are groups of one run each, variants of one method.
func ofCermic(rs ...*results.Record) (out []results.Group) {
	for _, r := range rs {
		out = append(out, results.Group{Label: r.Method, Method: "mappo-cermic", Runs: []*results.Record{r}})
	}
	return out
}

var measures = []Measure{{Score, "mean episodic reward"}, {"bonus", "intrinsic reward"}, {"none", "consistency γ"}}

func TestTrainingLooksAsBefore(t *testing.T) {
	front := trained("c", "mappo-cermic explore.alpha=1", 3e5, 380_000)
	all := ofCermic(trained("a", "mappo-cermic", 2e5, 600_000), trained("b", "mappo-cermic explore.alpha=0.5", 1e5, 600_000), front)
	looksAsBefore(t, "training")(Training(front, all, 3, measures...))
}

// fork is trained, gone on from another run.
func fork(id, method, parent string, at int, pace float64, frames int) *results.Record {
	r := trained(id, method, pace, frames)
	after := func(p results.Point) bool { return p.Frames <= at }
	r.Evals = slices.DeleteFunc(r.Evals, func(e results.Eval) bool { return e.Frames <= at })
	r.Scalars["bonus"] = slices.DeleteFunc(r.Scalars["bonus"], after)
	r.Experiment = fmt.Appendf(nil, `{"forks":[{"parent":%q,"at":%d}]}`, parent, at)
	return r
}

func TestForksBranchOffTheirParents(t *testing.T) {
	runs := []*results.Record{
		trained("a", "mappo-cermic", 2e5, 400_000),
		fork("b", "mappo-cermic explore.alpha=0.5 (explore.alpha=0.2 until 210k)", "a", 210_000, 0.8e5, 600_000),
		fork("c", "mappo-cermic explore.alpha=1 (explore.alpha=0.2 until 210k, explore.alpha=0.5 until 500k)", "b", 500_000, 3e5, 600_000),
		fork("d", "mappo-cermic explore.alpha=0 (explore.alpha=0.2 until 500k)", "a", 500_000, 3e5, 560_000),
		fork("e", "elsewhere", "not here", 500_000, 3e5, 560_000),
	}
	looksAsBefore(t, "forks")(Training(runs[1], ofCermic(runs...), 2, measures[:2]...))
	lines := Scalar(ofCermic(runs...), "bonus")
	at := func(i, x int) float64 { return lines[i].Y[0][slices.Index(lines[i].X, float64(x))] }
	if got, want := at(1, 210_000), (at(0, 200_000)+at(0, 220_000))/2; math.Abs(got-want) > 1e-12 { // rounding of the mean
		t.Errorf("a fork between two points begins at %g, want %g on the line between them", got, want)
	}
	if got, want := at(3, 400_000), at(0, 400_000); got != want {
		t.Errorf("a fork whose parent has no later point begins at %g, want its last one, %g", got, want)
	}
	if lines[4].Branched || lines[4].X[0] != 520_000 {
		t.Errorf("a fork without its parent begins at %g", lines[4].X[0])
	}
}

func TestTrainingOfARunThatHasNotBegunShowsTheOthers(t *testing.T) {
	p, err := Training(&results.Record{}, ofCermic(trained("a", "mappo-cermic", 2e5, 600_000)), 2, measures...)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Legend) != 1 || p.Legend[0].Name != "MAPPO-CERMIC" || len(p.Rows) != 2 || len(p.Rows[1]) != 1 {
		t.Errorf("legend %v and %d rows, want the one method and three panels in two rows", p.Legend, len(p.Rows))
	}
	p.Image() // must not panic
}

// BenchmarkTraining draws and encodes what a live plot shows of three runs.
func BenchmarkTraining(b *testing.B) {
	front := trained("c", "mappo-cermic explore.alpha=1", 3e5, 380_000)
	all := ofCermic(trained("a", "mappo", 2e5, 600_000), trained("b", "mappo-cermic", 1e5, 600_000), front)
	for b.Loop() {
		p, err := Training(front, all, 3, measures...)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := PNG(p.Image()); err != nil {
			b.Fatal(err)
		}
	}
}
