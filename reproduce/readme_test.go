// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cermic/cermiclib"
	"cermic/envs/envtest/must"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
)

// Names, dates and code are no measurements.
var noMeasurements = regexp.MustCompile("(?sm)```.*?```|`[^`]*`|(\\[\\d\\d_\\w+)?\\]\\([^)]*\\)|<[^>]*>|" +
	`^\d\. |(Table|Figure|Theorem) \d+|\d+ min\b|\d+\s+October 2025|November 2026|2026\.|NeurIPS 2025`)

// Every number of README is one that this test computes, or reads in the page that has its source.
func TestEveryNumberOfTheReadmeHasASource(t *testing.T) {
	text := noMeasurements.ReplaceAllString(rootFile(t, "README.md"), " ")
	var known []string
	add := func(format string, args ...any) { known = append(known, fmt.Sprintf(format, args...)) }

	add("and %d notebooks", len(globbed(t, filepath.Join("..", "notebooks", "*.ipynb"))))
	tasks, methods := len(plan.Tasks()), 0
	add("What do the %d tasks", tasks)
	add("| %d: VMAS", tasks)
	for _, m := range paper.Methods {
		if paper.InTables(m.ID) {
			methods++
		}
	}
	add("| methods | %d,", methods)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(rootFile(t, "go.mod"))
	add("Go %s,", version[1])
	if !strings.Contains(rootFile(t, "reproduce/setup.go"), "install Python 3.11 or newer") {
		t.Error("set-up asks for another Python")
	}
	add("Python 3.11")
	add("| 9, none with curiosity |") // by its documentation, as the next
	add("over 20 scenarios")
	add("Left α = 0: they watch. Right α = .2: they open")
	add("trains %s frames", thousands(t, "short"))
	add("%s with the settings", thousands(t, "paper"))
	for _, budget := range []string{"short", "paper"} {
		row := "|   |"
		for _, table := range []*paper.Benchmark{paper.Sota, paper.Agents, paper.Ablation, paper.Density} {
			done, all := covered(t, table, budget)
			row += fmt.Sprintf(" %d of %d |", done, all)
		}
		add("%s", row)
	}
	measured := func(page, row, format string) {
		at := regexp.MustCompile(regexp.QuoteMeta(row) + `.*\| ([\d.]+) × \(([\d.]+) to ([\d.]+)\) \|`).FindStringSubmatch(rootFile(t, page))
		if at == nil {
			t.Fatalf("%s has no row %q", page, row)
		}
		add(format, at[1], at[2], at[3])
	}
	measured("reproduce/PERFORMANCE.md", "| Balance from Go, 60 parallel environments |", "%s times as fast as in VMAS (%s to %s)")
	measured("reproduce/PERFORMANCE.md", "| MAPPO at the paper's settings, end to end | 2,190", "%s times as fast (%s to %s)")
	for _, said := range []struct{ page, source, shown string }{
		{"reproduce/CLAIMS.md", "α = .2 succeeds in 9 of 10 runs, α = 0 in 0 of 10 (Fisher's exact test, one-sided, Holm: p = 0.00012)", "in 9 of 10 runs. With α = 0 (p = .0001)"},
		{"reproduce/CLAIMS.md", "never trained in 0 of 10 (Fisher's exact test, one-sided, Holm: p = 0.00012)", "untrained\n   module (p = .0001)"},
		{"reproduce/FINDINGS.md", "MACE, MAPPO-RFF, MAPPO-DB and MAPPO open it in 0 of 10", "MACE it is 0 of 10"},
		{"reproduce/FINDINGS.md", "√KL is 6.87 per step with a standard deviation of .12", "6.87 ± .12 per step"},
		{"reproduce/FINDINGS.md", "with weight 1, it holds MAPPO", "With weight 1, MAPPO does not learn"},
	} {
		if !strings.Contains(rootFile(t, said.page), said.source) {
			t.Errorf("%s does not say %q", said.page, said.source)
		}
		add("%s", said.shown)
	}

	for _, k := range known {
		if !strings.Contains(text, k) {
			t.Errorf("README.md does not say %q", k)
		}
		text = strings.Replace(text, k, " ", 1)
	}
	for _, m := range regexp.MustCompile(`(?m)^.*?(?:^|[^\w/.-])(\.?\d[\d.,]*).*$`).FindAllStringSubmatch(text, -1) {
		t.Errorf("README.md has the number %s, whose source no rule knows, in %q", m[1], m[0])
	}
}

// thousands is the number of frames of a budget, as README writes it.
func thousands(t *testing.T, budget string) string {
	p := must.Get(cermiclib.FindPreset(budget))(t)
	text := fmt.Sprint(p.Budget.Frames)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// covered counts the experiments of a table with three seeds, and those with a committed record.
func covered(t *testing.T, table *paper.Benchmark, budget string) (done, all int) {
	st := committedStore(t)
	es, _ := plan.Benchmark(table, budget, 3)
	for _, e := range es {
		id := must.Get(e.ID())(t)
		if r, err := st.Head(id); err == nil && r.Complete {
			done++
		}
	}
	return done, len(es)
}
