// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"errors"
	"fmt"
	"slices"

	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/viz"
)

// sweep is the runs of several methods on one task, for each value of one setting.
type sweep struct {
	arms    // [method × values]
	methods []string
	values  []int
}

// newSweep lists the experiments of methods, at least one; settings returns the settings of a value; changes, each "key=value"
// as for -set, are of methods with CERMIC, as in the paper's tables.
func newSweep(a arms, methods []string, values []int, changes []string, settings func(value int) []string) (sweep, error) {
	if len(methods) == 0 {
		return sweep{}, errors.New("a figure is of one method or more: name them, for example mappo, with which the others are compared")
	}
	s := sweep{a, methods, values}
	for _, method := range methods {
		for _, v := range values {
			s.add(method, method, slices.Concat(settings(v), ofCERMIC(method, changes))...)
		}
	}
	return s, s.err
}

// ofCERMIC are changes for a method with CERMIC, none for another one.
func ofCERMIC(method string, changes []string) []string {
	if m, err := paper.FindMethod(method); err == nil && m.Group != paper.Ours {
		return nil
	}
	return changes
}

// partsOf are the settings that split the sparse reward into so many partial rewards.
func partsOf(k int) []string {
	return []string{"task.reward=sparse", fmt.Sprintf("task.milestones=%d", k)}
}

// measure takes one number a seed from the complete runs of each method and value, [method][value][seed].
func (s sweep) measure(st *results.Store, of func(g results.Group, value int) ([]float64, error)) ([][][]float64, error) {
	gs, err := complete(st, s.list)
	if err != nil {
		return nil, err
	}
	out := make([][][]float64, len(s.methods))
	for i, g := range gs {
		seeds, err := of(g, s.values[i%len(s.values)])
		if err != nil {
			return nil, err
		}
		out[i/len(s.values)] = append(out[i/len(s.values)], seeds)
	}
	return out, nil
}

// bars are a group of bars for each value, one bar for each method.
func (s sweep) bars(measured [][][]float64) []viz.Group {
	groups := make([]viz.Group, len(s.values))
	for k, v := range s.values {
		groups[k].Label = fmt.Sprint(v)
		for m, method := range s.methods {
			groups[k].Bars = append(groups[k].Bars, meanBar(method, measured[m][k]))
		}
	}
	return groups
}

// rows are a row of cells for each method, one cell for each value.
func (s sweep) rows(measured [][][]float64, cell func(seeds []float64) string) (rows [][]string) {
	for m, method := range s.methods {
		row := []string{paper.DisplayName(method)}
		for _, seeds := range measured[m] {
			row = append(row, cell(seeds))
		}
		rows = append(rows, row)
	}
	return rows
}

// compare adds the difference of each method from the first one, value by value; where names what the values are of.
func (s sweep) compare(d *paper.Differences, measured [][][]float64, where ...string) {
	for k, v := range s.values {
		var here [][]float64
		for m := range s.methods {
			here = append(here, measured[m][k])
		}
		d.AddEach(here, displayNames(s.methods), append(slices.Clone(where), fmt.Sprint(v))...)
	}
}

// displayNames are the printed names of several methods.
func displayNames(methods []string) (out []string) {
	for _, method := range methods {
		out = append(out, paper.DisplayName(method))
	}
	return out
}
