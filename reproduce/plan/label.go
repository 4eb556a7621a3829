// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"cermic/cermiclib"
	"cermic/cermiclib/experiment"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/viz"
)

// description is how a stored run differs from what today's program trains by default.
type description struct {
	cermiclib.Description
	history string // of a fork
	earlier bool   // trained by a program with other settings or with a part that this program refuses
}

// label is the method's name and the changes. Settings whose keys are in without are left out, as all runs beside it
// have them.
func (d description) label(without ...string) string {
	shown := d.Description
	shown.Changes = slices.DeleteFunc(slices.Clone(d.Changes), func(c string) bool {
		key, _, _ := strings.Cut(c, "=")
		return slices.Contains(without, key) || ofBudget(key) && slices.Contains(without, budgetKey)
	})
	if slices.Contains(without, budgetKey) {
		shown.Base = ""
	}
	name := shown.String()
	if d.history != "" {
		name += " (" + d.history + ")"
	}
	if d.earlier {
		name += " (earlier program)"
	}
	return name
}

// describe compares a stored run with today's defaults of the method and the budget that its label names. A run of a
// task or of parts that are not registered here is an error.
func describe(r *results.Record) (description, error) {
	s, err := read(r.Experiment)
	if err != nil {
		return description{}, err
	}
	s.e.Method = r.Method
	return s.describe()
}

// describe compares an experiment with today's defaults of the method and the budget that its label names.
func (s stored) describe() (d description, err error) {
	task, err := FindTask(s.e.Task.Kind())
	if err != nil {
		return d, err
	}
	if d.Description, err = cermiclib.Describe(s.e, usualReward(task)); err != nil {
		return d, err
	}
	d.Changes = slices.DeleteFunc(d.Changes, func(c string) bool {
		key, _, _ := strings.Cut(c, "=")
		return slices.ContainsFunc(s.missing, func(m string) bool { return m == key || strings.HasPrefix(key, m+".") })
	})
	d.Changes = append(d.Changes, s.unread...)
	for _, key := range s.missing {
		d.Changes = append(d.Changes, key+"="+viz.Missing)
	}
	slices.Sort(d.Changes)
	invalid := errors.Join(s.e.Learner.Validate(), s.e.Policy.Validate(), s.e.Explore.Validate())
	d.earlier, d.history = len(s.unread)+len(s.missing) > 0 || invalid != nil, s.e.History()
	return d, nil
}

// stored is an experiment from its JSON, as far as this program can read it. It is not validated, so that runs of an
// earlier program can be shown.
type stored struct {
	e       experiment.Config
	unread  []string // settings that the program no longer has, "key=value"
	missing []string // keys of settings that were added since
}

// read reads an experiment. Text that is none, or whose parts are not registered here, is an error.
func read(text json.RawMessage) (s stored, err error) {
	values, err := conf.Values(text)
	if err != nil {
		return s, err
	}
	if conf.Unmarshal(text, &s.e) != nil {
		byDepth := slices.SortedFunc(maps.Keys(values), func(a, b string) int { // parts before their settings
			return cmp.Or(strings.Count(a, ".")-strings.Count(b, "."), strings.Compare(a, b))
		})
		for _, key := range byDepth {
			if conf.Set(&s.e, key, values[key]) != nil {
				s.unread = append(s.unread, key+"="+values[key])
			}
		}
	}
	if s.e.Task == nil || s.e.Learner == nil || s.e.Policy == nil || s.e.Explore == nil {
		return s, errors.New("its task, learner, policy or explorer is not registered here")
	}
	now, err := conf.Marshal(s.e)
	if err != nil {
		return s, err
	}
	today, err := conf.Values(now)
	for _, key := range slices.Sorted(maps.Keys(today)) {
		within := func(outer string) bool { return strings.HasPrefix(key, outer+".") }
		if _, ok := values[key]; !ok && !slices.ContainsFunc(s.missing, within) {
			s.missing = append(s.missing, key)
		}
	}
	return s, err
}
