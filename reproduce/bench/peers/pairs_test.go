// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"encoding/json"
	"strings"
	"testing"

	"cermic/cermiclib/results"
)

func TestPairsAreChosenByGroupAndPartOfTheirNames(t *testing.T) {
	all := new(Machine).pairs()
	for only, want := range map[string]int{
		"update": 1, "train": 2, "train/qmix": 1, "env": 22, "python": 22, "python/: balance, 60": 1, "meltingpot": 8, "meltingpot/clean_up": 2, "collect": 1, "": 56,
	} {
		if got, err := chosen(all, only); err != nil || len(got) != want {
			t.Errorf("%q chooses %d pairs, %v, want %d", only, len(got), err, want)
		}
	}
	for only, part := range map[string]string{"pithon": "did you mean python?", "env/balence": `"balence"`} {
		if _, err := chosen(all, only); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v, want one with %s", only, err, part)
		}
	}
}

func TestCurvesAreWithinEachOthersIntervalsOrNot(t *testing.T) {
	run := func(scores ...float64) *results.Record {
		r := new(results.Record)
		for k, s := range scores {
			r.Evals = append(r.Evals, results.Eval{Frames: 60000 * k, Scores: []float64{s - 1, s + 1}})
		}
		return r
	}
	got := compareLearning([]*results.Record{run(1, 10), run(2, 11), run(3, 12)}, []*results.Record{run(2, 50), run(3, 50), run(4, 51)})
	if len(got) != 2 || !got[0].within() || got[1].within() || got[1].frames != 60000 || got[0].differ.Value != -1 {
		t.Errorf("%+v", got)
	}
	if row := got[0].row(); !strings.HasPrefix(row, "| 0 | 2.0 [−0.5, 4.5] | 3.0 [0.5, 5.5] | −1.0 [") || !strings.HasSuffix(row, "| yes |") {
		t.Error(row)
	}
}

func TestKeptCurvesComeBack(t *testing.T) {
	root := t.TempDir()
	run := func(seed string) json.RawMessage {
		return json.RawMessage(`{"seed": ` + seed + `, "evals": [{"frames": 6000, "returns": [1, 3]}], "seconds_one_thread": 2, "processor_seconds": {"collection": ` + seed + `}}`)
	}
	if err := writeCurves(learningFile(root, "vmas"), []json.RawMessage{run("1"), run("3")}); err != nil {
		t.Fatal(err)
	}
	runs, seconds, err := learning(root, "vmas")
	if err != nil || len(runs) != 2 || runs[1].Seed != 3 || runs[0].Evals[0].Score() != 2 || seconds["collection"] != 2 {
		t.Errorf("%v, %v, %v", runs, seconds, err)
	}
}
