// SPDX-License-Identifier: Apache-2.0

package results

import (
	"encoding/json"
	"testing"
)

func TestTheLastForkIsWhereARecordBegins(t *testing.T) {
	for experiment, want := range map[string]struct {
		parent string
		at     int
	}{
		`{"forks":[{"at":100,"parent":"a","was":[]},{"at":300,"parent":"b","was":["x=1"]}]}`: {"b", 300},
		`{"seed":1}`: {}, `{"forks":[]}`: {}, `{"forks":3}`: {}, ``: {},
	} {
		r := Record{Experiment: json.RawMessage(experiment)}
		if parent, at := r.Fork(); parent != want.parent || at != want.at {
			t.Errorf("%s: parent %q at %d, want %q at %d", experiment, parent, at, want.parent, want.at)
		}
	}
}
