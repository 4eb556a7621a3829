// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"cermic/cermiclib"
	"cermic/cermiclib/explore"
	"cermic/cermiclib/learn"
	"cermic/internal/must"
)

// TestExplorersTrainAsOftenAsTheirLearners: at every budget, the world models of ICES take a step for each of the value
// learner's, and the hindsight of MACE at least as many as the policy.
func TestExplorersTrainAsOftenAsTheirLearners(t *testing.T) {
	for _, b := range cermiclib.Presets {
		for _, task := range []string{"navigation", "clean_up"} {
			e := configure(t, Request{Task: task, Method: "qplex-ices", Budget: b.Budget.Name})
			if got, want := e.Explore.(explore.ICES).Steps, e.Learner.(learn.Q).Steps; got != want {
				t.Errorf("%s at %s: %d steps of the world models, the learner takes %d", task, b.Budget.Name, got, want)
			}
			for _, method := range []string{"mace", "mace-native"} {
				e := configure(t, Request{Task: task, Method: method, Budget: b.Budget.Name})
				l := e.Learner.(learn.MAPPO)
				if got, want := e.Explore.(explore.MACE).HindsightSteps, l.Epochs*l.Frames/l.Minibatch; got < want {
					t.Errorf("%s at %s: %d steps of %s's hindsight, the policy takes %d", task, b.Budget.Name, got, method, want)
				}
			}
		}
	}
}

// TestQPLEXAloneIsQPLEXICESWithoutItsExplorer, to the last setting.
func TestQPLEXAloneIsQPLEXICESWithoutItsExplorer(t *testing.T) {
	q := Request{Task: "navigation", Method: "qplex", Budget: "short", Seed: 3}
	id := must.Get(configure(t, q).ID())(t)
	q.Method, q.Set = "qplex-ices", []string{"explore=none"}
	e := configure(t, q)
	if other, err := e.ID(); err != nil || other != id || e.Method != "qplex" {
		t.Errorf("qplex-ices explore=none is run %s, called %q, want qplex's %s (%v)", other, e.Method, id, err)
	}
}
