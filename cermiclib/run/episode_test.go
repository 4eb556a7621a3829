// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"
	"testing"
)

func TestEpisodeIsTheFirstOfTheLastEvaluation(t *testing.T) {
	e, st := tiny(1), open(t)
	if _, _, err := Episode(t.Context(), e, st); err == nil || !strings.Contains(err.Error(), "train it first") {
		t.Errorf("before training: %v, want a sentence that says to train", err)
	}
	r, err := Run(t.Context(), e, st)
	if err != nil {
		t.Fatal(err)
	}
	scenes, eval, err := Episode(t.Context(), e, st)
	if err != nil {
		t.Fatal(err)
	}
	last := r.Evals[len(r.Evals)-1]
	if eval.Scores[0] != last.Scores[0] || eval.Lengths[0] != last.Lengths[0] || eval.Frames != last.Frames {
		t.Errorf("played %v in %v steps at %d frames, want %v in %v at %d", eval.Scores[0], eval.Lengths[0], eval.Frames,
			last.Scores[0], last.Lengths[0], last.Frames)
	}
	if len(scenes) != eval.Lengths[0]+1 {
		t.Errorf("%d scenes of %d steps, want the reset and one a step", len(scenes), eval.Lengths[0])
	}
}
