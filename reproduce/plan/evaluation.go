// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
)

// Evaluation returns the experiment of a run of st, whose ID may be shortened, and a copy of it with changed settings
// of the task and of evaluations.
func Evaluation(st *results.Store, id string, settings []string) (trained, as experiment.Config, err error) {
	if trained, err = Stored(st, id); err != nil {
		return trained, as, err
	}
	as = trained
	for _, assignment := range settings {
		if err := allowed(assignment); err != nil {
			return trained, as, err
		}
		key, value, _ := strings.Cut(assignment, "=")
		key = strings.TrimSpace(key)
		if part, _, _ := strings.Cut(key, "."); part != "task" && part != "budget" {
			return trained, as, fmt.Errorf("-set %s: a trained run can be evaluated on other settings of task and budget only", key)
		}
		if slices.Contains([]string{"budget.frames", "budget.eval_every", "budget.name"}, key) {
			return trained, as, fmt.Errorf("-set %s changes the training; an evaluation reads budget.eval_episodes, "+
				"budget.sampled and the settings of the task", key)
		}
		if err := conf.Set(&as, key, value); err != nil {
			return trained, as, err
		}
	}
	return trained, as, as.Validate()
}
