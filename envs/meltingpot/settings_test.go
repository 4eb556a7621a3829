// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"fmt"
	"testing"

	"cermic/envs"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
)

// Each row is a setting with a value that Build rejects, and a part of the error.
func TestImpossibleSettingsAreNamed(t *testing.T) {
	for _, cfg := range allTasks(t) {
		for _, row := range []struct{ key, value, says string }{
			{"max_steps", "0", "want 1 to 1000000"},
			{"max_steps", "1000001", "want 1 to 1000000"},
			{"score", `"mean10"`, "want one of mean, sum, mean100, sum100"},
			{"score", `""`, "want one of mean, sum, mean100, sum100"},
			{"copies", "0", "copies is 0"},
			{"reward", `"sparce"`, "reward is"},
			{"noise", `{"width":1,"height":1,"scale":1}`, "leave task.noise out"},
		} {
			var bad envs.Config
			overlay := fmt.Sprintf(`{"kind":%q,%q:%s}`, cfg.Kind(), row.key, row.value)
			must.Do(t, conf.Unmarshal([]byte(overlay), &bad))
			_, err := bad.Build(1, 1)
			must.RefuseAs(t, err, cfg.Kind()+": ", row.says)
		}
	}
}

// The four scores of one game: the short ones stop after 100 steps, and sums are the means times the number of
// players.
func TestScoresCountWhatTheySay(t *testing.T) {
	const steps = 400
	scores := map[Score]float64{}
	for _, score := range []Score{ScoreMean, ScoreSum, ScoreMean100, ScoreSum100} {
		cfg := DefaultStagHunt()
		cfg.Score = score
		e, out, act := build(t, cfg, 4, 1)
		if want := map[Score]string{
			ScoreMean: "mean return", ScoreSum: "total return", ScoreMean100: "mean return of 100 steps",
			ScoreSum100: "total return of 100 steps",
		}[score]; e.spec.Metric != want {
			t.Errorf("%s is called %q, want %q", score, e.spec.Metric, want)
		}
		if want := map[bool]int{true: 100, false: 2500}[score.short()]; e.spec.EvalHorizon != want || e.spec.Horizon != 2500 {
			t.Errorf("%s counts %d of %d steps, want %d of 2500", score, e.spec.EvalHorizon, e.spec.Horizon, want)
		}
		dense, early := 0.0, 0.0
		for at := range steps {
			e.Script(act)
			e.Step(act, out)
			for row, r := range out.Dense {
				if dense += float64(r); at < 100 {
					early += float64(r)
				}
				scores[score] += float64(out.Score[row/2]) / 2
			}
		}
		want := dense
		if score.short() {
			want = early
		}
		if score == ScoreMean || score == ScoreMean100 {
			want /= 2
		}
		// Score is rounded to float32 in every step.
		if diff := scores[score] - want; early == 0 || early == dense || diff > 1e-4 || diff < -1e-4 {
			t.Errorf("%s sums to %g, want %g (%g early, %g in total)", score, scores[score], want, early, dense)
		}
	}
}
