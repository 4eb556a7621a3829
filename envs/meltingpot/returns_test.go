// SPDX-License-Identifier: Apache-2.0

package meltingpot

import (
	"testing"

	"gonum.org/v1/gonum/floats"

	"cermic/envs"
)

// playRoles returns each player's mean reward per 100 steps with these roles, over 500 steps and 6 environments.
func playRoles(t *testing.T, cfg envs.Config, roles ...Role) []float64 {
	t.Helper()
	const numEnvs, steps = 6, 500
	e, out, act := build(t, cfg, numEnvs, 1)
	sum := make([]float64, e.spec.Agents)
	for range steps {
		e.ScriptRoles(roles, act)
		e.Step(act, out)
		for row, r := range out.Dense {
			sum[row%len(sum)] += float64(r) * 100 / numEnvs / steps
		}
	}
	return sum
}

// Our scripts earn at least the reward of the recorded scripts, which chose their strategy at random (per player, in
// 100 of 500 steps). Random play earns almost nothing in that time.
func TestScriptsEarnAsMuchAsInTheOriginal(t *testing.T) {
	for _, ref := range []struct {
		cfg      envs.Config
		recorded float64
	}{{DefaultStagHunt(), 4.1}, {DefaultChicken(), 6.1}, {DefaultPrisonersDilemma(), 5.4}} {
		got := playRoles(t, ref.cfg, RoleCooperate, RoleCooperate)
		t.Logf("%s: %.2f and %.2f, original %.1f", ref.cfg.Kind(), got[0], got[1], ref.recorded)
		if min(got[0], got[1]) < ref.recorded {
			t.Errorf("%s: cooperators earn %v in 100 steps, want %g", ref.cfg.Kind(), got, ref.recorded)
		}
	}
}

// The payoffs have the order that defines each game.
func TestStrategiesPayAsTheGamesSay(t *testing.T) {
	pay := func(cfg envs.Config) (both, mixedC, mixedD, neither float64) {
		c := playRoles(t, cfg, RoleCooperate, RoleCooperate)
		m := playRoles(t, cfg, RoleCooperate, RoleDefect)
		d := playRoles(t, cfg, RoleDefect, RoleDefect)
		return (c[0] + c[1]) / 2, m[0], m[1], (d[0] + d[1]) / 2
	}
	if both, _, tempted, neither := pay(DefaultStagHunt()); both <= tempted || both <= neither {
		t.Errorf("stag hunt: together %g, alone %g, both alone %g; want the first to be most", both, tempted, neither)
	}
	if both, sucker, tempted, neither := pay(DefaultPrisonersDilemma()); !(tempted > both && both > neither &&
		neither > sucker) {
		t.Errorf("prisoner's dilemma: %g, %g, %g, %g; want temptation > cooperation > defection > being exploited",
			tempted, both, neither, sucker)
	}
	if both, yields, wins, neither := pay(DefaultChicken()); !(wins > both && both > yields && yields > neither) {
		t.Errorf("chicken: %g, %g, %g, %g; want winning > yielding together > yielding > crashing",
			wins, both, yields, neither)
	}
}

// Apples need cleaners: without them nothing grows. The recorded team of cleaners and eaters earned 61 in 100 steps.
func TestApplesNeedCleaners(t *testing.T) {
	total := func(cleaners int) float64 {
		roles := make([]Role, 7)
		for i := range roles {
			roles[i] = RoleEat
			if i < cleaners {
				roles[i] = RoleClean
			}
		}
		return floats.Sum(playRoles(t, DefaultCleanUp(), roles...))
	}
	if got := total(0); got != 0 {
		t.Errorf("seven eaters earn %g, want nothing", got)
	}
	if got := total(3); got < 61 {
		t.Errorf("three cleaners and their team earn %g in 100 steps, want 61", got)
	}
	if got := total(7); got > 10 {
		t.Errorf("seven cleaners earn %g, want almost nothing", got)
	}
}
