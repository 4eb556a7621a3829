// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"encoding/json"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"cermic/reproduce/figures"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
)

// shownBy is all HTML that a committed notebook shows.
func shownBy(t *testing.T, name string) string {
	t.Helper()
	outputs, err := outputsOf(filepath.Join("..", "notebooks", name+".ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, data := range outputs {
		var lines []string
		var text string
		if json.Unmarshal(data["text/html"], &lines) == nil {
			text = strings.Join(lines, "")
		} else if json.Unmarshal(data["text/html"], &text) != nil {
			continue
		}
		all.WriteString(text)
	}
	return all.String()
}

// Whoever commits records executes the notebooks that show them.
func TestExecutedNotebooksShowTheCommittedRecords(t *testing.T) {
	st, err := openStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const budget = "short"
	type shown interface{ HTML() string }
	must := func(v shown, err error) shown {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	grid := func(table *paper.Benchmark) shown { g, err := table.Results(plan.At(st, budget)); return must(g, err) }
	rewards := func(suite paper.Suite, methods ...string) shown {
		t, err := paper.DenseAndSparse(plan.At(st, budget), suite, methods)
		return must(t, err)
	}
	endings, err := figures.FinalScores(st, []string{"navigation", "balance"}, budget, "dense")
	must(endings, err)
	against := func(task string) shown {
		rs, err := figures.Memories(st, task, "mappo", budget)
		if err != nil {
			t.Fatal(err)
		}
		table, err := figures.Comparison(rs)
		return must(table, err)
	}
	for name, tables := range map[string][]shown{
		"t1_performance": {grid(paper.Sota), rewards(paper.VMAS, "mappo", "mappo-cermic")}, "t2_agents": {grid(paper.Agents)}, "t3_ablations": {grid(paper.Ablation)},
		"t4_density": {grid(paper.Density), rewards(paper.VMAS, "mappo", "mappo-cermic")},
		"s_battles":  {rewards(paper.SMACv2, "mappo", "mappo-cermic"), rewards(paper.SMACv2, "qmix", "qmix-cermic")},
		"f_curves":   {endings}, "f_memory": {against("navigation"), against("flocking")},
	} {
		book := shownBy(t, name)
		for _, table := range tables {
			if !strings.Contains(book, table.HTML()) {
				title, _, _ := strings.Cut(strings.TrimPrefix(table.HTML(), `<div style="overflow-x:auto">`), "</p>")
				t.Errorf("%s does not show what the committed records say in %q: go run ./reproduce notebooks -only %s -write", name, title, name)
			}
		}
	}
}

// No figure of a notebook is wider than a page: wider ones are scaled down until nothing can be read.
func TestFiguresOfNotebooksFitAPage(t *testing.T) {
	const widest = 1100 // pixels
	files, err := filepath.Glob(filepath.Join("..", "notebooks", "*.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		outputs, err := outputsOf(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range outputs {
			var text string
			if json.Unmarshal(data["image/png"], &text) != nil {
				continue
			}
			size, err := png.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
			if seen++; err != nil || size.Width > widest {
				t.Errorf("%s has a figure of %d pixels, want %d at most: %v", filepath.Base(file), size.Width, widest, err)
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d figures in %d notebooks: they are not read", seen, len(files))
	}
}
