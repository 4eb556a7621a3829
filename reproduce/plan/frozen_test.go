// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"cermic/cermiclib"
	"cermic/envs/envtest/must"
)

var regenIDs = flag.Bool("regen", false, "write testdata/ids.txt anew")

// frozen are requests whose runs must keep their identity, and so the JSON of their settings. They are every method
// at every budget on one task of each kind, and parts that a setting chooses, with the schedule of their budget.
func frozen() []Request {
	var all []Request
	for _, b := range cermiclib.Presets {
		for _, task := range []string{"vmas/balance", "vmas/simple_adversary", "explore/lock", "meltingpot/clean_up", "smac/protoss_5_vs_5"} {
			for _, m := range cermiclib.Methods() {
				all = append(all, Request{Task: task, Method: m.ID, Budget: b.Budget.Name, Seed: 1})
			}
		}
		for _, c := range []struct{ method, set string }{
			{"mappo", "explore=cermic"}, {"mappo", "explore=db"}, {"mappo", "explore=epsilon"}, {"mappo", "explore=ices"}, {"mappo", "explore=mace"},
			{"mappo", "policy=cpm"}, {"mappo", "policy=gru"}, {"qmix", "explore=ices"}, {"qmix", "explore=cermic"},
			{"mappo-cermic", "explore.memory=mlp"}, {"mappo-cermic", "explore.memory=gru"}, {"mappo-cermic", "explore.memory=graph"},
		} {
			all = append(all, Request{Task: "vmas/balance", Method: c.method, Budget: b.Budget.Name, Set: []string{c.set}, Seed: 1})
		}
	}
	return all
}

// frozenLine is the beginning of a request's line in testdata/ids.txt.
func (q Request) frozenLine() string {
	return strings.Join(append([]string{q.Budget, q.Task, q.Method}, q.Set...), " ")
}

// A run is found by its identity. A change that alters one here loses that run for all users who trained it. Tasks
// and methods without a line in the file are no mistake; go test ./reproduce/plan -run Frozen -regen adds them.
func TestIdentitiesOfRunsAreFrozen(t *testing.T) {
	const file = "testdata/ids.txt"
	if *regenIDs {
		var out strings.Builder
		for _, q := range frozen() {
			id := must.Get(configure(t, q).ID())(t)
			fmt.Fprintln(&out, q.frozenLine(), id)
		}
		must.Do(t, os.WriteFile(file, []byte(out.String()), 0o644))
	}
	data := must.Get(os.ReadFile(file))(t)
	want := map[string]string{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		at := strings.LastIndex(line, " ")
		want[line[:at]] = line[at+1:]
	}
	found := 0
	for _, q := range frozen() {
		id := must.Get(configure(t, q).ID())(t)
		if before, ok := want[q.frozenLine()]; ok {
			found++
			if id != before {
				t.Errorf("%s is run %s, was %s", q.frozenLine(), id, before)
			}
		}
	}
	if found != len(want) {
		t.Errorf("%d of %d runs can still be asked for", found, len(want))
	}
}
