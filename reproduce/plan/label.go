// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/policy"
	"cermic/envs/conf"
	"cermic/reproduce/paper"
	"cermic/viz"
)

// description says how an experiment differs from what today's program trains by default. Labels are written from it whenever something
// is shown; nothing reads them back.
type description struct {
	method  string   // that the parts compose, else the one from which they differ least
	changes []string // settings that differ from the method's defaults at the budget, "key=value" as for -set, in order
	base    string   // of a changed budget the named one from which it differs least
	history string   // of a fork
	earlier bool     // by a program whose experiments had other settings, or whose revision of a part this program no longer trains
}

// label is the method's name followed by what differs; settings whose keys are in without are left out, as everything beside it has them.
func (d description) label(without ...string) string {
	changes := slices.DeleteFunc(slices.Clone(d.changes), func(c string) bool {
		key, _, _ := strings.Cut(c, "=")
		return slices.Contains(without, key) || ofBudget(key) && slices.Contains(without, budgetKey)
	})
	name := paper.Label(d.method, changes)
	if d.base != "" && !slices.Contains(without, budgetKey) {
		name += " (else " + d.base + ")"
	}
	if d.history != "" {
		name += " (" + d.history + ")"
	}
	if d.earlier {
		name += " (earlier program)"
	}
	return name
}

// describe compares an experiment, in its JSON form, with the defaults of today. An experiment of a task or of parts that are not
// registered here is an error.
func describe(text json.RawMessage) (description, error) {
	s, err := read(text)
	if err != nil {
		return description{}, err
	}
	return s.describe()
}

func (s stored) describe() (description, error) {
	task, err := FindTask(s.e.Task.Kind())
	if err != nil {
		return description{}, err
	}
	var budgets []Preset
	if i := slices.IndexFunc(Presets, func(b Preset) bool { return b.Budget.Name == s.e.Budget.Name }); i >= 0 {
		budgets = Presets[i : i+1]
	} else { // demo is the beginning of short: of two that are equally near, short gives the name
		budgets = slices.SortedStableFunc(slices.Values(Presets), func(a, b Preset) int { return isDemo(a) - isDemo(b) })
	}
	candidates := slices.DeleteFunc(Methods(), func(m Method) bool { return !m.composes(s.e) })
	if len(candidates) == 0 {
		candidates = slices.DeleteFunc(Methods(), func(m Method) bool { return keepsPolicy(m, s.e) != nil })
	}
	now := conf.Keys(s.e)
	var best description
	for _, b := range budgets {
		b, err := b.On(task.ID)
		if err != nil {
			return best, err
		}
		for _, m := range candidates {
			if best.method != "" && len(best.changes) == 0 {
				break // nothing is nearer
			}
			reference, err := defaults(task, m, b)
			if err != nil {
				return best, err
			}
			limit := math.MaxInt
			if best.method != "" {
				limit = len(best.changes)
			}
			changes, err := s.changes(now, reference, b, limit)
			if err != nil {
				return best, err
			}
			if len(changes) < limit {
				best = description{method: m.ID, changes: changes}
				if s.e.Budget.Name != b.Budget.Name {
					best.base = b.Budget.Name
				}
			}
		}
	}
	if best.method == "" {
		return best, errors.New("no method is registered that could be called so")
	}
	best.earlier, best.history = s.earlier(), s.e.History()
	return best, nil
}

// isDemo is 1 for the default budget.
func isDemo(b Preset) int {
	if b.Budget.Name == DefaultBudget {
		return 1
	}
	return 0
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

// changes lists which of the settings now differ from those of reference, as sorted assignments; settings inside a part of another kind are
// compared with that kind's defaults at the budget. Names of budgets and seeds have columns of their own and are left out. It ends at
// the limit, from which on nobody needs more.
func (s stored) changes(now []conf.KeyDoc, reference experiment.Config, budget Preset, limit int) ([]string, error) {
	out := slices.Clone(s.unread)
	for _, key := range s.missing {
		out = append(out, key+"="+viz.Missing)
	}
	then := conf.Keys(reference)
	for _, kinds := range []bool{true, false} { // parts first: they decide which keys there are
		for _, now := range now {
			if (now.Kinds != nil) != kinds || now.Key == "budget.name" || now.Key == "seed" || now.Key == "forks" {
				continue
			}
			if slices.ContainsFunc(s.missing, func(m string) bool { return m == now.Key || strings.HasPrefix(now.Key, m+".") }) {
				continue
			}
			if before, ok := FindKey(then, now.Key); ok && before == now.Value {
				continue
			}
			if len(out) >= limit {
				return out, nil
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

// title labels an experiment that was just composed.
func title(e experiment.Config) (string, error) {
	d, err := stored{e: e}.describe()
	return d.label(), err
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
