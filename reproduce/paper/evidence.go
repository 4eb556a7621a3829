// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"strings"

	"cermic/cermiclib/results"
)

// rewardScalar is the mean reward of a rollout batch, a number an agent and step, without any bonus.
const rewardScalar = "extrinsic"

// RewardedShare is the share of a run's rollout batches in which any agent was rewarded. It is known of runs on VMAS's
// sparse reward, which is never negative; ok is false for others and for a run that kept no rewards.
func RewardedShare(r *results.Record) (share float64, ok bool) {
	batches := r.Scalars[rewardScalar]
	if len(batches) == 0 || !strings.HasPrefix(r.Task, "vmas/") || Setting(r.Experiment, "task.reward") != "sparse" {
		return 0, false
	}
	n := 0
	for _, b := range batches {
		if b.Value > 0 {
			n++
		}
	}
	return float64(n) / float64(len(batches)), true
}

// NeverRewarded reports whether runs were trained on VMAS's sparse reward and none of those ever met it. They have
// learned nothing from success, so that their scores say nothing of training on it.
func NeverRewarded(groups ...results.Group) bool {
	sparse := false
	for _, r := range results.Flat(groups) {
		share, ok := RewardedShare(r)
		if share > 0 {
			return false
		}
		sparse = sparse || ok
	}
	return sparse
}

// Below these means over a group's runs, CERMIC's memory, L_exploit and γ are inactive: the share of agent steps with a
// feature f_{n−1}, and the standard deviation of h's corrections in units of √Σ_Ψ.
const (
	LeastBefore = 0.05
	LeastCalib  = 0.001
)

// Idle reports whether the memory and the calibration of CERMIC's module do next to nothing at the end of a group's
// training. A group without the module, or without L_exploit, is not idle.
func Idle(g results.Group) bool {
	return AtEnd(g, "cermic/context_before") < LeastBefore || AtEnd(g, "cermic/calib_std") < LeastCalib
}

// AtEnd is the mean of a scalar over the last tenth of training and over a group's runs, NaN where none has it.
func AtEnd(g results.Group, scalar string) float64 {
	sum, n := 0.0, 0.0
	for _, r := range g.Runs {
		points := r.Scalars[scalar]
		for _, p := range points[min(len(points)*9/10, max(0, len(points)-1)):] {
			sum, n = sum+p.Value, n+1
		}
	}
	return sum / n
}
