// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"strings"
	"testing"

	"cermic/envs/envtest/must"
	"cermic/reproduce/plan"
)

func TestTaskSummaryHasTheSettingsAndTheMeasuredAgreement(t *testing.T) {
	for name, says := range map[string][]string{
		"balance":        {"package_mass=5", "1360 steps of vmas 1.5.2", "300 when trained, 100 when scored"},
		"clean_up":       {"11 × 11 cells", "and 3 numbers", "scored by mean return", "of Melting Pot 2.4.1"},
		"protoss_5_vs_5": {"92 numbers", "of SMACv2's interface", "obs_wipe=true"},
	} {
		task := must.Get(plan.FindTask(name))(t)
		card := must.Get(TaskSummary(task))(t)
		text := card.Text()
		for _, want := range says {
			if !strings.Contains(text, want) {
				t.Errorf("the card does not say %q:\n%s", want, text)
			}
		}
	}
}

func TestANoiseRegionOfNoSideIsNoNoise(t *testing.T) {
	for side, on := range map[float64]bool{0: false, 0.5: true} {
		cfg := must.Get(WithNoise("vmas/flocking", side))(t)
		noise := cfg.Shared().Noise
		if noise.On() != on {
			t.Errorf("side %g: noise is %v", side, noise.On())
		}
	}
	if _, err := WithNoise("vmas/floking", 1); err == nil {
		t.Error("an unknown task has noise")
	}
}
