// SPDX-License-Identifier: Apache-2.0

package cermiclib

import (
	"cmp"
	"slices"
	"strings"

	"cermic/cermiclib/experiment"
	"cermic/envs"
	"cermic/envs/conf"
)

// Description is how an experiment differs from a method's defaults at a budget.
type Description struct {
	Method  string
	Changes []string // settings that differ, "key=value", sorted
	Base    string   // the named budget that a custom one changes; else empty
	History string   // of a fork; see experiment.Config.History
}

// elseBudget stands in a label before the named budget that a custom one changes.
const elseBudget = "(else "

// String is the label: "mappo-cermic explore.alpha=0.5".
func (d Description) String() string {
	words := append([]string{d.Method}, d.Changes...)
	if d.Base != "" {
		words = append(words, elseBudget+d.Base+")")
	}
	if d.History != "" {
		words = append(words, "("+d.History+")")
	}
	return strings.Join(words, " ")
}

// CutBase splits a label into the label without its Base, and the Base, empty if there is none.
func CutBase(label string) (without, base string) {
	before, after, found := strings.Cut(label, " "+elseBudget)
	if !found {
		return label, ""
	}
	base, history, _ := strings.Cut(after, ")")
	return before + history, base
}

// Describe compares an experiment with the defaults of the method and the budget that its label names; reward is the
// task's default. A task or parts that are not registered, in no method, are an error.
func Describe(e experiment.Config, reward envs.Reward) (Description, error) {
	m, err := methodIn(e.Label(), e)
	if err != nil {
		return Description{}, err
	}
	b, err := BudgetOf(e)
	if err != nil {
		return Description{}, err
	}
	return compare(e, m, b, reward)
}

// MethodOf returns the method that an experiment's label names, or the label itself if it names none.
func MethodOf(e experiment.Config) string {
	m, err := methodIn(e.Label(), e)
	if err != nil {
		return e.Label()
	}
	return m.ID
}

// methodIn returns the method that a label begins with if e has its parts, else the first method whose parts e has. A
// combination that is no method keeps the one in the label.
func methodIn(label string, e experiment.Config) (Method, error) {
	name, _, _ := strings.Cut(label, " ")
	asked, err := FindMethod(name)
	if err == nil && asked.composes(e) {
		return asked, nil
	}
	if i := slices.IndexFunc(methods, func(m Method) bool { return m.composes(e) }); i >= 0 {
		return methods[i], nil
	}
	return asked, err
}

// BudgetOf returns the budget of e on its task. For a custom budget, it is the named budget in the label, which the
// custom one changes, or else TableBudget.
func BudgetOf(e experiment.Config) (Preset, error) {
	name := e.Budget.Name
	if name == CustomBudget {
		_, base := CutBase(e.Label())
		name = cmp.Or(base, TableBudget)
	}
	b, err := FindPreset(name)
	if err != nil {
		return b, err
	}
	return b.On(e.Task.Kind())
}

// compare lists how e differs from a method at a budget. Settings inside a part of another kind are compared with that
// kind's defaults at the budget. Budget names, seeds and forks are left out.
func compare(e experiment.Config, m Method, b Preset, reward envs.Reward) (d Description, err error) {
	reference, err := defaults(e.Task.Kind(), m, b, reward)
	if err != nil {
		return d, err
	}
	d.Method, d.History = m.ID, e.History()
	if e.Budget.Name != b.Budget.Name {
		d.Base = b.Budget.Name
	}
	before := conf.ByKey(reference)
	for _, parts := range []bool{true, false} { // parts first: they decide which keys there are
		for _, k := range conf.Keys(e) {
			same, known := before[k.Key]
			if (k.Kinds != nil) != parts || known && same == k.Value ||
				k.Key == "budget.name" || k.Key == "seed" || k.Key == "forks" {
				continue
			}
			d.Changes = append(d.Changes, k.Key+"="+k.Value)
			if err := b.set(&reference, k.Key, k.Value); err != nil {
				return d, err
			}
			before = conf.ByKey(reference)
		}
	}
	slices.Sort(d.Changes)
	return d, nil
}
