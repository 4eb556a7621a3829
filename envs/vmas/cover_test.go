// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"testing"

	"cermic/envs"
	"cermic/envs/envtest/must"
)

// TestCoverageCountsSquaresOfThePackageOrOfTheAgents checks a grid of 20 × 20 squares from the upper left corner.
func TestCoverageCountsSquaresOfThePackageOrOfTheAgents(t *testing.T) {
	for _, c := range []struct {
		cfg  envs.Config
		body func(w *World) int
	}{
		{DefaultBalance(), func(*World) int { return balancePackage }},
		{DefaultTransport(), func(*World) int { return 1 }},
		{DefaultNavigation(), func(w *World) int { return w.Agent(0) }},
	} {
		e := must.Value(c.cfg.WithShared(envs.Common{NumEnvs: 2, Reward: envs.Dense}).Build(1, 1)).(*env)
		e.Reset(nil, envs.NewStep(e.Spec()))
		cells, half := make([]int32, 2*e.spec.Agents), e.world.spec.HalfSize
		for _, p := range []struct {
			x, y float32
			want int32
		}{{-0.99, 0.99, 0}, {0.99, 0.99, 19}, {-0.99, -0.99, 380}, {0.99, -0.99, 399}, {0.01, -0.01, 210},
			{1.01, 0, -1}, {0, -1.01, -1}} {
			e.world.Place(1, c.body(e.world), Vec{p.x * half, p.y * half})
			e.Cover(cells)
			if got := cells[e.spec.Agents]; got != p.want {
				t.Errorf("%s: (%g, %g) is in square %d, want %d", c.cfg.Kind(), p.x, p.y, got, p.want)
			}
		}
	}
}
