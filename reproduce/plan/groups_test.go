// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/envtest/must"
	"cermic/reproduce/paper"
)

// recorded is a complete run of the requested experiment that scores its seed. edits change the settings of its
// explorer, as an earlier program would have written them.
func recorded(t *testing.T, q Request, edits ...func(explore map[string]json.RawMessage)) *results.Record {
	t.Helper()
	e := configure(t, q)
	r := libtest.Record(t, e, e.Label())
	for _, edit := range edits {
		var all, explore map[string]json.RawMessage
		must.Do(t, errors.Join(json.Unmarshal(r.Experiment, &all), json.Unmarshal(all["explore"], &explore)))
		edit(explore)
		all["explore"] = must.Get(json.Marshal(explore))(t)
		r.Experiment = must.Get(json.Marshal(all))(t)
		sum := sha256.Sum256(r.Experiment)
		r.ID = hex.EncodeToString(sum[:8])
	}
	return r
}

// The labels of records do not matter for a table's cell and a task's lines. The store holds today's runs, a run of
// an earlier program with another setting, and a run from before a default changed.
func TestRunsOfAnEarlierProgramHaveLinesOfTheirOwn(t *testing.T) {
	ask := func(seed uint64) Request {
		return Request{Task: "balance", Method: "mappo-db", Budget: "short", Seed: seed}
	}
	type settings = map[string]json.RawMessage
	st := libtest.Committed(t, recorded(t, ask(1)), recorded(t, ask(2)),
		recorded(t, ask(4), func(explore settings) { explore["abolished"] = json.RawMessage(`[1,2]`) }),
		recorded(t, ask(5), func(explore settings) { explore["db_hidden"] = json.RawMessage(`17`) }))
	grid := must.Get(paper.Sota.Results(At(st, "short")))(t)
	counted := 0
	for i, row := range grid.Rows {
		for j, c := range row.Cells {
			if counted += c.Seeds; c.Seeds > 0 && (paper.Sota.Rows[i].Cells[j].Trial.Method != "mappo-db" || c.Ours != 1.5) {
				t.Errorf("%s, %s is %g of %d seeds", row.Head, grid.Columns[j], c.Ours, c.Seeds)
			}
		}
	}
	if counted != 2 {
		t.Errorf("%d runs are counted in the table, want the two of today's program", counted)
	}
	found := must.Get(st.Find(results.Query{}))(t)
	if got := libtest.Lines(Groups(found)); len(got) != 3 || got["mappo-db explore.db_hidden=17"] != 1 {
		t.Errorf("lines %v, want one for each program", got)
	}
}

func TestRunsThatThisProgramCannotReadKeepTheirLabel(t *testing.T) {
	strange := &results.Record{ID: "a", Task: "mine/task", Method: "my method", Experiment: []byte(`{"task":{"kind":"mine/task"},"seed":1}`)}
	if got := Groups([]*results.Record{strange})[0]; got.Label != "my method" || got.Method != "" {
		t.Errorf("of a task that is not registered here: %+v", got)
	}
}

func TestRunsOfTwoCustomBudgetsAreTwoLines(t *testing.T) {
	ask := func(seed uint64, budget string, set ...string) *results.Record {
		return recorded(t, Request{Task: "balance", Method: "mappo", Budget: budget, Set: set, Seed: seed})
	}
	rs := []*results.Record{ask(1, "short", "budget.frames=36000"), ask(2, "short", "budget.frames=36000"), ask(1, "short", "budget.frames=300000"),
		ask(1, "smoke", "budget.frames=36000")}
	want := map[string]int{"mappo budget.frames=36000 (else short)": 2, "mappo budget.frames=300000 (else short)": 1, "mappo budget.frames=36000 (else smoke)": 1}
	if got := libtest.Lines(Groups(rs)); !maps.Equal(got, want) {
		t.Errorf("lines %v, want %v", got, want)
	}
	if got := libtest.Lines(Groups(rs[:3], "budget")); len(got) != 2 || got["mappo"] != 0 {
		t.Errorf("lines %v, though their budgets differ", got)
	}
	want = map[string]int{"mappo": 2}
	if got := libtest.Lines(Groups(rs[:2], "budget")); !maps.Equal(got, want) {
		t.Errorf("lines %v, want %v: all have one budget", got, want)
	}
	want = map[string]int{"mappo budget.name=smoke": 1, "mappo budget.name=short": 1}
	if got := libtest.Lines(Groups([]*results.Record{ask(1, "smoke"), ask(1, "short")})); !maps.Equal(got, want) {
		t.Errorf("two named budgets in one figure: %v, want %v", got, want)
	}
}

// Labels of a figure leave out a setting that all its runs share. Where runs differ in it, labels include it.
func TestNoTwoLinesHaveOneLabel(t *testing.T) {
	rs := []*results.Record{recorded(t, Request{Task: "balance", Method: "mappo", Budget: "short", Seed: 1}),
		recorded(t, Request{Task: "balance", Method: "mappo", Budget: "short", Seed: 1, Set: []string{"task.reward=dense"}})}
	want := map[string]int{"mappo task.reward=sparse": 1, "mappo task.reward=dense": 1}
	if got := libtest.Lines(Groups(rs, "task.reward")); !maps.Equal(got, want) {
		t.Errorf("lines %v, want %v", got, want)
	}
}

func TestNamesGivenTwiceAreOne(t *testing.T) {
	es, err := Grid([]string{"balance", "vmas/balance", "Balance*"}, []string{"qmix", "QMIX"}, "short", 2)
	if err != nil || len(es) != 2 || es[0].Seed != 1 || es[1].Seed != 2 {
		t.Errorf("%d experiments, %v, want seeds 1 and 2 of one", len(es), err)
	}
}

// A seed that no command would have counted up to is found, too.
func TestACellHasAllSeedsOfItsExperiment(t *testing.T) {
	ask := func(seed uint64, method string) *results.Record {
		return recorded(t, Request{Task: "balance", Method: method, Budget: "short", Seed: seed})
	}
	a := At(libtest.Committed(t, ask(12345, "mappo"), ask(2, "mappo"), ask(3, "qmix")), "short")
	for method, want := range map[string][]uint64{"mappo": {2, 12345}, "MAPPO": {2, 12345}, "qmix": {3}, "mace": nil} {
		g, err := a.Runs(paper.Trial{Task: "vmas/balance", Method: method})
		var seeds []uint64
		for _, r := range g.Runs {
			seeds = append(seeds, r.Seed)
		}
		if err != nil || !slices.Equal(seeds, want) {
			t.Errorf("%s has seeds %v, %v, want %v", method, seeds, err, want)
		}
	}
}

// Methods at different budgets must not pass for runs of one.
func TestABudgetIsLeftOutOnlyWhereAllRunsHaveIt(t *testing.T) {
	labels := func(set ...string) (out []string) {
		short := recorded(t, Request{Task: "balance", Method: "mappo", Budget: "short", Seed: 1, Set: set})
		same := recorded(t, Request{Task: "balance", Method: "mace", Budget: "short", Seed: 1, Set: []string{"budget.frames=6000"}})
		for _, g := range Groups([]*results.Record{short, same}, "budget") {
			out = append(out, g.Label)
		}
		slices.Sort(out)
		return out
	}
	if got := labels("budget.frames=6000"); !slices.Equal(got, []string{"mace", "mappo"}) {
		t.Errorf("at one budget the labels are %q", got)
	}
	if got := labels(); !slices.Equal(got, []string{"mace budget.frames=6000 (else short)", "mappo"}) {
		t.Errorf("at two budgets the labels are %q", got)
	}
}
