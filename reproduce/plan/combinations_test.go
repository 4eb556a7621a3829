// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"strings"
	"testing"

	"cermic/cermiclib"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
)

// TestACombinationThatIsAMethodIsThatMethodsRun, with its identity and its name.
func TestACombinationThatIsAMethodIsThatMethodsRun(t *testing.T) {
	for _, b := range cermiclib.Presets {
		for _, c := range []struct{ method, set, like string }{
			{"mappo", "explore=epsilon", "mappo-eps"}, {"mappo", "policy=cpm", "cpm"}, {"mappo-cermic", "explore=db", "mappo-db"},
			{"mace", "explore=none learner.critic=", "mappo"}, {"qmix", "explore=cermic", "qmix-cermic"},
			{"mappo", "learner=q task.discrete=product9", "qmix"}, {"qmix", "learner=mappo task.discrete=none", "mappo"},
		} {
			e := configure(t, Request{Task: "balance", Method: c.method, Budget: b.Budget.Name, Set: strings.Fields(c.set), Seed: 3})
			want := configure(t, Request{Task: "balance", Method: c.like, Budget: b.Budget.Name, Seed: 3})
			if e.Method != c.like || !reflect.DeepEqual(e, want) {
				t.Errorf("%s, %s %s is called %q and is %+v, want %+v", b.Budget.Name, c.method, c.set, e.Method, e, want)
			}
		}
	}
}

// TestSettingsStandAboveTheSchedule, wherever they are written.
func TestSettingsStandAboveTheSchedule(t *testing.T) {
	for _, c := range []struct {
		set       []string
		key, want string
	}{
		{[]string{"explore.egreedy_anneal_frames=7", "explore=epsilon"}, "explore.egreedy_anneal_frames", "7"},
		{[]string{"explore.egreedy_anneal_frames=7", "explore.kind=epsilon"}, "explore.egreedy_anneal_frames", "7"},
		{[]string{`explore={"kind":"epsilon","egreedy_anneal_frames":7}`}, "explore.egreedy_anneal_frames", "7"},
		{[]string{"explore.n_neg=4", "explore=cermic"}, "explore.cermic_steps", "25"},
		{[]string{"explore=ices", "explore=cermic"}, "explore.cermic_steps", "25"}, // the last one counts
		{[]string{"explore.int_anneal=linear_to_zero", "explore=db"}, "explore.int_anneal_frames", "600000"},
		{[]string{"explore.int_anneal_frames=3000000", "explore.int_anneal=linear_to_zero", "explore=mace"}, "explore.int_anneal_frames", "3000000"},
		{[]string{`explore={"kind":"db","int_anneal":"linear_to_zero"}`}, "explore.int_anneal_frames", "600000"},
		{[]string{`explore={"kind":"db","int_anneal":"linear_to_zero","int_anneal_frames":9}`}, "explore.int_anneal_frames", "9"},
		{[]string{"explore=db"}, "explore.int_anneal_frames", "3000000"}, // read by nobody
	} {
		e := configure(t, Request{Task: "balance", Method: "mappo", Budget: "short", Set: c.set})
		if got, ok := conf.Get(e, c.key); !ok || got != c.want {
			t.Errorf("%v: %s is %q, want %s", c.set, c.key, got, c.want)
		}
	}
}

// TestLabelsAreRequests: a run is called by the method that was asked for and its changes, or by the method that its
// parts make up. Asked for by its label, a run is the same one.
func TestLabelsAreRequests(t *testing.T) {
	for _, c := range []struct{ method, set, want string }{
		{"mappo", "policy=gru", "mappo policy=gru"},
		{"mace", "explore=none learner.critic= policy=gru", "mace explore=none learner.critic= policy=gru"},
		{"mappo-db", "policy=gru", "mappo-db policy=gru"},
		{"mappo", "explore=ices", "mappo explore=ices"},
		{"qplex-ices", "explore=none", "qplex"},
		{"cpm", "explore=db", "cpm explore=db"},
		{"mappo-db", "policy=cpm", "mappo-db policy=cpm"},
		{"qmix", "explore=ices explore.ices_steps=450", "qmix explore.ices_steps=450 explore=ices"},
		{"qmix", "learner.mixer=qplex", "qplex learner.double_q=false"},
		{"qmix", "learner.mixer=spectra policy=gru", "qmix learner.mixer=spectra policy=gru"},
		{"mappo-cermic-literal", "explore.alpha=1", "mappo-cermic-literal explore.alpha=1"},
	} {
		e := configure(t, Request{Task: "balance", Method: c.method, Budget: "short", Set: strings.Fields(c.set)})
		id := must.Get(e.ID())(t)
		if e.Method != c.want {
			t.Errorf("%s %s is called %q, want %q", c.method, c.set, e.Method, c.want)
		}
		words := strings.Fields(e.Method)
		if again, err := configure(t, Request{Task: "balance", Method: words[0], Budget: "short", Set: words[1:]}).ID(); err != nil || again != id {
			t.Errorf("%q is run %s, but asked for by that label %s (%v)", e.Method, id, again, err)
		}
	}
}
