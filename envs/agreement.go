// SPDX-License-Identifier: Apache-2.0

package envs

import (
	"encoding/json"
	"fmt"
)

// Agreement says how closely a task follows recordings of the program that it was ported from. Every recorded step is
// repeated from the recorded state before it; the numbers are the largest absolute differences over all of them.
type Agreement struct {
	Source     string  `json:"source"`     // the original with its version: "vmas 1.5.2"
	Recordings int     `json:"recordings"` //
	Steps      int     `json:"steps"`      // that were repeated, summed over environments
	State      float64 `json:"state"`      // positions, velocities, angles
	Obs        float64 `json:"obs"`        //
	Reward     float64 `json:"reward"`     // of every agent, and of its parts
}

// agreements by the name of the task.
var agreements = map[string]Agreement{}

// RegisterAgreements makes known what the tests of a family of tasks measured: a JSON object from names of tasks to
// Agreement, which the same tests keep up to date. It panics on anything else: a programming error found at start-up.
func RegisterAgreements(data []byte) {
	var all map[string]Agreement
	if err := json.Unmarshal(data, &all); err != nil {
		panic(fmt.Sprintf("envs: measured agreements: %v", err))
	}
	for task, a := range all {
		agreements[task] = a
	}
}

// AgreementOf returns what is known of a task; ok is false where nothing was recorded.
func AgreementOf(task string) (a Agreement, ok bool) {
	a, ok = agreements[task]
	return a, ok
}
