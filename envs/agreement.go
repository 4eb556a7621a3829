// SPDX-License-Identifier: Apache-2.0

package envs

import (
	"encoding/json"
	"fmt"
)

// Agreement measures how closely a task follows recordings of its original. Tests repeat every recorded step from the
// recorded state before it; the errors are the largest absolute differences.
type Agreement struct {
	Source     string  `json:"source"`     // the original with its version: "vmas 1.5.2"
	Recordings int     `json:"recordings"` //
	Steps      int     `json:"steps"`      // repeated steps, summed over environments
	State      float64 `json:"state"`      // positions, velocities, angles
	Obs        float64 `json:"obs"`        //
	Reward     float64 `json:"reward"`     // of every agent, and of its parts
}

// agreements holds the measured agreement of each task.
var agreements = map[string]Agreement{}

// RegisterAgreements registers the measured agreements of a family of tasks, as a JSON object from task names to
// Agreement. The family's tests keep it up to date. It panics on malformed data, a programming error.
func RegisterAgreements(data []byte) {
	var all map[string]Agreement
	if err := json.Unmarshal(data, &all); err != nil {
		panic(fmt.Sprintf("envs: measured agreements: %v", err))
	}
	for task, a := range all {
		agreements[task] = a
	}
}

// AgreementOf returns the agreement of a task; ok is false if there are no recordings.
func AgreementOf(task string) (a Agreement, ok bool) {
	a, ok = agreements[task]
	return a, ok
}
