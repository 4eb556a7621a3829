// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"strings"
	"testing"
)

// ofSettings is a run of an experiment with these settings of the explorer, whatever it is called.
func ofSettings(id, label string, seed uint64, explore string) *Record {
	return &Record{ID: id, Task: "vmas/balance", Method: label, Seed: seed, Evals: []Eval{{Frames: 1, Scores: []float64{float64(seed)}}},
		Experiment: fmt.Appendf(nil, `{"budget":{"name":"short"},"explore":{%s"kind":"mace"},"seed":%d}`, explore, seed)}
}

func TestGroupsAreOfExperimentsNotOfNames(t *testing.T) {
	before, now := ofSettings("a", "mace", 1, ""), ofSettings("b", "mace", 1, `"revision":2,`)
	further, again := ofSettings("c", "mace, called otherwise", 2, `"revision":2,`), ofSettings("b", "mace", 1, `"revision":2,`)
	gs := Groups([]*Record{now, before, further, again})
	if len(gs) != 2 || len(gs[0].Runs) != 2 || gs[0].Runs[0] != again || gs[0].Runs[1] != further || len(gs[1].Runs) != 1 || gs[1].Runs[0] != before {
		t.Fatalf("got %+v, want the two seeds of today's experiment, the newer record of the first one, and the earlier program's run apart", gs)
	}
	for _, g := range gs {
		if err := g.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestAForkBelongsToTheSameForkOfAnotherSeed(t *testing.T) {
	fork := func(id string, seed uint64, parent string, at int) *Record {
		return &Record{ID: id, Seed: seed, Experiment: fmt.Appendf(nil, `{"forks":[{"at":%d,"parent":%q,"was":["a=1"]}],"seed":%d}`, at, parent, seed)}
	}
	if gs := Groups([]*Record{fork("a", 1, "x", 100), fork("b", 2, "y", 100), fork("c", 1, "x", 200)}); len(gs) != 2 || len(gs[0].Runs) != 2 {
		t.Errorf("got %+v, want two seeds that branch off at 100 frames and one at 200", gs)
	}
}

func TestEqualSeedsInOneMeanAreAnError(t *testing.T) {
	twice := Group{Label: "mace", Runs: []*Record{ofSettings("a", "mace", 1, ""), ofSettings("b", "mace", 1, "")}}
	if _, err := twice.Scores(); err == nil || !strings.Contains(err.Error(), "two runs of mace on vmas/balance have seed 1, a and b") {
		t.Errorf("got %v", err)
	}
	if scores, err := (Group{Label: "mace", Runs: twice.Runs[:1]}).Scores(); err != nil || len(scores) != 1 || scores[0] != 1 {
		t.Errorf("one run scores %v, %v", scores, err)
	}
	if err := (Group{}).Check(); err != nil {
		t.Error(err)
	}
}
