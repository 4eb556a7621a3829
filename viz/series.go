// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"
	"slices"

	"cermic/cermiclib/results"
)

// Series is one labelled quantity over training, measured in several seeds.
type Series struct {
	Label     string      // name in the figure; a method's name gives the method's look
	X         []float64   // [P] ascending; frames unless the figure says otherwise
	Y         [][]float64 // [seed][P]; NaN where a seed has no value
	Low, High []float64   // [P] a band that is given, in the place of the bootstrap interval over seeds
	Band      string      // what a given band is, for the note under the plot
	Reference bool        // recorded by somebody else: drawn thin and dotted
	Faint     bool        // context for the others: drawn thin
	Branched  bool        // it begins on another line, where a ring is drawn
}

// Line is a series of a single line, for example a formula.
func Line(label string, x, y []float64) Series { return Series{Label: label, X: x, Y: [][]float64{y}} }

// check reports what would draw nonsense.
func (s Series) check() error {
	if !slices.IsSorted(s.X) {
		return fmt.Errorf("series %q: x values are not ascending", s.Label)
	}
	if s.Low != nil && (len(s.Low) != len(s.X) || len(s.High) != len(s.X)) {
		return fmt.Errorf("series %q: a band of %d and %d values, want %d, one for each x", s.Label, len(s.Low), len(s.High), len(s.X))
	}
	for i, y := range s.Y {
		if len(y) != len(s.X) {
			return fmt.Errorf("series %q: seed %d has %d values, want %d, one for each x", s.Label, i, len(y), len(s.X))
		}
		for j, v := range y {
			if math.IsInf(v, 0) {
				return fmt.Errorf("series %q: seed %d is infinite at x = %g", s.Label, i, s.X[j])
			}
		}
	}
	return nil
}

// at collects the values of every seed at point j, without the missing ones.
func (s Series) at(j int) []float64 {
	var v []float64
	for _, y := range s.Y {
		if !math.IsNaN(y[j]) {
			v = append(v, y[j])
		}
	}
	return v
}

// Evals turns records into one series a method: the mean score of each evaluation's episodes, one line a seed. Series
// are in the order in which their methods first appear. A fork begins on the line of its parent, if that is among them.
func Evals(rs []*results.Record) []Series {
	return collect(rs, func(r *results.Record) []results.Point {
		points := make([]results.Point, len(r.Evals))
		for i, e := range r.Evals {
			points[i] = results.Point{Frames: e.Frames, Value: e.Score()}
		}
		return points
	})
}

// Scalar turns records into one series a method of a named training scalar. Records without it contribute nothing.
func Scalar(rs []*results.Record, name string) []Series {
	return collect(rs, func(r *results.Record) []results.Point { return r.Scalars[name] })
}

// collect groups records by method and lines their points up on the union of their frames.
func collect(rs []*results.Record, points func(*results.Record) []results.Point) []Series {
	var out []Series
	lines := map[string][][]results.Point{}
	for _, r := range rs {
		ps, branched := grown(r, rs, points)
		if len(ps) == 0 {
			continue
		}
		if lines[r.Method] == nil {
			out = append(out, Series{Label: r.Method, Branched: branched})
		}
		lines[r.Method] = append(lines[r.Method], ps)
	}
	for i := range out {
		out[i].X, out[i].Y = align(lines[out[i].Label])
	}
	return out
}

// grown are the points of r and, before them, the place on its parent's line where it branched off.
func grown(r *results.Record, rs []*results.Record, points func(*results.Record) []results.Point) (ps []results.Point, branched bool) {
	ps = points(r)
	parent, at := r.Fork()
	i := slices.IndexFunc(rs, func(o *results.Record) bool { return o.ID == parent })
	if parent == "" || i < 0 || len(ps) == 0 {
		return ps, false
	}
	trunk, _ := grown(rs[i], rs, points)
	n := 0 // points of the trunk up to the fork
	for n < len(trunk) && trunk[n].Frames <= at {
		n++
	}
	if n == 0 {
		return ps, false
	}
	begin := trunk[n-1]
	if n < len(trunk) { // between two points: on the line that joins them
		part := float64(at-begin.Frames) / float64(trunk[n].Frames-begin.Frames)
		begin = results.Point{Frames: at, Value: begin.Value + part*(trunk[n].Value-begin.Value)}
	}
	return append([]results.Point{begin}, ps...), true
}

// align puts lines of (frames, value) on one axis; a line without a value at some x has NaN there.
func align(lines [][]results.Point) (x []float64, y [][]float64) {
	for _, line := range lines {
		for _, p := range line {
			x = append(x, float64(p.Frames))
		}
	}
	slices.Sort(x)
	x = slices.Compact(x)
	for _, line := range lines {
		row := slices.Repeat([]float64{math.NaN()}, len(x))
		for _, p := range line {
			if i, ok := slices.BinarySearch(x, float64(p.Frames)); ok {
				row[i] = p.Value
			}
		}
		y = append(y, row)
	}
	return x, y
}

// mean of no values is NaN.
func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
