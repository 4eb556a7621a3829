// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/envs/rng"
)

// player is a scripted policy of one agent; keep is the enemy it attacked last, or −1.
type player func(b *battle, i int, keep *int, r *rng.Rand) int32

// The scripted policies of the calibration table.
var players = map[string]player{
	"random": func(b *battle, i int, _ *int, r *rng.Rand) int32 {
		a, allowed := int32(0), 0
		for k, ok := range b.mask[i*b.choices : (i+1)*b.choices] {
			if ok != 0 {
				allowed++
				if r.IntN(allowed) == 0 { // uniform over the allowed actions
					a = int32(k)
				}
			}
		}
		return a
	},
	"stop": func(b *battle, i int, _ *int, _ *rng.Rand) int32 { return stand(b, i) },
	"wait": func(b *battle, i int, _ *int, _ *rng.Rand) int32 {
		if e := b.nearest(i); e >= 0 && b.canShoot(i, e) && b.units[i].Health > 0 {
			return int32(b.attack + e)
		}
		return stand(b, i)
	},
	"near": func(b *battle, i int, keep *int, _ *rng.Rand) int32 {
		if *keep < 0 || !b.canShoot(i, *keep) {
			*keep = b.nearest(i)
		}
		if *keep >= 0 && b.canShoot(i, *keep) && b.units[i].Health > 0 {
			return int32(b.attack + *keep)
		}
		return b.approach(i)
	},
	"focus": func(b *battle, i int, _ *int, _ *rng.Rand) int32 {
		if b.units[i].Health == 0 {
			return actNone
		}
		return b.focus(i)
	},
}

func stand(b *battle, i int) int32 {
	if b.units[i].Health == 0 {
		return actNone
	}
	return actStop
}

// outcome holds averages over episodes.
type outcome struct{ win, draw, late, ret, steps float64 }

// play runs one episode in each of n environments. Returns are scaled by the maximum of the episode's own enemy team.
func play(t *testing.T, r *race, p player, n int) outcome {
	t.Helper()
	s := DefaultSettings()
	s.MaxReward = PerEpisode
	e := must.Value(build("smac/test", envs.Common{NumEnvs: n, Reward: envs.Dense}, s, r, 5, 0)).(*env)
	out, act := envs.NewStep(e.Spec()), envs.NewActions(e.Spec())
	keep, chance := make([]int, n*e.n), rng.New(9, "calibration")
	for i := range keep {
		keep[i] = -1
	}
	e.Reset(nil, out)
	var sum outcome
	over := make([]bool, n)
	for left := n; left > 0; {
		for row := range act.Discrete {
			act.Discrete[row] = p(e.arenas[row/e.n].battle, row%e.n, &keep[row], chance)
		}
		e.Step(act, out)
		for c := range over {
			sum.ret += float64(out.Dense[c*e.n]) / float64(n)
			if over[c] || out.Terminated[c]|out.Truncated[c] == 0 {
				continue
			}
			over[c] = true
			left--
			a := &e.arenas[c]
			sum.win += float64(count(a.Over == won)) / float64(n)
			sum.draw += float64(count(a.Over == drawn)) / float64(n)
			sum.late += float64(count(a.Over == timedOut)) / float64(n)
			sum.steps += float64(a.Steps) / float64(n)
		}
	}
	return sum
}

// The reference is an independent program with the same decisions, over 400 episodes per cell. The limits are 0.10 in
// win rate and 1.5 in return, the largest effect of any single decision. The standard errors of the differences are
// at most 0.03 and 0.35, a third of the first limit and a quarter of the second. The seed is fixed, so each cell is
// deterministic.
func TestScriptedPlayEndsAsInTheReferenceSimulator(t *testing.T) {
	episodes := 1000
	if testing.Short() {
		episodes = 300 // the limits are then three standard errors, 0.04 and 0.45
	}
	for _, ref := range []struct {
		race   *race
		player string
		want   outcome
	}{
		{&protossRace, "random", outcome{win: .000, draw: .000, ret: 5.1, steps: 52}},
		{&protossRace, "stop", outcome{win: .000, draw: .000, ret: 0.0, steps: 46}},
		{&protossRace, "wait", outcome{win: .013, draw: .000, ret: 7.0, steps: 56}},
		{&protossRace, "near", outcome{win: .385, draw: .010, ret: 15.8, steps: 55}},
		{&protossRace, "focus", outcome{win: .510, draw: .010, ret: 16.9, steps: 58}},
		{&zergRace, "random", outcome{win: .013, draw: .005, ret: 3.8, steps: 29}},
		{&zergRace, "stop", outcome{win: .010, draw: .018, ret: 1.9, steps: 28}},
		{&zergRace, "wait", outcome{win: .028, draw: .007, ret: 5.4, steps: 29}},
		{&zergRace, "near", outcome{win: .228, draw: .010, ret: 11.3, steps: 24}},
		{&zergRace, "focus", outcome{win: .205, draw: .022, ret: 11.0, steps: 23}},
	} {
		if testing.Short() && (ref.player == "stop" || ref.player == "wait") {
			continue // the random policy covers most of the same code
		}
		got := play(t, ref.race, players[ref.player], episodes)
		t.Logf("%s %-6s win %.3f (%.3f) draw %.3f (%.3f) return %.2f (%.1f) steps %.1f (%.0f) late %.3f",
			ref.race.name, ref.player,
			got.win, ref.want.win, got.draw, ref.want.draw, got.ret, ref.want.ret, got.steps, ref.want.steps, got.late)
		limit := 0.10
		if testing.Short() {
			limit = 0.12
		}
		if math.Abs(got.win-ref.want.win) > limit || math.Abs(got.ret-ref.want.ret) > 1.5 {
			t.Errorf("%s %s: win rate %.3f and return %.2f, want %.3f and %.1f", ref.race.name, ref.player, got.win, got.ret,
				ref.want.win, ref.want.ret)
		}
		// The standard deviation of lengths is at most half their mean: four standard errors of both samples are 12 %.
		if math.Abs(got.steps-ref.want.steps) > 0.12*ref.want.steps {
			t.Errorf("%s %s: %.1f steps, want %.0f", ref.race.name, ref.player, got.steps, ref.want.steps)
		}
		if math.Abs(got.draw-ref.want.draw) > 0.03 || got.late > 0.005 {
			t.Errorf("%s %s: draws %.3f, time-outs %.3f; want %.3f and almost none",
				ref.race.name, ref.player, got.draw, got.late, ref.want.draw)
		}
	}
}
