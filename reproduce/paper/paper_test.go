// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// value is a number of Table 1.
func value(t *testing.T, method, task string) float64 {
	t.Helper()
	return data.Sota.Methods[method].Values[task]
}

func TestCermicIsBestInTwelveOfFifteenColumnsOneOfThemTied(t *testing.T) {
	best, alone := 0, 0
	for j := range Tasks {
		top, others := math.Inf(-1), math.Inf(-1)
		for i, row := range Sota.Rows {
			v := row.Cells[j].Value
			if Methods[i].Group == Ours {
				top = max(top, v)
			} else {
				others = max(others, v)
			}
		}
		if top >= others {
			best++
		}
		if top > others {
			alone++
		}
	}
	if len(Tasks) != 15 || best != 12 || alone != 11 {
		t.Errorf("best in %d of %d columns, alone in %d; the note says 12 of 15 and 11", best, len(Tasks), alone)
	}
}

func TestTable3DiffersFromTable1InFourOfFiveColumns(t *testing.T) {
	differ := 0
	for _, name := range data.Ablation.Columns {
		if data.Ablation.Groups["loss_ablation_alpha_0.2"]["MAPPO-CERMIC"][name].Mean != value(t, "MAPPO-CERMIC", name) {
			differ++
		}
	}
	if differ != 4 {
		t.Errorf("%d columns differ, the note says 4", differ)
	}
}

func TestCermicIsAboveItsBaseInEveryColumn(t *testing.T) {
	for _, task := range Tasks {
		for _, base := range []string{"MAPPO", "QMIX"} {
			if value(t, base+"-CERMIC", task.Name) <= value(t, base, task.Name) {
				t.Errorf("%s on %s is not above its base", base, task.Name)
			}
		}
	}
}

func TestSparseColumnsOfTable4RepeatTable1(t *testing.T) {
	for _, row := range Density.Rows {
		for j := 0; j < len(row.Cells); j += 3 {
			sparse, dense, delta := row.Cells[j], row.Cells[j+1], row.Cells[j+2]
			task, err := FindTask(sparse.Trial.Task)
			if err != nil {
				t.Fatal(err)
			}
			method, err := FindMethod(sparse.Trial.Method)
			if err != nil {
				t.Fatal(err)
			}
			if sparse.Value != value(t, method.key, task.Name) {
				t.Errorf("%s on %s: %g is not Table 1's", method.Name, task.Name, sparse.Value)
			}
			// The printed numbers have one decimal to two; half a unit of the last is 0.005 at the finest.
			if math.Abs(dense.Value-sparse.Value-delta.Value) > 0.0051 || delta.Value >= 0 {
				t.Errorf("%s on %s: Δ %g, want %g − %g", method.Name, task.Name, delta.Value, dense.Value, sparse.Value)
			}
		}
	}
}

func TestContributionOfMappoDBIsNotMonotone(t *testing.T) {
	cells := Agents.Rows[0].Cells
	if !(cells[1].Value > cells[0].Value && cells[3].Value < cells[2].Value) {
		t.Error("the note says that it rises and falls")
	}
	for i, method := range []string{"MAPPO-DB", "MAPPO-CERMIC"} {
		// 4 agents · contribution is within 1 % of Table 1: the reading "episode reward / agents".
		if total, want := 4*Agents.Rows[i].Cells[1].Value, value(t, method, "Balance"); math.Abs(total/want-1) > 0.01 {
			t.Errorf("%s: 4 contributions make %g, Table 1 has %g", method, total, want)
		}
	}
}

func TestTrialsAreOursByNameAndTheDefaultOnesAreThoseOfTable1(t *testing.T) {
	for _, table := range Benchmarks {
		for _, row := range table.Rows {
			for j, cell := range row.Cells {
				if (cell.Minus != nil) != strings.HasSuffix(table.Columns[j], "Δ") {
					t.Errorf("table %d, %s, %s: a difference must be one of two trials, and nothing else", table.Number, row.Head, table.Columns[j])
				}
				if task, err := FindTask(cell.Trial.Task); err != nil || task.ID != cell.Trial.Task {
					t.Errorf("table %d: task %q: %v", table.Number, cell.Trial.Task, err)
				}
				if method, err := FindMethod(cell.Trial.Method); err != nil || method.ID != cell.Trial.Method {
					t.Errorf("table %d: method %q: %v", table.Number, cell.Trial.Method, err)
				}
			}
		}
	}
	for _, row := range Sota.Rows {
		for _, cell := range row.Cells {
			if cell.Trial.Set != nil {
				t.Errorf("Table 1 changes a default: %v", cell.Trial.Set)
			}
		}
	}
}

func TestUnknownNamesAreAnsweredWithNearOnes(t *testing.T) {
	_, task := FindTask("vmas/balence")
	_, method := FindMethod("mapo")
	_, table := FindBenchmark("sotta")
	for _, c := range []struct {
		err  error
		want string
	}{
		{task, `unknown task "vmas/balence"; did you mean vmas/balance`},
		{method, `unknown method "mapo"; did you mean mappo`},
		{table, `unknown table "sotta"; did you mean sota`},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), c.want) {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
}

func TestEverySpellingOfThePaperFindsItsTaskAndMethod(t *testing.T) {
	for spelling, id := range map[string]string{
		"Give Way": "vmas/give_way", "GiveWa*": "vmas/give_way", "give_way": "vmas/give_way", "vmas/give_way": "vmas/give_way",
		"pro5v5*": "smac/protoss_5_vs_5", "Disperse": "vmas/dispersion", "cleanup": "meltingpot/clean_up",
	} {
		if task, err := FindTask(spelling); err != nil || task.ID != id {
			t.Errorf("%q is %q (%v), want %q", spelling, task.ID, err, id)
		}
	}
	for spelling, id := range map[string]string{"MAPPO-CERMIC": "mappo-cermic", "MAPPO-ε-greedy": "mappo-eps", "qplex-ices": "qplex-ices"} {
		if method, err := FindMethod(spelling); err != nil || method.ID != id {
			t.Errorf("%q is %q (%v), want %q", spelling, method.ID, err, id)
		}
	}
}

func TestConceptsAndTagsInTheCodeAreTheSame(t *testing.T) {
	const root = "../.."
	listed, tagged := map[string]bool{}, map[string]bool{}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile(`(?m)^\| (\S+) \| \[(.+?)\]`).FindAllStringSubmatch(string(page), -1) {
		listed[row[1]+" in "+row[2]] = true
	}
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		short, err := filepath.Rel(root, file)
		for _, label := range tags(string(raw)) {
			tagged[label+" in "+filepath.ToSlash(short)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for place := range listed {
		if !tagged[place] {
			t.Errorf("the code has no tag paper:%s", place)
		}
	}
	for place := range tagged {
		if !listed[place] {
			t.Errorf("the tag paper:%s is missing from README.md", place)
		}
	}
}

// tags returns the labels of the comment lines of src that start with paper:<label>.
func tags(src string) []string {
	var out []string
	for line := range strings.Lines(src) {
		_, comment, _ := strings.Cut(line, "//")
		fields := strings.Fields(comment)
		if len(fields) == 0 {
			continue
		}
		if label, ok := strings.CutPrefix(fields[0], "paper:"); ok {
			out = append(out, strings.TrimRight(label, ".,;:"))
		}
	}
	return out
}
