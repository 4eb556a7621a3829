// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/viz"
)

func TestAPartOfATableKeepsItsCells(t *testing.T) {
	row, err := Sota.Row("", "MAPPO-CERMIC")
	if err != nil || len(row.Rows) != 1 || len(row.Rows[0].Cells) != len(Sota.Columns) || len(Sota.Rows) != 10 {
		t.Fatalf("%v, %v", row, err)
	}
	part, err := Sota.Only("Balanc*", "Naviga")
	if err != nil || len(part.Columns) != 2 || part.Rows[9].Cells[0].Value != 67.3 || part.Rows[9].Cells[1].Trial.Task != "vmas/navigation" {
		t.Errorf("%v, %v", part, err)
	}
	if memory, err := Ablation.Row("Memory", "GRU"); err != nil || memory.Rows[0].Cells[0].Trial.Set[0] != "explore.memory=gru" {
		t.Errorf("%v, %v", memory, err)
	}
	// MAPPO-CERMIC, α = 0.2 and memory graph are one trial in three groups of Table 3.
	if memory, err := Ablation.Row("Memory", "Graph"); err != nil || len(memory.Rows[0].Cells[0].Trial.Set) != 0 {
		t.Errorf("%v, %v", memory, err)
	}
	for _, call := range []func() (*Benchmark, error){
		func() (*Benchmark, error) { return Sota.Row("", "MAPPO-CERMICK") },
		func() (*Benchmark, error) { return Sota.Only("Balance*") },
	} {
		if _, err := call(); err == nil || !strings.Contains(err.Error(), "did you mean") {
			t.Errorf("got %v, want near names", err)
		}
	}
}

func TestKnobsChangeTheRowsOfCERMICAlone(t *testing.T) {
	label := func(t Trial) string { return Label(t.Method, t.Set) }
	with := Density.With("explore.memory=gru")
	for i, row := range with.Rows {
		for j, c := range row.Cells {
			before, cermic := Density.Rows[i].Cells[j], row.Head == "MAPPO-CERMIC"
			if changed := label(c.Trial) != label(before.Trial); changed != cermic {
				t.Errorf("%s, %s: trial %q", row.Head, with.Columns[j], label(c.Trial))
			}
			if c.Minus != nil && (label(*c.Minus) != label(*before.Minus)) != cermic {
				t.Errorf("%s, %s: subtracts %q", row.Head, with.Columns[j], label(*c.Minus))
			}
		}
	}
	if !strings.Contains(with.Note, "CERMIC with explore.memory=gru.") || Density.With() != Density {
		t.Errorf("note %q", with.Note)
	}
}

func TestAggregatesTakeTheTasksThatEveryMethodHas(t *testing.T) {
	src := sourceOf(t, "vmas/balance mappo: 0 10 20", "vmas/balance mappo-cermic: 30 40 50", "vmas/navigation mappo: 1 1 1",
		"vmas/navigation mappo-cermic: 2 2 2", "vmas/wheel mappo: 3")
	scales := map[string]Scale{"vmas/balance": {To: 100, Episodes: 64}, "vmas/navigation": {To: 2}, "vmas/wheel": {To: 1}}
	scale := func(task string) (Scale, error) { return scales[task], nil }
	a, err := Sota.Aggregate(src, scale)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(a.Methods, " ") != "MAPPO MAPPO-CERMIC" || len(a.Tasks) != 2 || len(a.Left) != 13 {
		t.Fatalf("methods %v on tasks %v, without %v", a.Methods, a.Tasks, a.Left)
	}
	table := a.Summary()
	// Means over tasks of means over seeds: (0.5 + 0.1)/2 and (1 + 0.4)/2. Every run of the second beats every one of
	// the first.
	if !strings.HasPrefix(table.Rows[0][2], "0.30 [") || !strings.HasPrefix(table.Rows[1][2], "0.70 [") || table.Rows[1][4] != "1.00 [1.00, 1.00]" {
		t.Errorf("got %v", table.Rows)
	}
	if note := strings.Join(table.Notes, " "); !strings.Contains(note, "(0.00 to 100.00, 64 episodes each)") {
		t.Errorf("the note does not say what scores are scaled by: %s", note)
	}
	profiles := a.Profiles()
	if len(profiles) != 2 || profiles[1].Y[0][0] != 1 || profiles[1].Y[0][len(profiles[1].X)-1] != 0 {
		t.Errorf("profiles do not fall from 1 to 0: %v", profiles[1].Y[0])
	}
	for k := 1; k < len(profiles[0].X); k++ {
		if x, y := profiles[0].X, profiles[0].Y[0]; x[k] != x[k-1] && y[k] != y[k-1] {
			t.Errorf("the profile is slanted from %g to %g, want it level between scores", x[k-1], x[k])
		}
	}
	empty, err := Sota.Aggregate(src.at("paper"), scale)
	if table := empty.Summary(); err != nil || len(table.Rows) != 0 || len(empty.Profiles()) != 0 || !strings.Contains(table.Text(), "nothing to average") {
		t.Errorf("of nothing: %+v, %v", empty, err)
	}
}

func TestAggregatesLeaveOutAMethodThatLacksWhatTheOthersHave(t *testing.T) {
	src := sourceOf(t, "vmas/balance qmix: 5", "vmas/balance mappo: 1 2", "vmas/balance mace: 3", "vmas/balance mappo-cermic: 4",
		"vmas/wheel mappo: 1 2", "vmas/wheel mace: 3", "vmas/flocking mappo: 1 2", "vmas/flocking mace: 3", "vmas/flocking mappo-cermic: 3",
		"vmas/balance mappo task.reward=dense: 7", "vmas/balance mace task.reward=dense: 8", "vmas/navigation mappo: 1", "vmas/navigation mace: 1")
	scale := func(task string) (Scale, error) { return Scale{To: 10, Episodes: 1}, nil }
	a, err := Sota.Aggregate(src, scale)
	if err != nil {
		t.Fatal(err)
	}
	// MAPPO and MACE on four tasks are eight pairs; with MAPPO-CERMIC on two there would be six.
	if strings.Join(a.Methods, " ") != "MAPPO MACE" || len(a.Tasks) != 4 || strings.Join(a.Without, " ") != "QMIX MAPPO-CERMIC" {
		t.Errorf("methods %v on tasks %v, without %v", a.Methods, a.Tasks, a.Without)
	}
	table := a.Summary()
	if len(table.Rows) != 2 || table.Header[4] != "beats MAPPO" || table.Rows[0][4] != viz.Missing || !strings.HasPrefix(table.Rows[1][4], "0.") && !strings.HasPrefix(table.Rows[1][4], "1.") {
		t.Errorf("the table is %v", table.Rows)
	}
	if note := table.Notes[0]; !strings.Contains(note, "has no interval") || !strings.Contains(note, "Methods left out, because they lack runs on these tasks: QMIX, MAPPO-CERMIC.") {
		t.Errorf("the note is %s", note)
	}
	dense, err := Sota.OnDense().Aggregate(src, scale)
	if err != nil || strings.Join(dense.Tasks, " ") != "Naviga Balanc*" || dense.Scores[1][1][0] != 0.8 {
		t.Errorf("on the dense reward %+v, %v", dense, err)
	}
}

func TestDifferencesAreThoseThatCanBeTested(t *testing.T) {
	src := sourceOf(t, "vmas/balance mappo: 0 1 2", "vmas/balance mace: 8 9 10", "vmas/balance mappo-cermic: 4", "vmas/wheel mappo: 1 1", "vmas/wheel mace: 1 1",
		"vmas/balance mappo task.reward=dense: 1 2", "vmas/balance qmix task.reward=dense: 2 1")
	table, err := Sota.Differences(src, "MAPPO")
	// 8 ± 2.776 · √(2/3), t = 9.80 of four degrees of freedom.
	if want := []string{"Balanc*", "MACE", "8 [5.73, 10.3]", "0.0091 (Holm over 15 comparisons)", "3 and 3"}; err != nil || len(table.Rows) != 1 || !slices.Equal(table.Rows[0], want) {
		t.Errorf("%q, %v; want %q", table.Rows, err, want)
	}
	if dense, err := Sota.OnDense().Differences(src, "MAPPO"); err != nil || len(dense.Rows) != 1 || dense.Rows[0][3] != "1 (Holm over 15 comparisons)" {
		t.Errorf("on the dense reward %q, %v", dense.Rows, err)
	}
	if _, err := Sota.Differences(src, "MAPO"); err == nil || !strings.Contains(err.Error(), "MAPPO") {
		t.Errorf("from an unknown row: %v", err)
	}
}

func TestRunsOfAPartAreThoseThatItsCellsAreMeasuredWith(t *testing.T) {
	src := sourceOf(t, "vmas/navigation mappo-cermic: 1 2", "vmas/navigation mappo-cermic explore.alpha=0.5: 3", "vmas/navigation mappo: 4")
	part, err := Ablation.Only("Naviga")
	if err != nil {
		t.Fatal(err)
	}
	// α = 0.2 stands in two rows.
	if runs, err := part.Runs(src); err != nil || len(runs) != 2 || len(results.Flat(runs)) != 3 {
		t.Errorf("%d experiments, %v; want the three runs of CERMIC's two, each once", len(runs), err)
	}
	if runs, err := part.TheoremRuns(sourceOf(t, "vmas/navigation mappo-cermic-ucb: 1", "vmas/navigation mappo-cermic: 2")); err != nil || len(runs) != 1 || runs[0].Method != "mappo-cermic-ucb" {
		t.Errorf("of Theorem 1's bonus %v, %v", runs, err)
	}
	if runs, err := part.Runs(src.at("paper")); err != nil || len(runs) != 0 {
		t.Errorf("%d runs of another budget, %v", len(runs), err)
	}
}
