// SPDX-License-Identifier: Apache-2.0

package smac

import (
	"math"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

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
	} {
		cfg := DefaultZerg()
		change(&cfg.Settings)
		_, err := cfg.Build(1, 1)
		if err == nil || !strings.HasPrefix(err.Error(), "smac/zerg_5_vs_5: ") ||
			!strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one sentence that names it", key, err)
		}
	}
	cfg := DefaultProtoss()
	cfg.Otherwise, cfg.Engine = "rim", SC2
	if _, err := cfg.Build(1, 1); err == nil || !strings.Contains(err.Error(), "needs engine=simulator") {
		t.Errorf("error %v, want one that names the engine", err)
	}
	cfg = DefaultProtoss()
	cfg.Engine = "simulater"
	if _, err := cfg.Build(1, 1); !strings.Contains(err.Error(), "want one of simulator, sc2") {
		t.Errorf("error %v, want one with the choices", err)
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
