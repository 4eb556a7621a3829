// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/policy"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/reproduce/paper"
	"cermic/viz"
)

// description is how an experiment differs from what today's program trains by default.
type description struct {
	method  string
	changes []string // settings that differ from the method's defaults at the budget, "key=value", sorted
	base    string   // the named budget that a custom one changes
	history string   // of a fork
	earlier bool     // trained by a program with other settings or with a part that this program refuses
}

// elseBudget stands in a label before the named budget that a custom one changes.
const elseBudget = "(else "

// label is the method's name followed by what differs; settings whose keys are in without are left out, as everything beside it has them.
func (d description) label(without ...string) string {
	changes := slices.DeleteFunc(slices.Clone(d.changes), func(c string) bool {
		key, _, _ := strings.Cut(c, "=")
		return slices.Contains(without, key) || ofBudget(key) && slices.Contains(without, budgetKey)
	})
	name := paper.Label(d.method, changes)
	if d.base != "" && !slices.Contains(without, budgetKey) {
		name += " " + elseBudget + d.base + ")"
	}
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
	return s.describe(r.Method)
}

// describe compares an experiment with the defaults of the method and the budget in a label.
func (s stored) describe(label string) (description, error) {
	method, err := methodIn(label, s.e)
	if err != nil {
		return description{}, err
	}
	budget, err := budgetIn(label, s.e)
	if err != nil {
		return description{}, err
	}
	return s.compare(method, budget)
}

// methodIn returns the method that a label begins with if e has its parts, else the first method whose parts e has. A
// combination that is no method keeps the one in the label.
func methodIn(label string, e experiment.Config) (Method, error) {
	all, name := Methods(), strings.SplitN(label, " ", 2)[0]
	asked := slices.IndexFunc(all, func(m Method) bool { return m.ID == name })
	if asked < 0 || !all[asked].composes(e) {
		if i := slices.IndexFunc(all, func(m Method) bool { return m.composes(e) }); i >= 0 {
			asked = i
		}
	}
	if asked < 0 {
		return Method{}, fmt.Errorf("no registered method has the parts of %q", label)
	}
	return all[asked], nil
}

// budgetIn returns the budget of e on its task; of a custom one the budget that it changes, which the label names.
func budgetIn(label string, e experiment.Config) (Preset, error) {
	name := e.Budget.Name
	if name == CustomBudget {
		_, after, _ := strings.Cut(label, elseBudget)
		name = cmp.Or(strings.SplitN(after, ")", 2)[0], TableBudget)
	}
	b, err := FindPreset(name)
	if err != nil {
		return b, err
	}
	return b.On(e.Task.Kind())
}

// compare lists how the experiment differs from a method at a budget.
func (s stored) compare(m Method, b Preset) (d description, err error) {
	task, err := FindTask(s.e.Task.Kind())
	if err != nil {
		return d, err
	}
	reference, err := defaults(task, m, b)
	if err != nil {
		return d, err
	}
	d = description{method: m.ID, earlier: s.earlier(), history: s.e.History()}
	if s.e.Budget.Name != b.Budget.Name {
		d.base = b.Budget.Name
	}
	d.changes, err = s.changes(reference, b)
	return d, err
}

// stored is an experiment from its JSON, as far as this program can read it. It is not validated: what an earlier program trained must
// remain to be seen.
type stored struct {
	e       experiment.Config
	unread  []string // settings that the program no longer has, "key=value"
	missing []string // keys of settings that were added since
}

// read reads an experiment. An error says that it is none, or that its parts are not registered here.
func read(text json.RawMessage) (s stored, err error) {
	values, err := conf.Values(text)
	if err != nil {
		return s, err
	}
	if conf.Unmarshal(text, &s.e) != nil {
		for _, key := range outerFirst(slices.Collect(maps.Keys(values))) { // one by one, and without those that cannot be set
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

// earlier reports whether the program has changed since in what the experiment depends on.
func (s stored) earlier() bool {
	return len(s.unread)+len(s.missing) > 0 || errors.Join(s.e.Learner.Validate(), s.e.Policy.Validate(), s.e.Explore.Validate()) != nil
}

// changes lists the settings that differ from those of reference, as sorted assignments. Settings inside a part of
// another kind are compared with that kind's defaults at the budget. Budget names and seeds are left out, since tables
// have columns for them.
func (s stored) changes(reference experiment.Config, budget Preset) ([]string, error) {
	out := slices.Clone(s.unread)
	for _, key := range s.missing {
		out = append(out, key+"="+viz.Missing)
	}
	all, then := conf.Keys(s.e), conf.Keys(reference)
	for _, kinds := range []bool{true, false} { // parts first: they decide which keys there are
		for _, now := range all {
			if (now.Kinds != nil) != kinds || now.Key == "budget.name" || now.Key == "seed" || now.Key == "forks" {
				continue
			}
			if slices.ContainsFunc(s.missing, func(m string) bool { return m == now.Key || strings.HasPrefix(now.Key, m+".") }) {
				continue
			}
			if before, ok := FindKey(then, now.Key); ok && before == now.Value {
				continue
			}
			out = append(out, now.Key+"="+now.Value)
			if err := budget.set(&reference, now.Key, now.Value); err != nil {
				return nil, err
			}
			then = conf.Keys(reference)
		}
	}
	slices.Sort(out)
	return out, nil
}

// keepsPolicy refuses e if it has lost a policy that is the method's own, without which the method is another one.
func keepsPolicy(method Method, e experiment.Config) error {
	if method.Policy.Kind() == policy.DefaultMLP().Kind() || method.Policy.Kind() == e.Policy.Kind() {
		return nil
	}
	plain := "mappo"
	if Mixer(e.Learner) != "" {
		plain = "qmix"
	}
	return fmt.Errorf("%s acts by a policy of its own, which policy=%s replaces: set policy.core=gru or mlp for another network inside that, or ask for %s",
		method.ID, e.Policy.Kind(), plain)
}

// FindKey returns the value of key among keys.
func FindKey(keys []conf.KeyDoc, key string) (string, bool) {
	i := slices.IndexFunc(keys, func(k conf.KeyDoc) bool { return k.Key == key })
	if i < 0 {
		return "", false
	}
	return keys[i].Value, true
}
