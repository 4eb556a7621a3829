// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cermic/cermiclib/results"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
)

// outputs is all HTML that a committed notebook shows.
func outputs(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "notebooks", name+".ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	var book struct {
		Cells []struct {
			Outputs []struct {
				Data map[string]json.RawMessage `json:"data"`
			} `json:"outputs"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(data, &book); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, c := range book.Cells {
		for _, o := range c.Outputs {
			var lines []string
			var text string
			if json.Unmarshal(o.Data["text/html"], &lines) == nil {
				text = strings.Join(lines, "")
			} else if json.Unmarshal(o.Data["text/html"], &text) != nil {
				continue
			}
			all.WriteString(text)
		}
	}
	return all.String()
}

// Whoever commits records executes the notebooks that show them.
func TestExecutedNotebooksShowTheCommittedRecords(t *testing.T) {
	st, err := results.Open(t.TempDir())
	if err == nil {
		err = st.Base(records.FS)
	}
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
	grid := func(table *paper.Table) shown { g, err := table.Grid(st, budget); return must(g, err) }
	rewards, err := paper.DenseAndSparse(st, budget, []string{"mappo", "mappo-cermic"})
	must(rewards, err)
	endings, err := plan.Endings(st, []string{"navigation", "balance"}, budget, "dense")
	must(endings, err)
	against := func(task string) shown {
		rs, err := plan.Memories(st, task, "mappo", budget)
		if err != nil {
			t.Fatal(err)
		}
		return plan.Against(rs)
	}
	for name, tables := range map[string][]shown{
		"t1_performance": {grid(paper.Sota), rewards}, "t2_agents": {grid(paper.Agents)}, "t3_ablations": {grid(paper.Ablation)},
		"t4_density": {grid(paper.Density), rewards}, "f_curves": {endings}, "f_memory": {against("navigation"), against("flocking")},
	} {
		book := outputs(t, name)
		for _, table := range tables {
			if !strings.Contains(book, table.HTML()) {
				title, _, _ := strings.Cut(strings.TrimPrefix(table.HTML(), `<div style="overflow-x:auto">`), "</p>")
				t.Errorf("%s does not show what the committed records say in %q: go run ./reproduce notebooks -only %s -write", name, title, name)
			}
		}
	}
}
