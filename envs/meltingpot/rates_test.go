// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// recordedRates are the raw counts of a rates file; testdata/golden/README.md describes their origin.
type recordedRates struct {
	Substrate string
	Rates     struct {
		Orientation     map[string]float64 `json:"initial_orientation"`
		Cell            map[string]float64 `json:"initial_cell"`
		Class           map[string]float64 `json:"a_cell_class"`
		First           map[string]float64 `json:"first_mover"`
		Early           map[string]float64 `json:"regrow_early_or_occupied_hits"`
		Regrow          map[string]float64 `json:"regrow_trials_hits"`
		Age             map[string]float64 `json:"respawn_age"`
		BackOrientation map[string]float64 `json:"respawn_orientation"`
		BackCell        map[string]float64 `json:"respawn_cell"`
		Dirt            map[string]float64 `json:"initial_dirt_clean"`
		Water           map[string]float64 `json:"initial_water"`
		FoulEarly       map[string]float64 `json:"dirt_spawn_before_51"`
		Foul            map[string]float64 `json:"dirt_spawn"`
		Apples          map[string]struct {
			Draws, Grown, Expected float64
		} `json:"apple_growth_by_dirt_fraction_bucket"`
	}
}

// census counts an environment's draws that recordings count, too. Replayed steps test the others against known
// probabilities.
type census struct {
	dice
	b      *board
	counts map[string]map[string]float64
}

func (c *census) count(what string, key any) {
	if c.counts[what] == nil {
		c.counts[what] = map[string]float64{}
	}
	c.counts[what][fmt.Sprint(key)]++
}

func (c *census) order(s stage, dst []int8) {
	c.dice.order(s, dst)
	if s == stageMove {
		c.count("first", dst[0])
	}
}

func (c *census) chance(r rule, at int, p float64) bool {
	yes := c.dice.chance(r, at, p)
	if r == ruleClass {
		c.count("class", yes)
	}
	return yes
}

func (c *census) pick(r rule, at, n int) int {
	k := c.dice.pick(r, at, n)
	if r == rulePhase {
		c.count("water", k)
	}
	return k
}

func (c *census) home(player int, free []int32) (int32, facing) {
	cell, face := c.dice.home(player, free)
	x, y := c.b.place(cell)
	c.count("cell", fmt.Sprintf("%d,%d", x, y))
	c.count("facing", face)
	return cell, face
}

// play runs random players that fire two times in five, so that all rules apply.
func (c *census) play(t *testing.T, cfg envs.Config, episodes, steps int) {
	e, _, act := build(t, cfg, 1, 1)
	g := e.games[0]
	c.b, c.counts = g.base(), map[string]map[string]float64{}
	c.dice.Seed(5, "census")
	r := rng.New(6, "census")
	for range episodes {
		g.reset(c)
		for range steps {
			for i := range act.Discrete {
				act.Discrete[i] = int32(r.IntN(e.spec.Act.Choices))
				if r.IntN(3) == 0 {
					act.Discrete[i] = actFire
				}
			}
			c.b.step(act.Discrete, c)
		}
	}
}

// The frequency of every draw is the original's: our counts are homogeneous with the recorded ones, and recorded
// counts fit the known probabilities.
func TestDrawsAreAsFrequentAsInTheOriginal(t *testing.T) {
	for _, file := range envtest.Statistics(t, "meltingpot", "rates.*.json") {
		var want recordedRates
		envtest.ReadRecording(t, file, &want)
		t.Run(want.Substrate, func(t *testing.T) {
			cfg := must.Value(envs.Default("meltingpot/" + want.Substrate))
			c := &census{}
			c.play(t, cfg, 30, 400)
			r := &want.Rates
			homogeneous(t, "cells of arrival", c.counts["cell"], sum(r.Cell, r.BackCell), nil)
			homogeneous(t, "directions of arrival", c.counts["facing"], sum(r.Orientation, r.BackOrientation),
				map[string]string{"N": "0", "E": "1", "S": "2", "W": "3"})
			homogeneous(t, "class of undecided resources", c.counts["class"], r.Class,
				map[string]string{"1": "false", "2": "true"})
			homogeneous(t, "who moves first", c.counts["first"], r.First, map[string]string{"2": "0", "4": "1"})
			homogeneous(t, "phase of the water", c.counts["water"], r.Water,
				map[string]string{"water_1": "0", "water_2": "1", "water_3": "2", "water_4": "3"})
			if x, ok := c.b.rules.(*cleanUp); ok {
				compareRiver(t, &want, x)
			} else {
				compareReturns(t, r.Age, returnAge)
				binomial(t, "resources that come back", r.Regrow["hit"], r.Regrow["trial"], regrowChance)
				if r.Early["hit"] > 0 {
					t.Errorf("the recordings have early returns of resources: %v", r.Early)
				}
			}
		})
	}
}

// compareReturns compares the number of steps that players are away.
func compareReturns(t *testing.T, recorded map[string]float64, ours int) {
	t.Helper()
	if len(recorded) != 1 || recorded[fmt.Sprint(ours)] == 0 {
		t.Errorf("players return at age %d, recorded %v", ours, recorded)
	}
}

// compareRiver compares the rules of clean_up.
func compareRiver(t *testing.T, want *recordedRates, x *cleanUp) {
	t.Helper()
	r := &want.Rates
	compareReturns(t, r.Age, zapAway)
	x.reset(&dice{})
	dirty := x.dirty()
	if key := fmt.Sprintf("%d,%d", dirty, len(x.river.dirt)-dirty); len(r.Dirt) != 1 || r.Dirt[key] == 0 {
		t.Errorf("the initial numbers of dirty and clean cells are %s, recorded %v", key, r.Dirt)
	}
	if r.FoulEarly["1"] > 0 {
		t.Errorf("the recordings have new dirt before step %d: %v", foulAfter+1, r.FoulEarly)
	}
	binomial(t, "steps with new dirt", r.Foul["1"], r.Foul["0"]+r.Foul["1"], foulChance)
	if len(r.Apples) == 0 {
		t.Error("no draw of an apple is recorded")
	}
	for key, bucket := range r.Apples { // of dirty fractions from the key to 0.05 above it
		low := must.Value(strconv.ParseFloat(key, 64))
		// The expected number is a sum of probabilities for unrecorded dirty fractions, rounded to two places.
		least, most := bucket.Draws*max(growth(low+0.05), 0), bucket.Draws*max(growth(low), 0)
		if bucket.Expected < least-0.01 || bucket.Expected > most+0.01 {
			t.Errorf("with a dirty fraction of %s, the recordings expect %g apples, and our probabilities give %g to %g",
				key, bucket.Expected, least, most)
		}
		binomial(t, "apples where the share of dirt is "+key, bucket.Grown, bucket.Draws, bucket.Expected/bucket.Draws)
	}
}

// significance is the probability that one of these tests fails although nothing is wrong. Seeds are fixed, so each
// test is deterministic.
const significance = 1e-4

// binomial is a two-sided test of whether hits in draws fit probability p. If the probabilities differ with mean p,
// the variance is smaller than assumed, and false failures are even rarer.
func binomial(t *testing.T, what string, hits, draws, p float64) {
	t.Helper()
	if draws == 0 || p == 0 && hits > 0 {
		t.Errorf("%s: %.0f of %.0f with probability %g", what, hits, draws, p)
	}
	if draws == 0 || p == 0 {
		return
	}
	d := distuv.Binomial{N: draws, P: p}
	tail := min(1, 2*d.CDF(hits), 2*(1-d.CDF(hits-1)))
	t.Logf("%s: %.0f of %.0f, expected %.1f, p = %.3f", what, hits, draws, draws*p, tail)
	if !(tail > significance) {
		t.Errorf("%s: %.0f of %.0f, want about %.1f (p = %g)", what, hits, draws, draws*p, tail)
	}
}

// homogeneous tests whether two tables of counts come from one distribution; names maps recorded keys to ours.
func homogeneous(t *testing.T, what string, ours, theirs map[string]float64, names map[string]string) {
	t.Helper()
	if len(theirs) == 0 {
		return // the substrate does not have this rule
	}
	renamed := map[string]float64{}
	for k, v := range theirs {
		if n, ok := names[k]; ok {
			k = n
		}
		renamed[k] = v
	}
	var keys []string
	n, m := 0.0, 0.0
	for k := range sum(ours, renamed) {
		keys = append(keys, k)
		n, m = n+ours[k], m+renamed[k]
	}
	slices.Sort(keys)
	square := 0.0
	for _, k := range keys {
		both := ours[k] + renamed[k]
		a, b := both*n/(n+m), both*m/(n+m)
		square += (ours[k]-a)*(ours[k]-a)/a + (renamed[k]-b)*(renamed[k]-b)/b
	}
	passes(t, what, square, len(keys), ours, renamed)
}

// passes tests a sum of squares, which is approximately χ² with classes−1 degrees of freedom.
func passes(t *testing.T, what string, square float64, classes int, counts ...any) {
	t.Helper()
	tail := distuv.ChiSquared{K: float64(classes - 1)}.Survival(square)
	t.Logf("%s: %d classes, p = %.3f", what, classes, tail)
	if !(tail > significance) || classes < 2 {
		t.Errorf("%s: counts %v (p = %g)", what, counts, tail)
	}
}

func sum(a, b map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for _, m := range []map[string]float64{a, b} {
		for k, v := range m {
			out[k] += v
		}
	}
	return out
}
