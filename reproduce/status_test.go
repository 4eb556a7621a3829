// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"testing"

	"cermic/cermiclib/results"
)

// A run of an earlier program is scored by what its task says, whatever else of its experiment is no setting any more.
func TestStatusNamesTheMetricOfRunsOfEarlierPrograms(t *testing.T) {
	for experiment, want := range map[string]string{
		`{"task":{"kind":"smac/zerg_5_vs_5"},"policy":{"kind":"cpm","cpm_pred_tau":0.001}}`: "win rate",
		`{"task":{"kind":"vmas/gone"}}`: "",
		`{}`:                            "",
	} {
		if got := metric(&results.Record{Experiment: json.RawMessage(experiment)}, map[string]string{}); got != want {
			t.Errorf("%s: %q, want %q", experiment, got, want)
		}
	}
}
