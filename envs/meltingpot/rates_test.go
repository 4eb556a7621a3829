// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/rng"
)

// recordedRates are the raw counts of a rates file; testdata/golden/README.md says where they come from.
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

// census counts every draw that a copy makes.
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
	switch {
	case r == ruleClass:
		c.count("class", yes)
	case r == ruleFoul:
		c.count("foul", yes)
	case r == ruleGrow:
		c.count("grow", yes)
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

// play lets everyone of a substrate act at random, more often shooting than not, so that all rules are used.
func (c *census) play(t *testing.T, cfg envs.Config, episodes, steps int) {
	e, _, act := build(t, cfg, 1, 1)
	g := e.games[0]
	c.b, c.counts = g.base(), map[string]map[string]float64{}
	c.dice.Seed(5, "census")
	r := rng.New(6, "census")
	for range episodes {
		g.reset(c)
		for range steps {
			for i := range act.Choice {
				act.Choice[i] = int32(r.IntN(e.spec.Act.Choices))
				if r.IntN(3) == 0 {
					act.Choice[i] = actFire
				}
			}
			c.b.step(act.Choice, c)
		}
	}
}

// The frequency of every draw is that of the original: a test of homogeneity between our counts and the recorded ones,
// significant at 1 in 10,000; the seed is fixed, so this either always holds or never.
func TestDrawsAreAsFrequentAsInTheOriginal(t *testing.T) {
	for _, file := range envtest.Statistics(t, "meltingpot", "rates.*.json") {
		var want recordedRates
		envtest.ReadRecording(t, file, &want)
		t.Run(want.Substrate, func(t *testing.T) {
			cfg, err := envs.Default("meltingpot/" + want.Substrate)
			if err != nil {
				t.Fatal(err)
			}
			c := &census{}
			c.play(t, cfg, 30, 400)
			r := &want.Rates
			homogeneous(t, "cells of arrival", c.counts["cell"], sum(r.Cell, r.BackCell), nil)
			homogeneous(t, "directions of arrival", c.counts["facing"], sum(r.Orientation, r.BackOrientation),
				map[string]string{"N": "0", "E": "1", "S": "2", "W": "3"})
			homogeneous(t, "class of undecided resources", c.counts["class"], r.Class, map[string]string{"1": "false", "2": "true"})
			homogeneous(t, "who moves first", c.counts["first"], r.First, map[string]string{"2": "0", "4": "1"})
			homogeneous(t, "phase of the water", c.counts["water"], r.Water,
				map[string]string{"water_1": "0", "water_2": "1", "water_3": "2", "water_4": "3"})
			homogeneous(t, "steps with new dirt", c.counts["foul"], r.Foul, map[string]string{"0": "false", "1": "true"})
			if n := r.Regrow["trial"]; n > 0 {
				homogeneous(t, "resources that come back", c.counts["grow"],
					map[string]float64{"true": r.Regrow["hit"], "false": n - r.Regrow["hit"]}, nil)
			}
			constants(t, &want, c.b)
		})
	}
}

// constants compares what is not left to chance.
func constants(t *testing.T, want *recordedRates, b *board) {
	t.Helper()
	r, away := &want.Rates, returnAge
	if len(r.Apples) > 0 {
		away = zapAway
		dirty := 0
		for _, cell := range b.layout.sites {
			if b.letters[cell] == 'F' {
				dirty++
			}
		}
		x := newRiver()
		if key := fmt.Sprintf("%d,%d", dirty, len(x.dirt)-dirty); len(r.Dirt) != 1 || r.Dirt[key] == 0 {
			t.Errorf("at the start dirty and clean cells are %s, recorded %v", key, r.Dirt)
		}
		if r.FoulEarly["1"] > 0 {
			t.Errorf("dirt spreads before step %d in the recordings: %v", foulAfter+1, r.FoulEarly)
		}
		apples(t, want)
	}
	if got := fmt.Sprint(away); len(r.Age) != 1 || r.Age[got] == 0 {
		t.Errorf("players come back at age %s, recorded %v", got, r.Age)
	}
	if r.Early["hit"] > 0 {
		t.Errorf("resources came back early in the recordings: %v", r.Early)
	}
}

// apples checks our chance of growth against the recorded numbers of apples: a sum of draws of known chances lies within
// four standard deviations. A bucket holds shares of dirt from its key to 0.05 above.
func apples(t *testing.T, want *recordedRates) {
	t.Helper()
	draws := 0.0
	for key, bucket := range want.Rates.Apples {
		var low float64
		if _, err := fmt.Sscan(key, &low); err != nil {
			t.Fatal(err)
		}
		most, least := bucket.Draws*max(growth(low), 0), bucket.Draws*max(growth(low+0.05), 0)
		if off := 4 * math.Sqrt(most); bucket.Grown > most+off || bucket.Grown < least-off {
			t.Errorf("%g apples grew where %s of the river is dirty, we expect %g to %g", bucket.Grown, key, least, most)
		}
		draws += bucket.Draws
	}
	if draws == 0 {
		t.Error("no draw of an apple is recorded")
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

// homogeneous tests whether two tables of counts are draws from one distribution; names translates recorded keys to ours.
func homogeneous(t *testing.T, what string, ours, theirs map[string]float64, names map[string]string) {
	t.Helper()
	if len(theirs) == 0 {
		return // no rule of this substrate
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
	p := distuv.ChiSquared{K: float64(len(keys) - 1)}.Survival(square)
	t.Logf("%s: %.0f and %.0f counts in %d classes, p = %.3f", what, n, m, len(keys), p)
	if !(p > 1e-4) || len(keys) < 2 {
		t.Errorf("%s: ours %v, recorded %v (p = %g)", what, ours, renamed, p)
	}
}
