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
