// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"math"
	"reflect"
	"testing"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/memory"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/envs/vmas"
)

// remembering is small("mappo-cermic") with a small graph memory, in episodes of 30 steps.
func remembering() Config {
	e := small("mappo-cermic")
	c := e.Explore.(cermic.Config)
	g := memory.DefaultGraph()
	g.Embed, g.Node, g.Edge, g.Heads, g.Hidden, g.Width, g.Queue, g.Threshold = 8, 8, 4, 2, 8, 8, 2, 0.3
	c.Memory = g
	task := e.Task.(vmas.Balance)
	task.MaxSteps = 30
	e.Task, e.Explore, e.Budget.Frames = task, c, 100
	return e
}

func TestInsideShowsTheEpisodeThatIsPlayedAndTheMemoryAtEveryStep(t *testing.T) {
	e, st := remembering(), open(t)
	must.Get(Run(t.Context(), e, st))(t)
	in := must.Get(Trace(t.Context(), e, st))(t)
	scenes, eval, err := Episode(t.Context(), e, st)
	must.Do(t, err)
	if !reflect.DeepEqual(in.Scenes, scenes) || in.Score != eval.Scores[0] || in.Steps != eval.Lengths[0] {
		t.Errorf("%d steps and score %g, want the episode of %d steps and score %g", in.Steps, in.Score, eval.Lengths[0], eval.Scores[0])
	}
	rows := in.Steps * in.Agents
	if len(in.Bonus) != rows || len(in.Embed) != rows || len(in.Latent) != rows || len(in.Graphs) != rows || len(in.Visible) != rows*in.Agents {
		t.Fatalf("%d bonuses, %d embeddings, %d codes, %d graphs and %d labels for %d agent steps",
			len(in.Bonus), len(in.Embed), len(in.Latent), len(in.Graphs), len(in.Visible), rows)
	}
	c := e.Explore.(cermic.Config)
	if len(in.Embed[0]) != c.Embed || len(in.Latent[0]) != c.Latent || len(in.Predicted) != rows || len(in.Predicted[0]) != c.Embed {
		t.Errorf("s_t has %d numbers, x_t %d and %d predictions %d, want %d, %d and %d of %d",
			len(in.Embed[0]), len(in.Latent[0]), len(in.Predicted), len(in.Predicted[0]), c.Embed, c.Latent, rows, c.Embed)
	}
	advanced, met := 0, 0
	for row, g := range in.Graphs {
		sum := 0.0
		for j, w := range g.Attention {
			sum += w
			if !g.Present[j] && w != 0 {
				t.Errorf("row %d: an absent node has weight %g", row, w)
			}
		}
		own := row % in.Agents
		if math.Abs(sum-1) > 1e-5 || !g.Present[own] || g.Probability[own] != 0 { // a softmax in float32, mean over heads
			t.Errorf("row %d: weights add up to %g; own node present %v with probability %g", row, sum, g.Present[own], g.Probability[own])
		}
		if g.Advanced {
			advanced++
		}
		if in.Sees(row/in.Agents, own) {
			met++
		}
		if in.Bonus[row] <= 0 {
			t.Errorf("row %d: r^i is %g", row, in.Bonus[row])
		}
	}
	if advanced == 0 || met == 0 {
		t.Errorf("the graph advanced %d times and agents met %d times: nothing was tested", advanced, met)
	}
}

func TestInsideNeedsARunWithCuriosityAndWeights(t *testing.T) {
	st := open(t)
	_, err := Trace(t.Context(), remembering(), st)
	must.Refuse(t, err, "train it first")
	must.Get(Run(t.Context(), tiny(1), st))(t)
	_, err = Trace(t.Context(), tiny(1), st)
	must.Refuse(t, err, "choose a run with CERMIC")
}

func TestOneRunsCuriosityLooksAtAnothersEpisode(t *testing.T) {
	if testing.Short() {
		t.Skip("trains two runs")
	}
	curious, plain, st := remembering(), small("mappo"), open(t)
	plain.Budget = curious.Budget
	for _, e := range []Config{curious, plain} {
		must.Get(Run(t.Context(), e, st))(t)
	}
	own := must.Get(Trace(t.Context(), curious, st))(t)
	other := must.Get(TraceOf(t.Context(), plain, curious, st))(t)
	if other.Method != plain.Label() || len(other.Embed) != other.Steps*other.Agents {
		t.Errorf("%s has %d embeddings of %d steps", other.Method, len(other.Embed), other.Steps)
	}
	if !reflect.DeepEqual(other.Embed[:other.Agents], own.Embed[:own.Agents]) {
		t.Error("both episodes begin alike, but are not embedded alike")
	}
	elsewhere := plain
	must.Do(t, conf.Set(&elsewhere, "task.n_agents", "3"))
	must.Get(Run(t.Context(), elsewhere, st))(t)
	_, err := TraceOf(t.Context(), elsewhere, curious, st)
	must.Refuse(t, err, "choose runs on one task")
}

// TestInsideRatesBesideWhatTrainingHasCounted: r^i over an episode that is looked at is as large as what training last
// paid for such steps, although the trainer that plays it has counted nothing itself.
func TestInsideRatesBesideWhatTrainingHasCounted(t *testing.T) {
	for _, alpha := range []float64{0.2, 0} { // without a trained decoder, too
		e, st := remembering(), open(t)
		c := e.Explore.(cermic.Config)
		f := cermic.DefaultElliptical()
		f.Reservoir = 64
		c.Form, c.Others, c.Alpha = f, 0, alpha
		e.Explore = c
		record := must.Get(Run(t.Context(), e, st))(t)
		in := must.Get(Trace(t.Context(), e, st))(t)
		if decodes := len(in.Predicted) > 0; decodes != (alpha > 0) { // L_explore trains the decoder
			t.Errorf("α = %g: %d predictions", alpha, len(in.Predicted))
		}
		mean := 0.0
		for _, r := range in.Bonus {
			mean += float64(r) / float64(len(in.Bonus))
		}
		paid := record.Scalars["cermic/int_mean"]
		if last := paid[len(paid)-1].Value; !(mean > last/4 && mean < 4*last) {
			t.Errorf("α = %g: r^i is %g on average, training last paid %g", alpha, mean, last)
		}
	}
}
