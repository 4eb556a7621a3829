// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
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

// recordAlone: where a run's record is committed without its weights, to train it would show the record; the sentence
// says what trains it again.
func recordAlone(t *testing.T, e Config, r *results.Record) {
	t.Helper()
	st, packed := open(t), t.TempDir()
	must.Get(results.WritePack(packed, r))(t)
	must.Do(t, st.Base(os.DirFS(packed)))
	_, _, err := Episode(t.Context(), e, st)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "train -again "+r.ID) || strings.Contains(err.Error(), "train it first") {
		t.Errorf("of a record without weights: %v", err)
	}
}

// TestFewerEpisodesAreTheFirstOfMore: an evaluation stops with the last one that counts, and plays it as a longer one
// does.
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

// TestSampledEvaluationsLeaveTrainingAsItIs: they play otherwise, unless a value learner does, which has nothing to
// draw from.
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

// TestTheBeginningOfAnEpisodeIsScoredBesideTheWhole on a task that knows no success. Greedy choices alternate, and the
// k-th time that one is taken pays k: 1 1 2 2 3 3 4, of which the benchmark counts five steps.
func TestTheBeginningOfAnEpisodeIsScoredBesideTheWhole(t *testing.T) {
	r := must.Get(Run(t.Context(), cells(), open(t)))(t)
	for _, e := range r.Evals {
		if fmt.Sprint(e.Scores, e.Early, e.Lengths) != "[9 9 9] [4 4 4] [7 7 7]" || e.Success != nil {
			t.Errorf("at %d frames scores %v, of 3 steps %v, success %v; want 9, 4 and none", e.Frames, e.Scores, e.Early, e.Success)
		}
	}
}
