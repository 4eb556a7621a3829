// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cermic/envs"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
)

// bookCell is a cell of a notebook.
type bookCell struct {
	Kind   string   `json:"cell_type"`
	Source []string `json:"source"`
}

func cellsOf(t *testing.T, file string) []bookCell {
	t.Helper()
	var book struct {
		Cells []bookCell `json:"cells"`
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &book)
	}
	if err != nil {
		t.Fatal(err)
	}
	return book.Cells
}

// Every notebook asks a question. One of a table or a figure answers it first, behind the form for one number: its first output is a verdict, or
// says that there is no claim.
func TestNotebooksAskAndThoseOfThePaperAnswerFirst(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "notebooks", "*.ipynb"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d notebooks, %v", len(files), err)
	}
	for _, file := range files {
		cells := cellsOf(t, file)
		name := filepath.Base(file)
		if title := strings.TrimSpace(cells[0].Source[0]); !strings.HasPrefix(title, "# ") || !strings.HasSuffix(title, "?") {
			t.Errorf("%s has the title %q, want a question", name, title)
		}
		if !strings.HasPrefix(name, "t") && !strings.HasPrefix(name, "f") {
			continue
		}
		for _, cell := range cells {
			if first := strings.Join(cell.Source, ""); cell.Kind == "code" && !strings.Contains(first, "nb.Cell(") {
				if !strings.Contains(first, "Verdict(") && !strings.Contains(first, "nb.NoClaim(") {
					t.Errorf("%s begins with %q, want a verdict", name, first)
				}
				break
			}
		}
	}
}

// Whoever changes what decides a claim executes the notebook that shows it.
func TestNotebooksShowTodaysVerdicts(t *testing.T) {
	st, done, err := committedStore()
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	verdicts, err := decide(st, paper.Claims)
	if err != nil {
		t.Fatal(err)
	}
	books, err := filepath.Glob(filepath.Join("..", "notebooks", "*.ipynb"))
	if err != nil || len(books) == 0 {
		t.Fatal("no notebooks", err)
	}
	for _, file := range books {
		name := strings.TrimSuffix(filepath.Base(file), ".ipynb")
		shown := shownBy(t, name)
		for _, v := range verdicts {
			claim := "</b>: " + html.EscapeString(v.Says)
			if want := " " + string(v.State) + claim; (v.Shown == name || strings.Contains(shown, claim)) && !strings.Contains(shown, want) {
				t.Errorf("%s does not show %q: go run ./reproduce notebooks -only %s -write", name, want, name)
			}
		}
	}
}

// param is a variable that a form sets, with the options of its menu. Options follow on further lines of comments.
var param = regexp.MustCompile(`(?m)^var (\w+) = (.*?) // @param ?(.*(?:\n//.*)*)$`)

func TestMenusOfNotebooksOfferWhatThereIs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "notebooks", "*.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]*paper.Benchmark{"t1_performance": paper.Sota, "t2_agents": paper.Agents, "t3_ablations": paper.Ablation, "t4_density": paper.Density}
	heads := func(table *paper.Benchmark) (rows []string) {
		for _, row := range table.Rows {
			rows = append(rows, row.Head)
		}
		return rows
	}
	menus := map[string]int{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".ipynb")
		for _, cell := range cellsOf(t, file) {
			for _, found := range param.FindAllStringSubmatch(strings.Join(cell.Source, ""), -1) {
				variable, options := found[1], strings.Split(strings.ReplaceAll(strings.ReplaceAll(found[3], "\n//", " "), ", ", ","), ",")
				for i := range options {
					options[i] = strings.TrimSpace(options[i])
				}
				options = slices.DeleteFunc(options, func(o string) bool { return o == "" })
				if value := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(found[2], "nb.Budget("), ")"), `"`); len(options) > 1 && !slices.Contains(options, value) {
					t.Errorf("%s: the menu of %s has no option %s", name, variable, value)
				}
				menus[variable]++
				switch variable {
				case "row":
					if want := heads(tables[name]); !slices.Equal(options, want) {
						t.Errorf("%s: rows %q, want %q", name, options, want)
					}
				case "column":
					if want := tables[name].Columns; !slices.Equal(options, want) {
						t.Errorf("%s: columns %q, want %q", name, options, want)
					}
				case "which":
					if want := envs.Names(); !slices.Equal(slices.Sorted(slices.Values(options)), slices.Sorted(slices.Values(want))) {
						t.Errorf("%s: tasks %q, want %q", name, options, want)
					}
				case "task", "method", "learner", "budget":
					for _, o := range options {
						known := map[string]func() error{
							"task":    func() error { _, err := plan.FindTask(o); return err },
							"method":  func() error { _, err := plan.FindMethod(o); return err },
							"learner": func() error { _, err := plan.FindMethod(o + "-cermic"); return err },
							"budget":  func() error { _, err := plan.FindPreset(o); return err },
						}
						if err := known[variable](); err != nil {
							t.Errorf("%s: %s: %v", name, variable, err)
						}
					}
				}
			}
		}
	}
	if menus["row"] != 4 || menus["column"] != 4 || menus["alpha"] != 8 {
		t.Errorf("forms were found with %v", menus)
	}
}
