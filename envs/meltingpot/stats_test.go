// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// played is one episode, ours or a recorded one.
type played struct {
	Length  float64
	Returns []float64
	Events  map[string]float64
}

var eventNames = [...]string{
	eventCollected: "collected_resource", eventDestroyed: "destroyed_resource", eventInteraction: "interaction",
	eventZap:     "zap",
	eventCleaned: "player_cleaned", eventEaten: "edible_consumed",
}

// playRandomly plays one episode of uniformly random actions in each environment, cut after limit steps (0: never).
func playRandomly(t *testing.T, cfg envs.Config, numEnvs, limit int) []played {
	t.Helper()
	e, out, act := build(t, cfg, numEnvs, 0)
	r, n := rng.New(3, "random policy"), e.spec.Agents
	all, over, left := make([]played, numEnvs), make([]bool, numEnvs), numEnvs
	for c := range all {
		all[c] = played{Returns: make([]float64, n), Events: map[string]float64{}}
	}
	for left > 0 {
		for k := range act.Discrete {
			act.Discrete[k] = int32(r.IntN(e.spec.Act.Choices))
		}
		e.Step(act, out)
		for c := range all {
			if over[c] {
				continue
			}
			p, b := &all[c], e.games[c].base()
			p.Length++
			for i, reward := range b.reward {
				p.Returns[i] += reward
			}
			for _, event := range b.events {
				p.Events[eventNames[event.kind]]++
			}
			if out.Terminated[c]|out.Truncated[c] != 0 || int(p.Length) == limit {
				over[c] = true
				left--
			}
		}
	}
	return all
}

// Under random play, whole episodes and their first 100 steps have the recorded mean length, return and number of
// events of each kind. The limit is five standard errors of the difference: the seed is fixed, and each file makes
// eight comparisons.
func TestRandomPlayIsAsInTheOriginal(t *testing.T) {
	for _, file := range envtest.Statistics(t, "meltingpot", "stats.*.json") {
		var want struct {
			Substrate string
			Episodes  []played
		}
		envtest.ReadRecording(t, file, &want)
		limit := 0
		for _, p := range want.Episodes {
			limit = max(limit, int(p.Length))
		}
		if len(want.Episodes) < 2 {
			t.Errorf("%s: %d episodes, too few for a comparison", file, len(want.Episodes))
			continue
		}
		if limit > endFrom { // no episode ends at random before, so shorter ones were cut
			limit = 0
		}
		if testing.Short() && (limit == 0 || limit > 100) {
			continue // whole episodes take thousands of steps
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			cfg := must.Value(envs.Default("meltingpot/" + want.Substrate))
			ours := playRandomly(t, cfg, 120, limit)
			compareMeans(t, "length", ours, want.Episodes, func(p *played) float64 { return p.Length })
			compareMeans(t, "return of a player", ours, want.Episodes, func(p *played) float64 { return stat.Mean(p.Returns, nil) })
			for _, name := range eventNames {
				compareMeans(t, name, ours, want.Episodes, func(p *played) float64 { return p.Events[name] })
			}
		})
	}
}

// compareMeans compares a mean over our episodes with that over recorded ones.
func compareMeans(t *testing.T, what string, ours, theirs []played, of func(*played) float64) {
	t.Helper()
	meanAndError := func(all []played) (mean, square float64) { // of its standard error
		sample := make([]float64, len(all))
		for i := range all {
			sample[i] = of(&all[i])
		}
		mean, variance := stat.MeanVariance(sample, nil)
		return mean, variance / float64(len(all))
	}
	a, va := meanAndError(ours)
	b, vb := meanAndError(theirs)
	limit := 5*math.Sqrt(va+vb) + 1e-9 // rounding of equal sums
	if a != 0 || b != 0 {
		t.Logf("%s: %.3f, original %.3f, allowed difference %.3f", what, a, b, limit)
	}
	if !(math.Abs(a-b) <= limit) {
		t.Errorf("%s has mean %g, original %g, want a difference of at most %g", what, a, b, limit)
	}
}
