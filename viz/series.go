// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"cermic/cermiclib/results"
)

// Series is one labelled quantity over training, measured in several seeds.
type Series struct {
	Label     string      // name in the figure
	Method    string      // whose look it has; empty: that of the label, if it is a method's name
	X         []float64   // [P] ascending; frames unless the figure says otherwise
	Y         [][]float64 // [seed][P]; NaN where a seed has no value
	Seeds     []uint64    // [seed], each once; nil: not known
	Low, High []float64   // [P] a given band, instead of the bootstrap interval over seeds
	Band      string      // meaning of a given band, for the note; without Low: the band that too few runs do not allow
	Reference bool        // recorded from another program: drawn thin and dotted
	Faint     bool        // context for the others: drawn thin
	Branched  bool        // it begins on another line, where a ring is drawn

	cues  cues
	color *color.NRGBA // nil: by the rules of stylesOf
}

// Line is a series of a single line, for example a formula.
func Line(label string, x, y []float64) Series { return Series{Label: label, X: x, Y: [][]float64{y}} }

// Reference is a line that is drawn as a reference for the others.
func Reference(label string, x, y []float64) Series {
	s := Line(label, x, y)
	s.Reference = true
	return s
}

// WithMemory is the series of CERMIC on a learner ("mappo-cermic") with a kind of memory. It has that method's
// colour, in the memory's hue.
func (s Series) WithMemory(method, kind string) Series {
	s.Method, s.cues.memory = method, kind
	return s
}

// Muted is the series as one of many others: its mean alone, thin and grey, without a name.
func (s Series) Muted() Series {
	line := slices.Repeat([]float64{math.NaN()}, len(s.X))
	for _, j := range s.complete() {
		line[j] = stat.Mean(s.at(j), nil)
	}
	return Series{X: s.X, Y: [][]float64{line}, Faint: true}
}

// check reports values that cannot be drawn.
func (s Series) check() error {
	if !slices.IsSorted(s.X) || slices.ContainsFunc(s.X, math.IsNaN) {
		return fmt.Errorf("series %q: x values are not ascending", s.Label)
	}
	if s.Low != nil && (len(s.Low) != len(s.X) || len(s.High) != len(s.X)) {
		return fmt.Errorf("series %q: a band of %d and %d values, want %d, one for each x",
			s.Label, len(s.Low), len(s.High), len(s.X))
	}
	for i, seed := range s.Seeds {
		if slices.Contains(s.Seeds[:i], seed) {
			return fmt.Errorf("series %q: two runs have seed %d, and a mean counts every seed once", s.Label, seed)
		}
	}
	for i, y := range s.Y {
		if len(y) != len(s.X) {
			return fmt.Errorf("series %q: seed %d has %d values, want %d, one for each x", s.Label, i, len(y), len(s.X))
		}
	}
	for _, values := range append([][]float64{s.X, s.Low, s.High}, s.Y...) {
		if i := slices.IndexFunc(values, undrawable); i >= 0 {
			return fmt.Errorf("series %q: value %d is %g, want at most %g in size", s.Label, i, values[i], largest)
		}
	}
	return nil
}

// complete are the points at which every seed has a value.
func (s Series) complete() (points []int) {
	for j := range s.X {
		if len(s.Y) > 0 && !slices.ContainsFunc(s.Y, func(y []float64) bool { return math.IsNaN(y[j]) }) {
			points = append(points, j)
		}
	}
	return points
}

// at are the values of every seed at a point.
func (s Series) at(j int) (v []float64) {
	for _, y := range s.Y {
		v = append(v, y[j])
	}
	return v
}

// Scalar turns groups of runs into one series each of a named training scalar. Runs without it contribute nothing.
func Scalar(gs []results.Group, name string) []Series { return collect(gs, scalar(name)) }

// Evals turns groups of runs into one series each, in their order: the mean score of each evaluation's episodes, one
// line per seed. A fork begins on the line of its parent, if that is among the runs.
func Evals(gs []results.Group) []Series { return collect(gs, evals(results.Eval.Score)) }

// Early is Evals for the score of an episode's first steps, where the task counts them apart.
func Early(gs []results.Group) []Series {
	return collect(gs, evals(func(e results.Eval) float64 { return stat.Mean(e.Early, nil) }))
}

// GroupEvals is Evals for the return of a named group of agents.
func GroupEvals(gs []results.Group, name string) []Series {
	return collect(gs, evals(func(e results.Eval) float64 { return e.Group(name) }))
}

// quantity are the values of a run over training that a line shows.
type quantity func(*results.Record) []results.Point

func scalar(name string) quantity {
	return func(r *results.Record) []results.Point { return r.Scalars[name] }
}

// evals is a value of a run's evaluations, without those that have none.
func evals(value func(results.Eval) float64) quantity {
	return func(r *results.Record) (points []results.Point) {
		for _, e := range r.Evals {
			if v := value(e); !math.IsNaN(v) {
				points = append(points, results.Point{Frames: e.Frames, Value: v})
			}
		}
		return points
	}
}

// collect are the series of the groups that have the quantity.
func collect(gs []results.Group, of quantity) (out []Series) {
	all := results.Flat(gs)
	for _, g := range gs {
		if s := seriesOf(g, all, of); len(s.Y) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// seriesOf lines a group's runs up on the union of their frames, with NaN where a run has no value. Forks begin on the
// lines of their parents among all runs.
func seriesOf(g results.Group, all []*results.Record, of quantity) Series {
	s := Series{Label: g.Label, Method: g.Method}
	if len(g.Runs) > 0 {
		s.cues = cuesOf(g.Runs[0].Experiment)
	}
	var lines [][]results.Point
	for _, r := range g.Runs {
		if line, branched := grown(r, all, of); len(line) > 0 {
			s.Seeds, s.Branched = append(s.Seeds, r.Seed), s.Branched || branched
			lines = append(lines, line)
		}
	}
	for _, p := range slices.Concat(lines...) {
		s.X = append(s.X, float64(p.Frames))
	}
	slices.Sort(s.X)
	s.X = slices.Compact(s.X)
	for _, line := range lines {
		row := slices.Repeat([]float64{math.NaN()}, len(s.X))
		for _, p := range line {
			i, _ := slices.BinarySearch(s.X, float64(p.Frames))
			row[i] = p.Value
		}
		s.Y = append(s.Y, row)
	}
	return s
}

// grown are the points of r and, before them, the place on its parent's line where it branched off.
func grown(r *results.Record, rs []*results.Record, of quantity) (ps []results.Point, branched bool) {
	ps = of(r)
	parent, at := r.Fork()
	i := slices.IndexFunc(rs, func(o *results.Record) bool { return o.ID == parent })
	if parent == "" || i < 0 || len(ps) == 0 {
		return ps, false
	}
	trunk, _ := grown(rs[i], rs, of)
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

// ofGroups are the measures, with one for each group of agents where a scalar is written for each.
func ofGroups(rs []*results.Record, measures []Measure) (out []Measure) {
	groups := map[string][]float64{}
	for _, r := range rs {
		for _, e := range r.Evals {
			maps.Copy(groups, e.Groups)
		}
	}
	has := func(name string) bool {
		return slices.ContainsFunc(rs, func(r *results.Record) bool { return len(r.Scalars[name]) > 0 })
	}
	for _, m := range measures {
		var own []Measure
		for _, group := range slices.Sorted(maps.Keys(groups)) {
			if has(group + "/" + m.Name) {
				own = append(own, Measure{group + "/" + m.Name, m.Title + ", " + group})
			}
		}
		if m.Name == Score || has(m.Name) || len(own) == 0 {
			own = []Measure{m}
		}
		out = append(out, own...)
	}
	return out
}
