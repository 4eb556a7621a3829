// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"testing"

	"cermic/cermiclib/results"
)

// TestSpreadOfTheBonusIsToldByMethod: of two runs of one method the mean, each run once, and nothing of runs without a
// bonus.
func TestSpreadOfTheBonusIsToldByMethod(t *testing.T) {
	run := func(id, method string, spread ...float64) *results.Record {
		r := &results.Record{ID: id, Method: method, Scalars: map[string]results.Points{}}
		for k, v := range spread {
			r.Scalars[spreadScalar] = append(r.Scalars[spreadScalar], results.Point{Frames: 6000 * (k + 1), Value: v})
		}
		return r
	}
	mace := run("a", "mace", 0.01, 0.5, 0.002)
	got := bonusSpread([]*results.Record{mace, run("c", "mappo"), run("d", "mappo-db", 0.05), mace, run("b", "mace", 0.02, 0.004)})
	want := "Standard deviation of the weighted bonus a step, first to last rollout batch: mace 0.015 to 0.003, mappo-db 0.05 to 0.05."
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := bonusSpread([]*results.Record{run("c", "mappo")}); got != "" {
		t.Errorf("of runs without a bonus: %q", got)
	}
}
