// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"fmt"
	"sync"

	"cermic/envs"
)

// Settings are shared by all tasks of this package; task configs embed them as one flat struct.
type Settings struct {
	MaxSteps int   `json:"max_steps" range:"1..1000000" help:"episode length, in steps; above 1000, episodes can end earlier by chance"`
	Score    Score `json:"score" oneof:"mean,sum,mean100,sum100" help:"return that the metric counts, as mean or sum over players; mean100, sum100: first 100 steps only"`
}

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

// Task is a task of this package: a substrate of Melting Pot and its settings.
type Task struct {
	envs.Common
	Settings
	substrate string
}

// DefaultCleanUp returns the task meltingpot/clean_up with the settings of Melting Pot 2.4.1: apples grow in an orchard
// while the river is clean. Seven players eat apples, clean the river, or zap others away.
func DefaultCleanUp() Task { return newTask("clean_up", 5000) }

// DefaultChicken returns the task meltingpot/chicken_in_the_matrix__repeated with the settings of Melting Pot 2.4.1.
// Yielding to a player that does not yield gives less, but two players that do not yield get nothing. Class 1 is the
// dove, class 2 the hawk.
func DefaultChicken() Task { return newTask(chicken.name, 5000) }

// DefaultPrisonersDilemma returns the task meltingpot/prisoners_dilemma_in_the_matrix__repeated with the settings of
// Melting Pot 2.4.1. Defection is better for each player, cooperation for both. Class 1 is cooperation, class 2
// defection.
func DefaultPrisonersDilemma() Task { return newTask(prisonersDilemma.name, 5000) }

// DefaultStagHunt returns the task meltingpot/stag_hunt_in_the_matrix__repeated with the settings of Melting Pot 2.4.1.
// Two hunters can take the stag together, or each one a hare alone. Class 1 is the stag, class 2 the hare.
func DefaultStagHunt() Task { return newTask(stagHunt.name, 2500) }

func newTask(substrate string, steps int) Task {
	return Task{envs.DefaultCommon(), Settings{MaxSteps: steps, Score: ScoreMean}, substrate}
}

// substrates builds the data of each substrate on first use.
var substrates = map[string]func() *substrate{
	"clean_up":            sync.OnceValue(cleanUpSubstrate),
	chicken.name:          sync.OnceValue(chicken.substrate),
	prisonersDilemma.name: sync.OnceValue(prisonersDilemma.substrate),
	stagHunt.name:         sync.OnceValue(stagHunt.substrate),
}

func init() {
	for _, t := range []Task{DefaultCleanUp(), DefaultChicken(), DefaultPrisonersDilemma(), DefaultStagHunt()} {
		envs.Register(t)
	}
}

// Kind and WithShared implement envs.Config.
func (t Task) Kind() string                         { return "meltingpot/" + t.substrate }
func (t Task) WithShared(s envs.Common) envs.Config { t.Common = s; return t }

// Build makes the environment.
func (t Task) Build(seed uint64, workers int) (envs.Env, error) {
	if err := envs.Check(t); err != nil {
		return nil, err
	}
	if t.Noise.On() {
		return nil, fmt.Errorf("%s: noise covers vector observations only, but this task has cells; leave task.noise out",
			t.Kind())
	}
	return newEnv(t, seed, workers), nil
}
