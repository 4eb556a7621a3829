// SPDX-License-Identifier: Apache-2.0

package vmas

import (
	"testing"

	"cermic/envs"
	"cermic/envs/rng"
)

// greedy is a task that observes more than it has declared.
type greedy struct{ declared, writes int }

func (g greedy) World() WorldSpec {
	w := DefaultWorld()
	w.Agents = append(w.Agents, DefaultAgent("agent", 0.05), DefaultAgent("other", 0.05))
	w.Obs = g.declared
	return w
}

func (greedy) Reset(*World, int, *rng.Rand)             {}
func (greedy) Reward(*World, int, []float32)            {}
func (greedy) Outcome(*World, int) (success, over bool) { return false, false }
func (g greedy) Observe(w *World, c, agent int, dst []float32) {
	for k := range g.writes {
		dst[k] = 1
	}
}

func TestMoreNumbersThanDeclaredAreNamed(t *testing.T) {
	for writes, want := range map[int]string{6: "", 8: "mine/greedy: Observe wrote 8 numbers, w.Obs is 6: set it in World"} {
		env, err := New("mine/greedy", envs.DefaultCommon(), DefaultSettings(), greedy{6, writes}, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		step := envs.NewStep(env.Spec())
		env.Reset(nil, step)
		got := ""
		if err := envs.Err(env); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%d numbers: got %q, want %q", writes, got, want)
		}
	}
}
