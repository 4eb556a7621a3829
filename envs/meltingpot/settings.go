// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"fmt"

	"cermic/envs"
	"cermic/envs/conf"
)

// Settings are shared by all tasks of this package; task configs embed them as one flat struct.
type Settings struct {
	MaxSteps int   `json:"max_steps" range:"1..1000000" help:"episode length, in steps; above 1000, episodes can end earlier by chance"`
	Score    Score `json:"score" oneof:"mean,sum,mean100,sum100" help:"return that the metric counts, as mean or sum over players; mean100, sum100: first 100 steps only"`
}

// DefaultSettings returns the headline score over whole episodes of at most steps steps.
func DefaultSettings(steps int) Settings { return Settings{MaxSteps: steps, Score: ScoreMean} }

// Score selects the steps and players of an episode's return.
//
// Reading: the paper reports a "mean episodic return" without a definition. The mean over players of whole episodes
// is the only choice for which random play is below the paper's weakest row in all four tasks.
type Score string

// The scores.
const (
	ScoreMean    Score = "mean"    // whole episode, mean over players
	ScoreSum     Score = "sum"     // whole episode, sum over players
	ScoreMean100 Score = "mean100" // first 100 steps, mean over players: BenchMARL's default evaluation
	ScoreSum100  Score = "sum100"  // first 100 steps, sum over players
)

// shortScore is the number of steps of the short scores.
const shortScore = 100

// short reports whether a score counts the first steps only.
func (s Score) short() bool { return s == ScoreMean100 || s == ScoreSum100 }

// metric names the score.
func (s *Settings) metric() string {
	name := "mean return"
	if s.Score == ScoreSum || s.Score == ScoreSum100 {
		name = "total return"
	}
	if s.Score.short() {
		name += fmt.Sprintf(" of %d steps", min(shortScore, s.MaxSteps))
	}
	return name
}

// validate returns an error for the first impossible setting.
func (s *Settings) validate(task string, common *envs.Common) error {
	if err := common.Validate(task); err != nil {
		return err
	}
	if common.Noise.On() {
		return fmt.Errorf("%s: noise covers vector observations only, but this task has cells; leave task.noise out", task)
	}
	if err := conf.Check(*s); err != nil {
		return fmt.Errorf("%s: %w", task, err)
	}
	return nil
}
