// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest"
	"cermic/envs/envtest/must"
)

func TestTasksKeepTheContract(t *testing.T) {
	for _, name := range envs.Names() {
		cfg := must.Value(envs.Default(name))
		t.Run(strings.TrimPrefix(name, "smac/"), func(t *testing.T) { envtest.Check(t, cfg) })
	}
}

// Non-default settings change sizes, random draws and saved states.
func TestEverySettingKeepsTheContract(t *testing.T) {
	p, z := DefaultProtoss(), DefaultZerg()
	p.ConicFOV, p.EnemyMask, p.ProbObsEnemy, p.ObsLastAction, p.ObsTimestep, p.StateTimestep = true, 0.5, 0.3, true,
		true, true
	p.Agents, p.Enemies, p.RewardPositive, p.MaxReward = 3, 4, false, PerEpisode
	z.ObsPathing, z.ObsHeight, z.ObsAllHealth, z.ObsOwnHealth, z.ObsOwnPos, z.ObsTypes = true, true, false, false,
		false, false
	z.UnitRanges, z.ActionMask, z.ObsWipe, z.StateLast, z.RewardSparse, z.MaxSteps = false, false, false, false, true, 25
	z.Agents, z.Enemies = 6, 2
	p.Otherwise, z.Otherwise = "turning", "rim"
	z.Noise = envs.Noise{X: 16, Y: 16, Width: 12, Height: 12, Scale: 1}
	t.Run("protoss", func(t *testing.T) { envtest.Check(t, p) })
	t.Run("zerg", func(t *testing.T) { envtest.Check(t, z) })
}

// BenchmarkStep times eight game loops, rewards, observations, states, masks and labels.
func BenchmarkStep(b *testing.B) { envtest.Bench(b, nil) }

func TestImpossibleSettingsAreNamed(t *testing.T) {
	for key, change := range map[string]func(*Settings){
		"otherwise":          func(s *Settings) { s.Otherwise = "no_colision" },
		"reward_win":         func(s *Settings) { s.RewardWin = -1000 },
		"reward_scale_rate":  func(s *Settings) { s.ScaleRate = math.Inf(1) },
		"scale_rate is 0,":   func(s *Settings) { s.ScaleRate = 0 },
		"scale_rate is -20,": func(s *Settings) { s.ScaleRate = -20 },
		"sparse_loss":        func(s *Settings) { s.SparseLoss = float32(math.NaN()) },
		"sparse_win":         func(s *Settings) { s.SparseDraw = 2 },
		"whole number":       func(s *Settings) { s.MoveAmount, s.ObsPathing = 1.5, true },
		"min_attack_range":   func(s *Settings) { s.MinAttack = math.NaN() },
		"reward_death_value": func(s *Settings) { s.RewardDeath = math.NaN() },

		"needs engine=simulator":     func(s *Settings) { s.Otherwise, s.Engine = "rim", SC2 },
		"want one of simulator, sc2": func(s *Settings) { s.Engine = "simulater" },
	} {
		cfg := DefaultZerg()
		change(&cfg.Settings)
		_, err := cfg.Build(1, 1)
		must.RefuseAs(t, err, "smac/zerg_5_vs_5: ", key)
	}
}

// The sizes are the benchmark's. The entities of set networks are one span per enemy (the targets of the last
// actions), one per ally and the agent's own.
func TestSpecsHaveTheBenchmarksSizes(t *testing.T) {
	for _, c := range []struct {
		cfg        envs.Config
		obs, state int
	}{{DefaultProtoss(), 92, 130}, {DefaultZerg(), 82, 120}} {
		env := must.Value(c.cfg.Build(1, 1))
		s := env.Spec()
		if s.ObsLen() != c.obs || s.State != c.state || s.Act.Choices != 11 || s.Act.Targets != 5 || s.Agents != 5 ||
			s.EvalHorizon != 200 {
			t.Errorf("%s: %+v", s.Name, s)
		}
		last := s.Entities[len(s.Entities)-1]
		if len(s.Entities) != 10 || s.Entities[0].From != 4 || last.To != c.obs || last.Kind != envs.Own {
			t.Errorf("%s: entities %v", s.Name, s.Entities)
		}
		if s.NumEnvs != 60 || !s.Sparse || !s.Masked || s.Metric != "win rate" {
			t.Errorf("%s: %+v", s.Name, s)
		}
	}
}

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

func TestEveryDecisionIsListedAndStandsWhereTheListSays(t *testing.T) {
	list := must.Value(os.ReadFile("README.md"))
	listed := map[string]string{} // file by number
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \|.*\| (\w+\.go) \|$`).FindAllStringSubmatch(string(list), -1) {
		listed[row[1]] = row[2]
	}
	for _, a := range alternatives {
		if row := regexp.MustCompile("(?m)^\\| " + a.Decision + " \\|.*`" + a.Name + "`"); a.Decision != "data" &&
			a.Name != "instant" && !row.Match(list) {
			t.Errorf("the list does not name %s as the alternative to decision %s", a.Name, a.Decision)
		}
	}
	files := must.Value(filepath.Glob("*.go"))
	found := map[string]string{} // files by number
	for _, file := range files {
		source := must.Value(os.ReadFile(file))
		for _, tag := range regexp.MustCompile(`// DECISION (\d+):`).FindAllStringSubmatch(string(source), -1) {
			found[tag[1]] += file + " "
		}
	}
	if len(listed) < 24 {
		t.Errorf("the list has %d decisions, want at least 24", len(listed))
	}
	for n, file := range listed {
		if !strings.Contains(found[n], file) {
			t.Errorf("decision %s is not in %s but in %q", n, file, found[n])
		}
	}
	for n := range found {
		if listed[n] == "" {
			t.Errorf("decision %s of %s is not listed", n, found[n])
		}
	}
}
