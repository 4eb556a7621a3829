// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/memory"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
	"cermic/envs/vmas"
)

func TestEpisodeIsTheFirstOfTheLastEvaluation(t *testing.T) {
	for _, sampled := range []bool{false, true} {
		e := tiny(1)
		e.Budget.Sampled = sampled
		episodeIsTheFirst(t, e)
	}
}

func episodeIsTheFirst(t *testing.T, e Config) {
	st := open(t)
	_, _, err := Episode(t.Context(), e, st)
	must.Refuse(t, err, "train it first")
	r := must.Get(Run(t.Context(), e, st))(t)
	scenes, eval, err := Episode(t.Context(), e, st)
	must.Do(t, err)
	recordAlone(t, e, r)
	last := r.Evals[len(r.Evals)-1]
	if eval.Scores[0] != last.Scores[0] || eval.Lengths[0] != last.Lengths[0] || eval.Frames != last.Frames {
		t.Errorf("played %v in %v steps at %d frames, want %v in %v at %d", eval.Scores[0], eval.Lengths[0], eval.Frames,
			last.Scores[0], last.Lengths[0], last.Frames)
	}
	again, err := Evaluate(t.Context(), e, e, st)
	if err != nil || !reflect.DeepEqual(*again, last) {
		t.Errorf("evaluated again: %+v, %v, want the last evaluation %+v", again, err, last)
	}
	more := e
	more.Budget.EvalEpisodes, more.Budget.Sampled = len(last.Scores)+3, !e.Budget.Sampled
	other, err := Evaluate(t.Context(), e, more, st)
	if err != nil || len(other.Scores) != len(last.Scores)+3 || other.Scores[0] == last.Scores[0] {
		t.Errorf("evaluated otherwise: %+v, %v, want other scores, three more than %v", other, err, last.Scores)
	}
	if len(scenes) != eval.Lengths[0]+1 {
		t.Errorf("%d scenes of %d steps, want the reset and one a step", len(scenes), eval.Lengths[0])
	}
}

// recordAlone checks the error for a run whose record is committed without its weights. Training would only show the
// record, so the error names the command that trains it again.
func recordAlone(t *testing.T, e Config, r *results.Record) {
	t.Helper()
	st, packed := open(t), t.TempDir()
	must.Get(results.WritePack(packed, r))(t)
	st.Base(results.NewLayer(os.DirFS(packed)))
	_, _, err := Episode(t.Context(), e, st)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "train -again "+r.ID) || strings.Contains(err.Error(), "train it first") {
		t.Errorf("of a record without weights: %v", err)
	}
}

// TestFewerEpisodesAreTheFirstOfMore: an evaluation stops with the last episode that counts, and plays it as a longer
// evaluation does.
func TestFewerEpisodesAreTheFirstOfMore(t *testing.T) {
	few, many := tiny(1), tiny(1)
	few.Budget.EvalEpisodes, many.Budget.EvalEpisodes = 1, 5
	a := must.Get(Run(t.Context(), few, open(t)))(t)
	b := must.Get(Run(t.Context(), many, open(t)))(t)
	for i, e := range a.Evals {
		more := b.Evals[i]
		if len(e.Scores) != 1 || len(more.Scores) != 5 || e.Scores[0] != more.Scores[0] || e.Sparse[0] != more.Sparse[0] || e.Lengths[0] != more.Lengths[0] {
			t.Errorf("at %d frames %v in %v steps, want the first of %v in %v", e.Frames, e.Scores, e.Lengths, more.Scores, more.Lengths)
		}
	}
}

// TestSampledEvaluationsLeaveTrainingAsItIs: sampled evaluations choose other actions, unless the learner is a value
// learner, which has no distribution.
func TestSampledEvaluationsLeaveTrainingAsItIs(t *testing.T) {
	for name, kind := range map[string]func(uint64) Config{"mappo": tiny, "q": tinyQ} {
		greedy, sampled := kind(1), kind(1)
		sampled.Budget.Sampled = true
		a := must.Get(Run(t.Context(), greedy, open(t)))(t)
		b := must.Get(Run(t.Context(), sampled, open(t)))(t)
		if got, want := fmt.Sprint(b.Scalars), fmt.Sprint(a.Scalars); got != want {
			t.Errorf("%s: training notes %s, want %s", name, got, want)
		}
		if same := reflect.DeepEqual(a.Evals, b.Evals); same != (name == "q") {
			t.Errorf("%s: sampled evaluations equal to greedy ones: %t", name, same)
		}
	}
}

// TestTheBeginningOfAnEpisodeIsScoredBesideTheWhole uses a task without success. Greedy choices alternate, and taking
// one for the k-th time gives reward k: 1 1 2 2 3 3 4. The benchmark counts five of these steps.
func TestTheBeginningOfAnEpisodeIsScoredBesideTheWhole(t *testing.T) {
	r := must.Get(Run(t.Context(), cells(), open(t)))(t)
	for _, e := range r.Evals {
		if fmt.Sprint(e.Scores, e.Early, e.Lengths) != "[9 9 9] [4 4 4] [7 7 7]" || e.Success != nil {
			t.Errorf("at %d frames scores %v, of 3 steps %v, success %v; want 9, 4 and none", e.Frames, e.Scores, e.Early, e.Success)
		}
	}
}

// TestALoadedPolicyPlaysAsItsEvaluationDid: on the environments of an evaluation, it takes the same actions, and the
// score of every episode is the recorded one. This holds for recurrent policies and for value learners.
func TestALoadedPolicyPlaysAsItsEvaluationDid(t *testing.T) {
	for name, e := range map[string]Config{"mlp": tiny(3), "gru": tinyGRU(3), "qmix": tinyQ(3), "context": withContext()} {
		e.Budget.EvalEpisodes = e.Task.Shared().NumEnvs // one round
		st := open(t)
		r, err := Run(t.Context(), e, st)
		must.Do(t, err)
		p, err := Load(st, r.ID, e.Task.Shared().NumEnvs)
		must.Do(t, err)
		want := r.Evals[len(r.Evals)-1]
		for round := range 2 { // the second time after Reset
			got := playOnce(t, p, rng.New(e.Seed, "evaluation", uint64(p.Frames), 0).Uint64())
			for c := range want.Scores {
				if got[c] != want.Scores[c] {
					t.Errorf("%s, round %d: episode %d scores %g, its evaluation %g", name, round, c, got[c], want.Scores[c])
				}
			}
			p.Reset(nil)
		}
		p.Close()
	}
}

// playOnce plays the first episode of every environment and returns the scores.
func playOnce(t *testing.T, p *Policy, seed uint64) []float64 {
	t.Helper()
	env := must.Get(p.Env(seed))(t)
	defer envs.Close(env)
	s := env.Spec()
	step, act := envs.NewStep(s), envs.NewActions(s)
	scores, over := make([]float64, s.NumEnvs), make([]bool, s.NumEnvs)
	env.Reset(nil, step)
	for k := range s.Horizon {
		must.Do(t, p.Act(step, act))
		env.Step(act, step)
		for c := range scores {
			if !over[c] && k < s.EvalHorizon {
				scores[c] += float64(step.Score[c])
			}
			over[c] = over[c] || step.Terminated[c]|step.Truncated[c] != 0
		}
	}
	return scores
}

func TestAPolicyThatCannotBeLoadedOrPlayedIsASentence(t *testing.T) {
	e, st := tiny(1), open(t)
	if _, err := e.Trained(st, 1); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "\n") {
		t.Errorf("without weights: %v", err)
	}
	_, err := Load(st, "0123abcd", 1)
	must.Refuse(t, err, "no run 0123abcd")
	r := must.Get(Run(t.Context(), e, st))(t)
	for _, copies := range []int{7, 5000} { // not a divisor of the rollout batch, and more than its frames
		p := must.Get(Load(st, r.ID, copies))(t)
		must.Do(t, p.Act(envs.NewStep(p.Spec()), envs.NewActions(p.Spec())))
		p.Close()
	}
	_, err = Load(st, r.ID, 0)
	must.Refuse(t, err, "want at least 1")
	p := must.Get(Load(st, r.ID, 2))(t)
	defer p.Close()
	other := *p.Spec()
	other.NumEnvs = 3
	must.Refuse(t, p.Act(envs.NewStep(&other), envs.NewActions(&other)), "make the buffers from its Spec")
}

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

// TestInsideRatesBesideWhatTrainingHasCounted: r^i over a traced episode is as large as the last bonus in training. The
// trainer that plays the episode has counted no visits itself.
func TestInsideRatesBesideWhatTrainingHasCounted(t *testing.T) {
	if testing.Short() {
		t.Skip("trains two runs")
	}
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
