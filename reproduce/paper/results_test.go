// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/cermiclib/stats"
	"cermic/envs/envtest/must"
	"cermic/viz"
)

// source holds groups of runs by task and label, all at budget short.
type source struct {
	budget string
	groups map[string]results.Group
}

func (s source) Budget() string { return s.budget }

func (s source) Scale(string) (Scale, error) { return Scale{}, nil }

func (s source) Runs(t Trial) (results.Group, error) {
	if s.budget != "short" {
		return results.Group{}, nil
	}
	return s.groups[Label(t.Task+" "+t.Method, t.Set)], nil
}

// at is the same at another budget.
func (s source) at(budget string) source { return source{budget, s.groups} }

// sourceOf returns a source at budget short. It holds a run for each score of a line "task label: score score …", one
// per seed.
func sourceOf(t *testing.T, lines ...string) source {
	t.Helper()
	s, n := source{"short", map[string]results.Group{}}, 0
	for _, line := range lines {
		name, scores, _ := strings.Cut(line, ":")
		task, label, _ := strings.Cut(name, " ")
		method, _, _ := strings.Cut(label, " ")
		g := results.Group{Label: label, Method: method}
		for seed, text := range strings.Fields(scores) {
			var score float64
			if _, err := fmt.Sscan(text, &score); err != nil {
				t.Fatal(err)
			}
			n++
			g.Runs = append(g.Runs, &results.Record{ID: fmt.Sprintf("%016x", n), Task: task, Method: label, Budget: "short", Seed: uint64(seed + 1),
				Complete: true, Frames: 600_000,
				Experiment: json.RawMessage(`{"explore":{"alpha":0.5,"int_coef":0.05,"kind":"cermic","memory":{"d_f":256,"kind":"mlp"}},"task":{"kind":"` +
					task + `","reward":"sparse","sparse_horizon":"default"}}`),
				// Two episodes around the score, and an earlier evaluation that must not count.
				Evals: []results.Eval{{Frames: 6000, Scores: []float64{-100}}, {Frames: 600_000, Scores: []float64{score - 1, score + 1}}}})
		}
		s.groups[name] = g
	}
	return s
}

// at returns the cell of a grid in the row and column with these heads.
func at(t *testing.T, g viz.ScoreTable, head, column string) viz.Cell {
	t.Helper()
	for _, row := range g.Rows {
		for j, c := range row.Cells {
			if row.Head+row.Ours == head && g.Columns[j] == column {
				return c
			}
		}
	}
	t.Fatalf("no cell %s, %s", head, column)
	return viz.Cell{}
}

func grid(t *testing.T, table *Benchmark, src Source) viz.ScoreTable {
	t.Helper()
	return must.Get(table.Results(src))(t)
}

func TestGridShowsTheLastEvaluationOfEverySeedBesideThePublishedNumber(t *testing.T) {
	src := sourceOf(t, "vmas/balance mappo: 50 52 54", "vmas/balance mappo-cermic: 60 61 62")
	g := grid(t, Sota, src)
	c := at(t, g, "MAPPO", "Balanc*")
	if c.Ours != 52 || c.Seeds != 3 || c.Frames != 600_000 || *c.Published != 60.3 || !(50 <= c.Low && c.Low < 52 && 52 < c.High && c.High <= 54) {
		t.Errorf("got %+v (published %g)", c, *c.Published)
	}
	if missing := at(t, g, "QMIX", "Balanc*"); missing.Seeds != 0 || *missing.Published != 48.5 {
		t.Errorf("a method without runs shows %+v", missing)
	}
	if other := grid(t, Sota, src.at("paper")); at(t, other, "MAPPO", "Balanc*").Seeds != 0 {
		t.Error("runs of one budget are shown at another")
	}
	for _, want := range []string{"Budget short.", "Preset default.", "sparse_horizon=default", "explore.memory=mlp", "explore.int_coef=0.05"} {
		if !strings.Contains(g.Caption, want) {
			t.Errorf("the caption does not say %q: %s", want, g.Caption)
		}
	}
}

func TestBoldNeedsEveryDifferenceToExcludeZero(t *testing.T) {
	clear := grid(t, Sota, sourceOf(t, "vmas/balance mappo: 50 52 54", "vmas/balance qmix: 40 41 42", "vmas/balance mappo-cermic: 60 61 62"))
	if !at(t, clear, "MAPPO-CERMIC", "Balanc*").Bold || at(t, clear, "MAPPO", "Balanc*").Bold || at(t, clear, "QMIX", "Balanc*").Bold {
		t.Error("the one row above all others must be bold, and no other")
	}
	close := grid(t, Sota, sourceOf(t, "vmas/balance mappo: 50 52 64", "vmas/balance mappo-cermic: 53 60 61"))
	alone := grid(t, Sota, sourceOf(t, "vmas/balance mappo-cermic: 53 60 61"))
	// By the bootstrap alone these differ; Welch's interval includes 0.
	x, y := []float64{53, 60, 61}, []float64{30, 50, 51}
	if d := difference(x, y); !d.Excludes(0) || stats.Welch(x, y).Excludes(0) {
		t.Fatalf("the example must differ by the bootstrap alone: %v, %v", d, stats.Welch(x, y))
	}
	few := grid(t, Sota, sourceOf(t, "vmas/balance mappo: 30 50 51", "vmas/balance mappo-cermic: 53 60 61"))
	single := grid(t, Sota, sourceOf(t, "vmas/balance mappo: 50", "vmas/balance mappo-cermic: 60"))
	for name, g := range map[string]viz.ScoreTable{"overlapping": close, "alone": alone, "one seed": single, "bootstrap alone": few} {
		if at(t, g, "MAPPO-CERMIC", "Balanc*").Bold {
			t.Errorf("%s: bold", name)
		}
	}
}

// A row of the paper is filled by the paper's method alone; ours stands below, without published numbers and outside
// bold type.
func TestOursStandsBelowTheRowOfCERMICAndFillsNone(t *testing.T) {
	g := grid(t, Sota, sourceOf(t, "vmas/balance mappo: 50 52 54", "vmas/balance mappo-cermic-ucb: 80 81 82"))
	theirs, ours := at(t, g, "MAPPO-CERMIC", "Balanc*"), at(t, g, "MAPPO-CERMICours: Theorem 1's bonus", "Balanc*")
	if len(g.Rows) != len(Methods)+2 || theirs.Seeds != 0 || ours.Ours != 81 || ours.Published != nil || ours.Bold {
		t.Errorf("%d rows; the paper's %+v, ours %+v", len(g.Rows), theirs, ours)
	}
	for _, text := range []string{g.HTML(), g.Text(200)} {
		if !strings.Contains(strings.ReplaceAll(text, "&#39;", "'"), "ours: Theorem 1's bonus") {
			t.Errorf("the row has no head in\n%s", text)
		}
	}
	for method, want := range map[string]bool{"mace": true, "mappo-cermic": true, "mappo-cermic-ucb": true, "mappo-cermic-literal": true,
		"mappo-ucb": false, "qplex": false, "mappo-rff": false} {
		if InTables(method) != want {
			t.Errorf("tables show %s: %v", method, !want)
		}
	}
}

func TestContributionsAreDividedByTheAgents(t *testing.T) {
	g := grid(t, Agents, sourceOf(t, "vmas/balance mappo-cermic: 60 64", "vmas/balance mappo-cermic task.n_agents=8: 80 88"))
	if four, eight := at(t, g, "MAPPO-CERMIC", "4 agents"), at(t, g, "MAPPO-CERMIC", "8 agents"); four.Ours != 15.5 || eight.Ours != 10.5 {
		t.Errorf("4 agents: %g, want 15.5; 8 agents: %g, want 10.5", four.Ours, eight.Ours)
	}
}

func TestTable4ShowsTheDifferenceOfItsTwoTrials(t *testing.T) {
	g := grid(t, Density, sourceOf(t, "vmas/balance mappo-cermic: 60 62", "vmas/balance mappo-cermic task.reward=dense: 70 71 72"))
	d := at(t, g, "MAPPO-CERMIC", "Balanc* Δ")
	if d.Ours != 10 || d.Seeds != 2 || math.IsNaN(d.Low) || d.Bold {
		t.Errorf("got %+v, want 71 − 61", d)
	}
	half := grid(t, Density, sourceOf(t, "vmas/balance mappo-cermic task.reward=dense: 70 71 72"))
	if at(t, half, "MAPPO-CERMIC", "Balanc* Δ").Seeds != 0 {
		t.Error("a difference is shown although one side is missing")
	}
}

func TestDeviationsAreReadFromTheExperiment(t *testing.T) {
	for _, c := range []struct {
		experiment string
		want       []string
	}{
		{`{"explore":{"kind":"none"}}`, nil},
		{`{"explore":{"kind":"cermic","memory":{"kind":"graph"},"mi_bounds":"appendix","int_coef":1}}`, nil},
		{`{"explore":{"kind":"cermic","memory":{"kind":"gru"},"mi_bounds":"sound","explore_nce":0.1}}`,
			[]string{"explore.memory=gru", "explore.explore_nce=0.1", "explore.mi_bounds=sound"}},
	} {
		var got []string
		for _, d := range Deviations(json.RawMessage(c.experiment)) {
			got = append(got, d.Key+"="+d.Value)
			if !strings.Contains(d.String(), "(paper: "+d.Values[0]) {
				t.Errorf("%s does not say what the paper has", d)
			}
		}
		if strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("%s: got %v, want %v", c.experiment, got, c.want)
		}
	}
}

// The definition of a score depends on the suite: the horizon of the sparse reward on VMAS, whose return on Melting
// Pot.
func TestConditionsSayWhatWasScored(t *testing.T) {
	const sparse, dense = `{"reward":"sparse","sparse_horizon":"default"}`, `{"reward":"dense"}`
	const starred = "Columns with a star, unless they say dense, trained on the sparse reward with sparse_horizon=default, the others on the benchmark's own; all scored on that."
	for _, c := range []struct{ tasks, want []string }{
		{[]string{sparse}, []string{"Preset default.", "Trained on the sparse reward with sparse_horizon=default, scored on the benchmark's own."}},
		{[]string{`{"reward":"sparse"}`}, []string{"Preset default.", "Trained on the sparse reward, scored on the benchmark's own."}},
		{[]string{`{"reward":"dense","score":"sum100"}`}, []string{"Preset default.", "Episodes of Melting Pot scored by task.score=sum100."}},
		{[]string{sparse, dense}, []string{"Preset default; default with single changes.", starred}},
		{[]string{dense, sparse}, []string{"Preset default; default with single changes.", starred}},
	} {
		var groups []results.Group
		for _, task := range c.tasks {
			label := "mappo"
			if len(c.tasks) > 1 && task == dense {
				label += " task.reward=dense"
			}
			groups = append(groups, results.Group{Label: label, Method: "mappo", Runs: []*results.Record{{Experiment: []byte(`{"task":` + task + `}`)}}})
		}
		if got := conditions(groups); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.tasks, got, c.want)
		}
	}
}

// The paper does not say which of Melting Pot's two scores it prints: both of ours are shown, and no difference.
func TestMeltingPotShowsBothScoresAndNoDifference(t *testing.T) {
	src := sourceOf(t, "meltingpot/clean_up mappo: 10 20", "meltingpot/clean_up qmix: 1 3", "vmas/balance mappo: 50 52")
	for i, r := range src.groups["meltingpot/clean_up mappo"].Runs {
		r.Evals[1].Early = []float64{float64(i), float64(i) + 2} // 1 and 2 on average
	}
	g := grid(t, Sota, src)
	noted, silent, one := at(t, g, "MAPPO", "CleaUp"), at(t, g, "QMIX", "CleaUp"), at(t, g, "MAPPO", "Balanc*")
	if noted.Ours != 15 || noted.First != 1.5 || noted.FirstSteps != 100 || !math.IsNaN(noted.Difference()) {
		t.Errorf("with both scores %+v, difference %v", noted, noted.Difference())
	}
	if silent.FirstSteps != 100 || !math.IsNaN(silent.First) || !math.IsNaN(silent.Difference()) {
		t.Errorf("of runs that noted one %+v", silent)
	}
	if one.FirstSteps != 0 || math.IsNaN(one.Difference()) {
		t.Errorf("of a task with one score %+v", one)
	}
	for _, text := range []string{g.HTML(), g.Text(200)} {
		if !strings.Contains(text, "first 100 steps: 1.5") || !strings.Contains(text, "no difference") {
			t.Errorf("both scores are not in\n%s", text)
		}
	}
}

// A cell whose runs include one seed twice is an error, not a mean.
func TestACellCountsEverySeedOnce(t *testing.T) {
	src := sourceOf(t, "vmas/balance mappo: 50 52 54")
	src.groups["vmas/balance mappo"].Runs[2].Seed = 2
	_, err := Sota.Results(src)
	must.Refuse(t, err, "two runs of mappo on vmas/balance have seed 2")
}

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
		func() (*Benchmark, error) { return Sota.Only("Navigatoin") },
	} {
		_, err := call()
		must.Refuse(t, err, "did you mean")
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
	a := must.Get(Sota.Aggregate(src, scale))(t)
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
	a := must.Get(Sota.Aggregate(src, scale))(t)
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
	_, err = Sota.Differences(src, "MAPO")
	must.Refuse(t, err, "MAPPO")
}

func TestRunsOfAPartAreThoseThatItsCellsAreMeasuredWith(t *testing.T) {
	src := sourceOf(t, "vmas/navigation mappo-cermic: 1 2", "vmas/navigation mappo-cermic explore.alpha=0.5: 3", "vmas/navigation mappo: 4")
	part := must.Get(Ablation.Only("Naviga"))(t)
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

// Navigation is trained on the dense reward by default: a run without settings stands in the first column.
func TestScoresOfEitherRewardStandBesideThePublishedOne(t *testing.T) {
	src := sourceOf(t, "vmas/balance mappo task.reward=dense: 3 4", "vmas/balance mappo: 1", "vmas/navigation mappo: 30 31",
		"vmas/balance mappo-cermic explore.alpha=0.5 task.reward=dense: 1 2", "smac/zerg_5_vs_5 mappo task.reward=dense: 0.2 0.25")
	rows := func(suite Suite) (rows map[string][]string, note string) {
		table := must.Get(DenseAndSparse(src, suite, []string{"mappo", "mappo-cermic"}, "explore.alpha=0.5"))(t)
		rows = map[string][]string{}
		for _, row := range table.Rows {
			rows[row[0]] = row[1:]
			if len(row) != len(table.Header) {
				t.Errorf("row %v under %v", row, table.Header)
			}
		}
		return rows, table.Notes[0]
	}
	got, _ := rows(VMAS)
	battles, note := rows(SMACv2)
	for name, c := range map[string]struct{ got, want []string }{
		"balance":    {got["Balanc*"], []string{"3.5 [3.0, 4.0] × 2", "1.0 × 1", "60.3", "1.5 [1.0, 2.0] × 2", "–", "67.3"}},
		"navigation": {got["Naviga"], []string{"30.50 [30.00, 31.00] × 2", "–", "1.08", "–", "–", "1.44"}},
		"battles":    {battles["zer5v5*"][:2], []string{"0.22 [0.20, 0.25] × 2", "–"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
	if len(got) != 9 || len(battles) != 2 || !strings.Contains(note, "share of battles won") {
		t.Errorf("%d tasks of VMAS, %d battles, %q", len(got), len(battles), note)
	}
	if _, err := DenseAndSparse(src, VMAS, []string{"mapo"}); err == nil {
		t.Error("an unknown method has a column")
	}
}
