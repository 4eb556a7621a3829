// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"testing"

	"cermic/cermiclib/experiment"
	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/reproduce/plan"
)

func TestMain(m *testing.M) { libtest.Main(m) }

// configure is New for requests that must succeed.
func configure(t *testing.T, q plan.Request) experiment.Config {
	t.Helper()
	e, err := plan.New(q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return e
}

// recorded is a complete run of what is asked for that scores its seed.
func recorded(t *testing.T, q plan.Request) *results.Record {
	t.Helper()
	return libtest.Record(t, configure(t, q), q.Method)
}
