// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"slices"
	"strings"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
)

// labelOf is the method's name and the changes. Settings whose keys are in without are left out, as all runs beside it
// have them.
func labelOf(d cermiclib.Description, without []string) string {
	d.Changes = slices.DeleteFunc(slices.Clone(d.Changes), func(c string) bool {
		key, _, _ := strings.Cut(c, "=")
		return slices.Contains(without, key) || ofBudget(key) && slices.Contains(without, budgetKey)
	})
	if slices.Contains(without, budgetKey) {
		d.Base = ""
	}
	return d.String()
}

// describeRun compares a stored run with today's defaults of the method and the budget that its label names. A run that
// this program cannot read is an error.
func describeRun(r *results.Record) (d cermiclib.Description, err error) {
	e, err := experiment.Of(r)
	if err != nil {
		return d, err
	}
	if e.Task == nil || e.Learner == nil || e.Policy == nil || e.Explore == nil {
		return d, errors.New("it lacks a task, learner, policy or explorer")
	}
	return describe(e)
}

// describe compares an experiment with today's defaults of the method and the budget that its label names.
func describe(e experiment.Config) (d cermiclib.Description, err error) {
	task, err := FindTask(e.Task.Kind())
	if err != nil {
		return d, err
	}
	return cermiclib.Describe(e, usualReward(task))
}
