// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"cermic/envs"
	"cermic/envs/scripted"
	"cermic/reproduce/paper"
)

// Anchors of a task are what play without learning scores on average over so many episodes that their mean is known to a
// few hundredths of their spread: at most anchorEpisodes, and about anchorFrames frames.
const (
	anchorEpisodes = 1000
	anchorFrames   = 200_000
	anchorSeed     = 1
)

// Anchors are the mean benchmark scores of random and of scripted play on a registered task, the latter NaN without a script,
// and the number of episodes behind each.
func Anchors(task string) (random, script float64, episodes int, err error) {
	cfg, err := envs.Default(task)
	if err != nil {
		return 0, 0, 0, err
	}
	return anchors(cfg)
}

// FirstAnchors are Anchors for the score of an episode's first steps, and the number of these: 0 of a task that has one score.
func FirstAnchors(task string) (random, script float64, steps int, err error) {
	if steps, err = FirstSteps(task); err != nil || steps == 0 {
		return math.NaN(), math.NaN(), 0, err
	}
	cfg, err := Variant(task, "score=mean"+strconv.Itoa(steps), "max_steps="+strconv.Itoa(steps))
	if err != nil {
		return 0, 0, 0, err
	}
	random, script, _, err = anchors(cfg)
	return random, script, steps, err
}

// anchors are those of a task with its settings.
func anchors(cfg envs.Config) (random, script float64, episodes int, err error) {
	env, err := alone(Rewarded(cfg, envs.Dense))
	if err != nil {
		return 0, 0, 0, err
	}
	episodes = min(anchorEpisodes, max(1, anchorFrames/env.Spec().Horizon))
	means := [2]float64{math.NaN(), math.NaN()}
	for i, policy := range []scripted.Policy{scripted.Random, scripted.Script} {
		p, err := scripted.RolloutDense(cfg, policy, episodes, anchorSeed)
		if err != nil {
			return 0, 0, 0, err
		}
		if p != nil {
			means[i] = stat.Mean(p.Dense, nil)
		}
	}
	return means[0], means[1], episodes, nil
}

// Scale is what makes scores of different tasks comparable: random play becomes 0 and scripted play 1 (Anchors). It is zero for a task
// whose script does not beat random play, or that has none.
func Scale(task string) (paper.Scale, error) {
	random, script, episodes, err := Anchors(task)
	if err != nil || !(script > random) { // never of NaN
		return paper.Scale{}, err
	}
	return paper.Scale{From: random, To: script, Episodes: episodes}, nil
}

// FirstSteps are the steps at the beginning of an episode that a task scores apart; 0: none.
func FirstSteps(task string) (int, error) {
	cfg, err := envs.Default(task)
	if err != nil {
		return 0, err
	}
	env, err := alone(Rewarded(cfg, envs.Dense))
	if err != nil {
		return 0, err
	}
	defer envs.Close(env)
	return env.Spec().Early, nil
}
