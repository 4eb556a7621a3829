// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

// A scene contains every agent for the whole battle, the living enemies, the bars of life and shield, and the
// attacks.
func TestScenesShowWhoIsWhereWithHowMuchLeft(t *testing.T) {
	e := newPlay(simulatorOf(t, DefaultSettings(), &protossRace))
	b := e.env.(*env).arenas[0].battle
	fired := false
	for e.episodes == 0 {
		scene := e.env.(*env).Scene(0)
		agents, enemies, bars, lines := 0, 0, 0.0, 0
		for _, s := range scene.Shapes {
			switch {
			case s.Role == envs.RoleAgent:
				u := &b.units[s.Agent]
				if s.X != float64(u.X) || s.Y != float64(u.Y) || s.Hollow != (u.Health == 0) {
					t.Fatalf("agent %d is drawn at (%g, %g), hollow %v: %+v", s.Agent, s.X, s.Y, s.Hollow, u)
				}
				agents++
			case s.Role == envs.RoleTarget:
				enemies++
			case s.Role == envs.RoleJoint:
				bars += s.Width
			case s.Role == envs.RoleSensor && s.Radius == 0:
				lines++
			}
		}
		_, living := b.alive()
		left := 0.0
		for i := range b.units {
			u := &b.units[i]
			if u.Health > 0 {
				left += 2 * float64(kinds[u.Type].radius) * (float64(u.Health/u.HealthMax) + float64(u.Shield/u.ShieldMax))
			}
		}
		if agents != b.n || enemies != living || math.Abs(bars-left) > 1e-9 {
			t.Fatalf("%d agents, %d enemies and bars of %g, want %d, %d and %g", agents, enemies, bars, b.n, living, left)
		}
		fired = fired || lines > 0
		e.next()
	}
	if !fired {
		t.Error("no attack is drawn in a whole battle")
	}
}

// simulatorOf makes a single environment.
func simulatorOf(t *testing.T, s Settings, r *race) envs.Env {
	t.Helper()
	return must.Value(build("smac/test", envs.Common{NumEnvs: 1, Reward: envs.Sparse}, s, r, 2, 1))
}
