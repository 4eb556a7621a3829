// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/plot"

	"cermic/cermiclib/results"
	"cermic/cermiclib/theory"
	"cermic/envs"
	"cermic/envs/envtest/must"
)

var regen = flag.Bool("regen", false, "rewrite the golden images in testdata")

// figures are drawn as in testdata/name.png.
var figures = map[string]func() (any, error){
	"bars": func() (any, error) {
		return Bars(Figure{Title: "Two tasks", Y: "mean episode return"},
			Group{"vmas/balance", []Bar{bar("qmix", 14, 12, 17), bar("mappo", 22, 20, 24), bar("mappo-cermic", 31, 27, 33)}},
			Group{"vmas/wheel", []Bar{bar("qmix", -4, -5, -3), bar("mappo", -2.5, -3, -2), bar("mappo-cermic", none, none, none)}})
	},
	"bars_seeds": func() (any, error) {
		seeds := func(label string, mean float64, values ...float64) Bar {
			return Bar{Label: label, Value: mean, Low: none, High: none, Method: "mappo-cermic", Seeds: values}
		}
		return Bars(Figure{Title: "One method", X: "parts in which the reward is paid", Y: "score"}, Group{Bars: []Bar{
			seeds("1", -14./3, -3, -4, -7), seeds("4", 0.9, 1, 1.5, 0.2), seeds("dense", 3.75, 2, 3, 4, 6)}})
	},
	"missing": func() (any, error) { // an empty place would read as a score of 0
		return Bars(Figure{Title: "Two of four", X: "parts in which the reward is paid", Y: "score"}, Group{Bars: []Bar{
			bar("1", none, none, none), bar("2", 22, 20, 24), bar("4", none, none, none), bar("dense", 31, none, none)}})
	},
	"curves": func() (any, error) {
		recorded := rising("BenchMARL MAPPO", 52, 1.4e5, 1)
		recorded.Reference = true
		return Curves(Figure{Title: "Four methods of different pace", X: "frames", Y: "mean episode return"},
			rising("mappo", 40, 1.8e5, 5), rising("qmix", 36, 3.5e5, 5),
			rising("qmix-cermic", 44, 2.6e5, 5), rising("mappo-cermic", 58, 1.1e5, 5), recorded)
	},
	"empty": func() (any, error) { // an empty frame must not look like a result
		return Curves(Figure{Title: "nobody has trained", X: "frames", Y: "return"}, Series{Label: "mappo"})
	},
	"many": func() (any, error) { // too many names for the ends of their lines stand in a column
		var series []Series
		for i := range 20 {
			s := rising(fmt.Sprintf("mappo-cermic explore.memory.pretrained=weights learner.lr=%d", i), 20+float64(2*i), 1e5, 1)
			s.Method = "mappo-cermic"
			series = append(series, s)
		}
		return Curves(Figure{Title: "Many", X: "frames", Y: "score"}, append(series, rising("qmix", -10, 1e5, 2))...)
	},
	"marks": func() (any, error) {
		line := Line("a", []float64{0, 1, 2, 3}, []float64{1, 2, 1.5, 3})
		line.Low, line.High = []float64{0, 1, 1, 2}, []float64{2, 3, 2, 3.5}
		return Curves(Figure{Title: "Marks", X: "t", Low: 0, High: 4,
			Marks: []mark{{From: 0.5, To: 1.25}, {From: 2, To: 2.5, Agent: 1}, {From: 1.5, Label: "here"}, {From: 2.9, Label: "near the end"}, {From: 9}}}, line)
	},
	"training": func() (any, error) {
		front := trained("c", "mappo-cermic explore.alpha=1", 3e5, 380_000)
		all := ofCermic(trained("a", "mappo-cermic", 2e5, 600_000), trained("b", "mappo-cermic explore.alpha=0.5", 1e5, 600_000), front)
		return Training(front, all, 3, measures...)
	},
	"forks":   func() (any, error) { return Training(forks[1], ofCermic(forks...), 2, measures[:2]...) },
	"diagram": func() (any, error) { return someDiagram().Image(), nil },
	"strip":   func() (any, error) { return Strip(lifting(41), 4) },
	"film": func() (any, error) {
		film, err := Animate(lifting(12), 10)
		if err != nil {
			return nil, err
		}
		return film.Image[0], nil
	},
	"visits":     func() (any, error) { return Visits(twoRooms()) },
	"memory":     func() (any, error) { return Memory(meeting(60), 0, 4) },
	"encounters": func() (any, error) { return Encounters(meeting(60), 3) },
	"ends":       func() (any, error) { return Ends(meeting(60), 3) },
	"codes":      func() (any, error) { return firstRow(Codes(meeting(60), 1)) },
	"paths": func() (any, error) {
		other := meeting(40)
		other.Method = "mappo"
		return firstRow(Paths(1, meeting(60), other))
	},
	"sandwich": func() (any, error) { return Sandwich(theory.SandwichBand(theory.Linspace(0, 8, 200), 6)) },
	"violations": func() (any, error) {
		return Violations(theory.Violations{Scale: []float64{0.5, 2, 3, 4}, MinRatio: []float64{1.3, 1.05, 0.96, 0.9},
			Violations: []float64{0, 0, 55, 55}, FirstVisits: []float64{44, 44, 55, 55}})
	},
	"learning": func() (any, error) {
		falling := func(c theory.Learning, from float64) theory.Learning {
			sum := 0.0
			for k := range 60 {
				sum += from / float64(k+1)
				c.MeanBonus, c.Cumulative = append(c.MeanBonus, from/float64(k+1)), append(c.Cumulative, sum)
			}
			return c
		}
		return Learning([]theory.Learning{falling(theory.Learning{Bonus: theory.UCB, Zeta: 0.5}, 2),
			falling(theory.Learning{Bonus: theory.UCB, Zeta: 1}, 3), falling(theory.Learning{Bonus: theory.Information}, 1)})
	},
	"surprise": func() (any, error) { return Surprise(theory.SurpriseCurve(theory.Linspace(0.1, 6, 12), 6, 2000, 1)) },
	"worst": func() (any, error) {
		set := theory.DefaultAmbiguity()
		return WorstCase(theory.WorstCurve(set, theory.Linspace(0.5, 6, 40), 41), theory.MultiplierCurve(set, theory.Linspace(0.02, 0.4, 40)), 0.1)
	},
	"tails": func() (any, error) {
		laws, at := theory.Laws(), theory.Linspace(0.2, 4, 20)
		return Tails(theory.SampleTails(laws[0], at, 4000, 1), theory.SampleTails(laws[1], at, 4000, 1))
	},
	"informations": func() (any, error) {
		x := []float64{0.5, 1, 2, 4}
		out := theory.Informations{Information: x}
		for k, by := range []float64{-0.5, 0.8, 0.7, 1.6, 0.3, 1.2} {
			for _, v := range x {
				out.Estimates[k] = append(out.Estimates[k], by*v)
			}
		}
		return Informations("Bounds", out, 6)
	},
}

// firstRow leaves t-SNE to its own tests: rounding differs between processors, and 500 steps amplify it.
func firstRow(p Panels, err error) (any, error) {
	if err == nil {
		p.Rows = p.Rows[:1]
	}
	return p, err
}

func TestFiguresLookAsBefore(t *testing.T) {
	for name, draw := range figures {
		figure, err := draw()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got image.Image
		switch f := figure.(type) {
		case *plot.Plot:
			got = Plotted(f, Width, Height).Image()
		case Panels:
			got = f.Drawing().Image()
		case image.Image:
			got = f
		}
		path := filepath.Join("testdata", name+".png")
		if *regen {
			must.Do(t, WritePNG(path, got))
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v; make it with: go test ./viz -regen", err)
		}
		want := must.Get(png.Decode(bytes.NewReader(data)))(t)
		// Processors with and without fused multiply-add round edges differently: a few pixels of anti-aliasing may
		// move.
		if part := pixelDifference(got, want); part > 0.002 {
			t.Errorf("%.2f %% of the picture differs from %s", 100*part, path)
		}
	}
}

// pixelDifference is the mean difference of two pictures over all channels, 1 if their sizes differ.
func pixelDifference(a, b image.Image) float64 {
	if a.Bounds().Size() != b.Bounds().Size() {
		return 1
	}
	sum, n := 0.0, 0
	ao, bo := a.Bounds().Min, b.Bounds().Min
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			r, g, bl, _ := a.At(ao.X+x, ao.Y+y).RGBA()
			r2, g2, bl2, _ := b.At(bo.X+x, bo.Y+y).RGBA()
			for _, d := range [3]int{int(r) - int(r2), int(g) - int(g2), int(bl) - int(bl2)} {
				sum += float64(max(d, -d)) / 0xffff
				n++
			}
		}
	}
	return sum / float64(n)
}

var none = math.NaN()

func bar(label string, value, low, high float64) Bar {
	return Bar{Label: label, Value: value, Low: low, High: high}
}

// rising is a synthetic learning curve: it approaches top at the given pace, with seeds a fixed ripple apart.
func rising(label string, top, pace float64, seeds int) Series {
	s := Series{Label: label, Y: make([][]float64, seeds)}
	for frames := 0.0; frames <= 600_000; frames += 30_000 {
		s.X = append(s.X, frames)
		for seed := range seeds {
			ripple := 5 * math.Sin(frames/70_000+float64(3*seed)) * math.Exp(-frames/4e5)
			s.Y[seed] = append(s.Y[seed], top*(1-math.Exp(-frames/pace))+ripple-3*float64(seed))
		}
	}
	return s
}

func someDiagram() Diagram {
	return Diagram{
		Title: "Boxes and arrows",
		Nodes: []Node{
			{Name: "a", Title: "o_t", Lines: []string{"[B, 18]"}},
			{Name: "b", Title: "θ", Lines: []string{"s_t [B, 64]", "27 200 parameters"}, Column: 1, Row: 0.5, Kind: Network},
			{Name: "c", Title: "L_explore", Column: 2, Kind: Loss}, {Name: "d", Title: "r^i", Column: 2, Row: 1, Kind: Reward},
		},
		Arrows: []Arrow{{From: "a", To: "b"}, {From: "b", To: "c", Label: "s_t"}, {From: "b", To: "d", Dashed: true}},
	}
}

// lifting is a synthetic episode in which four agents lift a bar with a package towards a target; every role occurs.
func lifting(steps int) []envs.Scene {
	var out []envs.Scene
	for t := range steps {
		f := float64(t) / float64(max(steps-1, 1))
		height, tilt := -0.7+1.2*f, 0.25*math.Sin(5*f)
		s := envs.Scene{MinX: -1.2, MinY: -1.2, MaxX: 1.2, MaxY: 1.2, Shapes: []envs.Shape{
			{Role: envs.RoleObstacle, Agent: -1, Y: -1.1, Width: 6, Height: 0.3},
			{Role: envs.RoleObstacle, Agent: -1, X: 1, Y: 0.2, Angle: math.Pi / 2, Width: 1.2},
			{Role: envs.RoleNoise, Agent: -1, X: -0.7, Y: 0.1, Width: 0.7, Height: 0.6},
			{Role: envs.RoleTarget, Agent: -1, X: 0.3, Y: 0.75, Radius: 0.13},
			{Role: envs.RoleTarget, Agent: -1, X: -0.8, Y: 0.9, Radius: 0.1, Hollow: true, Label: "goal"},
			{Role: envs.RoleObject, Agent: -1, Y: height, Angle: tilt, Width: 1.4},
			{Role: envs.RoleObject, Agent: -1, X: 0.3 * f, Y: height + 0.1, Angle: -3 * f, Radius: 0.1},
		}}
		for i := range 4 {
			x := -0.6 + 0.4*float64(i)
			y := height + x*math.Sin(tilt) - 0.09
			s.Shapes = append(s.Shapes,
				envs.Shape{Role: envs.RoleSensor, Agent: i, X: x, Y: y - 0.15, Angle: math.Pi / 2, Width: 0.3},
				envs.Shape{Role: envs.RoleAgent, Agent: i, X: x, Y: y, Radius: 0.07})
		}
		s.Shapes = append(s.Shapes,
			envs.Shape{Role: envs.RoleJoint, Agent: -1, X: 0.8, Y: -0.5, Angle: 0.9, Width: 0.3},
			envs.Shape{Role: envs.RoleAgent, Agent: 4, X: 0.9, Y: -0.38, Radius: 0.015})
		out = append(out, s)
	}
	return out
}

// meeting is a synthetic episode of three agents: the second passes by the first, the third stays away.
func meeting(steps int) *results.Trace {
	in := &results.Trace{Task: "vmas/balance", Method: "mappo-cermic", Frames: 60_000, Steps: steps, Agents: 3}
	for t := range steps + 1 {
		at := [3][2]float64{{-0.2, -0.1}, {-0.9 + 1.8*float64(t)/float64(steps), 0.25}, {0.7, -0.8}}
		s := envs.Scene{MinX: -1.1, MinY: -1.1, MaxX: 1.1, MaxY: 1.1}
		for i, p := range at {
			s.Shapes = append(s.Shapes, envs.Shape{Role: envs.RoleAgent, Agent: i, X: p[0], Y: p[1], Radius: 0.05})
		}
		in.Scenes = append(in.Scenes, s)
		if t == steps {
			break
		}
		near := math.Exp(-4 * math.Pow(at[1][0]-at[0][0], 2))
		for i := range 3 {
			sees := i < 2 && near > 0.5
			in.Visible = append(in.Visible, i == 1 && sees, i == 0 && sees, false)
			in.Bonus = append(in.Bonus, 2+float64(i)/4+near*math.Sin(float64(t)/3)/float64(i+1))
			phase := float64(t)/9 + 2*float64(i)
			in.Embed = append(in.Embed, []float64{5 * float64(i), math.Sin(phase), math.Cos(phase), near})
			in.Predicted = append(in.Predicted, []float64{5*float64(i) + near, math.Sin(phase + 0.4), math.Cos(phase + 0.4), near})
			in.Latent = append(in.Latent, []float64{math.Sin(phase), float64(i), near})
			g := results.Graph{Present: []bool{i == 0, i == 1, i == 2}, Probability: []float64{near, near, 0.02}, Attention: []float64{0, 0, 0}, Advanced: sees}
			g.Probability[i], g.Attention[i] = 0, 1
			if i < 2 && near > 0.3 {
				g.Present[1-i], g.Attention[1-i], g.Attention[i] = true, 0.7*near, 1-0.7*near
			}
			in.Graphs = append(in.Graphs, g)
		}
	}
	return in
}

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

// fork is trained, gone on from another run.
func fork(id, method, parent string, at int, pace float64, frames int) *results.Record {
	r := trained(id, method, pace, frames)
	r.Evals = slices.DeleteFunc(r.Evals, func(e results.Eval) bool { return e.Frames <= at })
	r.Scalars["bonus"] = slices.DeleteFunc(r.Scalars["bonus"], func(p results.Point) bool { return p.Frames <= at })
	r.Experiment = fmt.Appendf(nil, `{"forks":[{"parent":%q,"at":%d}]}`, parent, at)
	return r
}

var forks = []*results.Record{
	trained("a", "mappo-cermic", 2e5, 400_000),
	fork("b", "mappo-cermic explore.alpha=0.5 (explore.alpha=0.2 until 210k)", "a", 210_000, 0.8e5, 600_000),
	fork("c", "mappo-cermic explore.alpha=1 (explore.alpha=0.2 until 210k, explore.alpha=0.5 until 500k)", "b", 500_000, 3e5, 600_000),
	fork("d", "mappo-cermic explore.alpha=0 (explore.alpha=0.2 until 500k)", "a", 500_000, 3e5, 560_000),
	fork("e", "elsewhere", "not here", 500_000, 3e5, 560_000),
}

// twoRooms are visits to two rooms of 3 × 3 beside each other, the second one rarely.
func twoRooms() *results.Visits {
	v := &results.Visits{Frames: 3000, Projection: envs.Projection{About: "an agent's cell", Columns: 7, Rows: 3, Blocked: make([]bool, 21)}}
	v.Scene = envs.Scene{MaxX: 7, MaxY: 3, Shapes: []envs.Shape{
		{Role: envs.RoleObject, Agent: -1, X: 3.5, Y: 1.5, Width: 0.9, Height: 0.9}, {Role: envs.RoleJoint, Agent: -1, X: 2.5, Y: 2.5, Width: 0.7, Height: 0.7},
		{Role: envs.RoleTarget, Agent: -1, X: 6.5, Y: 0.5, Width: 1, Height: 1}, {Role: envs.RoleAgent, X: 0.5, Y: 0.5, Radius: 0.35},
	}}
	v.Counts, v.Recent, v.Bonus = make([]uint64, 21), make([]uint64, 21), make([]float64, 21)
	for cell := range v.Counts {
		x := cell % 7
		v.Projection.Blocked[cell] = x == 3 && cell/7 != 1
		switch {
		case x < 3:
			v.Counts[cell], v.Recent[cell], v.Bonus[cell] = uint64(1000>>cell), uint64(3-x), 0.01
		case x == 4:
			v.Counts[cell], v.Recent[cell], v.Bonus[cell] = 2, 1, 0.05
		}
	}
	return v
}
