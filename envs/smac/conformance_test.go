// SPDX-License-Identifier: Apache-2.0

package smac

import (
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

func FuzzLoad(f *testing.F) { envtest.FuzzLoad(f) }
