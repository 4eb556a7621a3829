// SPDX-License-Identifier: Apache-2.0

package cermiclib

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/cermic"
	"cermic/cermiclib/explore"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
)

// TestMethodsOfOneExplorer: a kind's registered default belongs to the first method of that kind, and methods named as
// in the paper have the paper's r^i.
func TestMethodsOfOneExplorer(t *testing.T) {
	for _, kind := range conf.Kinds[explore.Config]() {
		c := must.Get(conf.New[explore.Config](kind))(t)
		i := slices.IndexFunc(methods, func(m Method) bool { return m.Explore.Kind() == kind })
		if i >= 0 && !reflect.DeepEqual(c, methods[i].Explore) {
			t.Errorf("explore=%s is %+v, of %s %+v", kind, c, methods[i].ID, methods[i].Explore)
		}
	}
	for _, m := range methods {
		c, ok := m.Explore.(cermic.Config)
		if ours := strings.HasSuffix(m.ID, "-ucb"); ok && (c.Form == cermic.Form(cermic.KL{})) == ours {
			t.Errorf("%s has the form %+v", m.ID, c.Form)
		}
	}
}

// A short name means one task; where there are two, it is refused.
func TestShortNamesOfTasksMeanOne(t *testing.T) {
	for _, c := range []struct {
		known     []string
		name, got string
		err       string
	}{
		{[]string{"acme/balance", "vmas/wheel"}, "balance", "acme/balance", ""},
		{[]string{"acme/balance", "vmas/balance"}, "vmas/balance", "vmas/balance", ""},
		{[]string{"acme/balance", "balance"}, "balance", "balance", ""},
		{[]string{"acme/balance", "vmas/balance"}, "balance", "", `task "balance" is one of acme/balance, vmas/balance: give its full name`},
		{[]string{"vmas/balance"}, "balence", "", `unknown task "balence"`},
	} {
		got, err := findTask(c.name, c.known)
		if got != c.got || (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%s of %v: got %q, %v", c.name, c.known, got, err)
		}
	}
}
