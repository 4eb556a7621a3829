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
func play(t *testing.T, r *race, p player, n int, change func(*Settings)) outcome {
	t.Helper()
	s := DefaultSettings()
	s.MaxReward = PerEpisode
	if change != nil {
		change(&s)
	}
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
		got := play(t, ref.race, players[ref.player], episodes, nil)
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

// Focused fire with one decision reversed, compared with the reference's 300 episodes per cell, within the same
// limits.
func TestReversedDecisionsMoveFocusedFireAsInTheReferenceSimulator(t *testing.T) {
	if testing.Short() {
		t.Skip("needs many episodes")
	}
	for _, ref := range []struct {
		otherwise     string
		protoss, zerg outcome
	}{
		{"ladder", outcome{win: .43, ret: 16.4}, outcome{win: .17, ret: 11.0}},
		{"no_collision", outcome{win: .44, ret: 16.3}, outcome{win: .26, ret: 11.8}},
		{"retarget", outcome{win: .56, ret: 17.4}, outcome{win: .23, ret: 11.7}},
		{"blast_centres", outcome{win: .48, ret: 16.8}, outcome{win: .24, ret: 11.3}},
		{"instant", outcome{win: .47, ret: 16.5}, outcome{win: .26, ret: 11.6}},
		{"clock", outcome{win: .43, ret: 16.6}, outcome{win: .18, ret: 10.8}},
	} {
		for r, want := range map[*race]outcome{&protossRace: ref.protoss, &zergRace: ref.zerg} {
			got := play(t, r, players["focus"], 1000, func(s *Settings) { s.Otherwise = ref.otherwise })
			t.Logf("%s %s: win %.3f (%.2f), return %.2f (%.1f)", r.name, ref.otherwise, got.win, want.win, got.ret, want.ret)
			if math.Abs(got.win-want.win) > 0.10 || math.Abs(got.ret-want.ret) > 1.5 {
				t.Errorf("%s %s: win rate %.3f and return %.2f, want %.2f and %.1f",
					r.name, ref.otherwise, got.win, got.ret, want.win, want.ret)
			}
		}
	}
}
