// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cermic/reproduce/paper"
	"cermic/reproduce/records"
)

// Every notebook asks a question. One of a table or a figure answers it first: its first output is a verdict, or says that there is no claim.
func TestNotebooksAskAndThoseOfThePaperAnswerFirst(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "notebooks", "*.ipynb"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d notebooks, %v", len(files), err)
	}
	for _, file := range files {
		var book struct {
			Cells []struct {
				Kind   string   `json:"cell_type"`
				Source []string `json:"source"`
			} `json:"cells"`
		}
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &book)
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		if title := strings.TrimSpace(book.Cells[0].Source[0]); !strings.HasPrefix(title, "# ") || !strings.HasSuffix(title, "?") {
			t.Errorf("%s has the title %q, want a question", name, title)
		}
		if !strings.HasPrefix(name, "t") && !strings.HasPrefix(name, "f") {
			continue
		}
		for _, cell := range book.Cells {
			if cell.Kind == "code" {
				if first := strings.Join(cell.Source, ""); !strings.Contains(first, "Verdict(") && !strings.Contains(first, "nb.NoClaim(") {
					t.Errorf("%s begins with %q, want a verdict", name, first)
				}
				break
			}
		}
	}
}

// Whoever changes what decides a claim executes the notebook that shows it.
func TestNotebooksShowTodaysVerdicts(t *testing.T) {
	st, done, err := storeOf(records.FS)
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
