// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"cermic/cermiclib/libtest"
	"cermic/cermiclib/results"
	"cermic/envs/conf"
	"cermic/envs/envtest/must"
	"cermic/reproduce/paper"
	"cermic/viz"
)

// scored is a complete run of an experiment of c with a score.
func scored(t *testing.T, c *Cell, at int, score float64) *results.Record {
	t.Helper()
	e := c.Experiments[at]
	text := must.Get(conf.Marshal(e))(t)
	id := must.Get(e.ID())(t)
	return &results.Record{ID: id, Task: e.Task.Kind(), Method: e.Label(), Budget: e.Budget.Name, Seed: e.Seed, Experiment: text, Frames: e.Budget.Frames,
		Complete: true, Host: results.Host{Seconds: 1}, Evals: []results.Eval{{Frames: e.Budget.Frames, Scores: []float64{score}}}}
}

func TestACellIsComparedWithThePublishedNumber(t *testing.T) {
	find := func(row, column string, settings ...string) *Cell {
		t.Helper()
		return must.Get(NewCell(paper.Sota, row, column, "short", 3, settings...))(t)
	}
	plain, changed := find("MAPPO-CERMIC", "Balanc*"), find("MAPPO-CERMIC", "Balanc*", "explore.alpha=0.7")
	same, cleanup := find("MAPPO-CERMIC", "Balanc*", "explore.alpha=0.2"), find("MAPPO", "CleaUp")
	smoke := must.Get(NewCell(paper.Sota, "MAPPO-CERMIC", "Balanc*", "smoke", 3))(t)
	shorter := find("MAPPO-CERMIC", "Balanc*", "budget.frames=300000")
	const published = 67.3
	shares := map[*Cell]string{plain: "600,000 of the paper's 3,000,000 frames. Table 1", smoke: "3,000 of the paper's 3,000,000 frames. Table 1"}
	for name, c := range map[string]struct {
		cell   *Cell
		scores []float64
		head   string
		mark   viz.BoxMark
		says   string
	}{
		"nothing":  {plain, nil, "not trained", viz.Open, "Published: 67.3."},
		"one seed": {plain, []float64{60}, "too few seeds to test", viz.Open, "Ours: 60.0, 1 seed × 600k frames. Seeds: 60.0."},
		"agreement": {plain, []float64{published - 1, published, published + 1}, "not distinguishable from the paper", viz.Good,
			"Ours less published: 0.0 [−2.5, 2.5]. These seeds would show a difference of 2.5 or more."},
		"the difference": {plain, []float64{9, 10, 11}, "differs from the paper", viz.Bad, "Ours less published: −57.3 [−59.8, −54.8]."},
		"its default":    {same, []float64{9, 10, 11}, "differs from the paper", viz.Bad, "Published: 67.3."},
		"few frames":     {smoke, []float64{9, 10, 11}, "too short to compare", viz.Open, "3 seeds × 3000 frames."},
		"another α":      {changed, []float64{9, 10, 11}, "no published number", viz.Open, "Published: none with explore.alpha=0.7; 67.3 with"},
		"fewer frames":   {shorter, nil, "not trained", viz.Open, "Published: none with budget.frames=300000; 67.3 with"},
		"two scores":     {cleanup, []float64{9, 10, 11}, "not comparable", viz.Open, "whole episodes or their first steps"},
	} {
		var rs []*results.Record
		for i, score := range c.scores {
			rs = append(rs, scored(t, c.cell, i, score))
		}
		box, err := c.cell.Report(libtest.Committed(t, rs...))
		if err != nil || box.Head != c.head || box.Mark != c.mark || !strings.Contains(strings.Join(box.Lines, "\n"), c.says) {
			t.Errorf("%s: got %+v, %v; want %q and %q", name, box, err, c.head, c.says)
		}
		if share := shares[c.cell]; len(rs) > 0 && !strings.HasPrefix(box.Text, share) {
			t.Errorf("%s: the text is %q, want %q first", name, box.Text, share)
		}
	}
	for _, e := range plain.Experiments {
		if e.Task.Kind() != "vmas/balance" || len(plain.Experiments) != 3 {
			t.Errorf("%d experiments, one on %s: want three seeds of the cell alone", len(plain.Experiments), e.Task.Kind())
		}
	}
}

func TestARowKeepsItsOwnSetting(t *testing.T) {
	for row, want := range map[string]string{"1.0": "1", "0.5": "0.5", "GRU": "0.7", "Graph": "0.7"} {
		c := must.Get(NewCell(paper.Ablation, row, "Naviga", "short", 1, "explore.alpha=0.7"))(t)
		text, err := conf.Marshal(c.Experiments[0])
		if got := paper.Setting(text, "explore.alpha"); err != nil || got != want {
			t.Errorf("row %s trains with α = %s, want %s, %v", row, got, want, err)
		}
	}
}

func TestADifferenceNeedsRunsOfBothRewards(t *testing.T) {
	c, err := NewCell(paper.Density, "CPM", "Balanc* Δ", "short", 2)
	if err != nil || len(c.Experiments) != 4 {
		t.Fatalf("%d experiments, want two seeds on each reward, %v", len(c.Experiments), err)
	}
	rs := []*results.Record{scored(t, c, 0, 50), scored(t, c, 1, 52)}
	if box, err := c.Report(libtest.Committed(t, rs...)); err != nil || box.Head != "not trained" {
		t.Errorf("with half of the runs: %+v, %v", box, err)
	}
	box, err := c.Report(libtest.Committed(t, append(rs, scored(t, c, 2, 10), scored(t, c, 3, 12))...))
	if text := strings.Join(box.Lines, "\n"); err != nil || !strings.Contains(text, "Ours: 40.0 [33.9, 46.1], 2 seeds × 600k frames.") || strings.Contains(text, "Seeds:") {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestMistakesInACellAreNamed(t *testing.T) {
	for want, c := range map[string]struct {
		row, column, budget string
		seeds               int
		set                 string
	}{
		"did you mean MAPPO":         {"MAPO", "Balanc*", "short", 1, ""},
		"did you mean Balance*":      {"MAPPO", "Balance", "short", 1, ""},
		"seeds is 0":                 {"MAPPO", "Balanc*", "short", 0, ""},
		`budget "long"`:              {"MAPPO", "Balanc*", "long", 1, ""},
		"did you mean explore.alpha": {"MAPPO-CERMIC", "Balanc*", "short", 1, "explore.alfa=1"},
	} {
		var set []string
		if c.set != "" {
			set = append(set, c.set)
		}
		_, err := NewCell(paper.Sota, c.row, c.column, c.budget, c.seeds, set...)
		must.Refuse(t, err, want)
	}
}

func TestTheTimeOfTrainingIsSaid(t *testing.T) {
	c := must.Get(NewCell(paper.Sota, "MAPPO", "Naviga", "short", 3))(t)
	smoke := must.Get(NewCell(paper.Sota, "MAPPO", "Naviga", "smoke", 3))(t)
	none := libtest.Committed(t)
	for want, c := range map[string]*Cell{"an unknown time, since no run like these is stored": c, "under a minute a run": smoke} {
		if says, err := Takes(c.Experiments, none, none); err != nil || says != want {
			t.Errorf("without any run it says %q, %v, want %q", says, err, want)
		}
	}
	done := scored(t, c, 0, 1) // 600,000 frames
	done.Host.Seconds, done.Host.CPU = 300, results.CollectHost("").CPU
	records := libtest.Committed(t, done)
	if says, err := Takes(c.Experiments[1:], records, records); err != nil || says != "about 10 min 00 s" {
		t.Errorf("two runs like one of five minutes take %q, %v", says, err)
	}
	if says, err := Takes(c.Experiments[:1], none, records); err != nil || says != "about 5 min 00 s" {
		t.Errorf("training a committed run again takes %q, %v", says, err)
	}
}
