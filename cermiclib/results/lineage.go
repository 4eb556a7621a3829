// SPDX-License-Identifier: Apache-2.0

package results

import "encoding/json"

// Fork returns the run that r branched off, and the frames that run had trained there; an empty ID if r began from nothing.
// The lines of a fork begin after that place: what came before is its parent's.
func (r *Record) Fork() (parent string, at int) {
	var e struct {
		Forks []struct {
			Parent string `json:"parent"`
			At     int    `json:"at"`
		} `json:"forks"`
	}
	if json.Unmarshal(r.Experiment, &e) != nil || len(e.Forks) == 0 {
		return "", 0
	}
	last := e.Forks[len(e.Forks)-1]
	return last.Parent, last.At
}
