// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"strings"

	"cermic/cermiclib/nn"
	"cermic/envs"
)

// Part is a network of an experiment: a learner's, or one of its explorer's.
type Part struct {
	Name       string // its scope: "actor", "cermic/encoder"; with the group's name before it where there are several
	Parameters int    // trainable numbers
	Frozen     int    // numbers that no optimiser changes: momentum copies, targets, random targets of novelty
}

// Parts builds an experiment, as if to train it, and counts the variables of each network. Networks of an explorer are
// counted one by one, its memory as a whole. The spec is that of the built environment.
func Parts(e Config) ([]Part, *envs.Spec, error) {
	backend, err := nn.OpenPure() // nothing is computed
	if err != nil {
		return nil, nil, err
	}
	t, err := newTrainer(e, backend, "")
	if err != nil {
		return nil, nil, err
	}
	defer t.close()
	var parts []Part
	at := map[string]int{}
	for _, g := range t.groups {
		for _, v := range nn.Variables(g.build.Store, "") {
			path := strings.Split(strings.TrimPrefix(v.Path(), "/"), "/")
			if strings.Contains(v.Path(), "/adam/") {
				continue
			}
			name := g.path() + path[0]
			if len(path) > 2 && !strings.HasPrefix(path[1], "layer_") && path[1] != "out" {
				name += "/" + path[1]
			}
			i, ok := at[name]
			if !ok {
				i = len(parts)
				at[name], parts = i, append(parts, Part{Name: name})
			}
			if size := v.Shape().Size(); v.Trainable {
				parts[i].Parameters += size
			} else {
				parts[i].Frozen += size
			}
		}
	}
	return parts, t.spec, nil
}
