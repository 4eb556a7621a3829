// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// texCell is one cell of a LaTeX table: its text without markup, and whether it is bold.
type texCell struct {
	text string
	bold bool
}

var (
	markup = regexp.MustCompile(`\\(textsc|texttt|textbf|textit|emph|rotatebox\{90\}|cite|cellcolor(\[HTML\])?)\{[^{}]*\}`)
	small  = regexp.MustCompile(`\{\\scriptsize([^{}]*)\}`)
	name   = regexp.MustCompile(`^\\[a-z]+(\[HTML\]|\{90\})?\{`)
)

// texRows reads testdata/table<number>.tex, a verbatim copy of the paper's source, as rows of cells.
func texRows(t *testing.T, number int) [][]texCell {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("testdata/table%d.tex", number))
	if err != nil {
		t.Fatal(err)
	}
	body := string(raw)
	body = body[strings.Index(body, `\begin{tabular}`):strings.Index(body, `\end{tabular}`)]
	var rows [][]texCell
	for line := range strings.SplitSeq(body, `\\`) {
		line = regexp.MustCompile(`\\(hline|hdashline|toprule|midrule|bottomrule)`).ReplaceAllString(line, "")
		var row []texCell
		for part := range strings.SplitSeq(line, "&") {
			row = append(row, texCell{strip(part), strings.Contains(part, `\textbf`)})
		}
		rows = append(rows, row)
	}
	return rows
}

// strip removes markup and keeps what a reader sees; citations and colours vanish.
func strip(s string) string {
	s = small.ReplaceAllString(s, "$1")
	s = strings.NewReplacer(`\pm`, "±", "$", "", `{* \ }`, "*", `\ `, " ").Replace(s)
	for markup.MatchString(s) {
		s = markup.ReplaceAllStringFunc(s, func(m string) string {
			if strings.HasPrefix(m, `\cite`) || strings.HasPrefix(m, `\cellcolor`) {
				return ""
			}
			return strings.TrimSuffix(name.ReplaceAllString(m, ""), "}")
		})
	}
	return strings.Join(strings.Fields(strings.NewReplacer("{", "", "}", "", "^", "").Replace(s)), " ")
}

// numbers keeps the rows that hold a number after their head.
func numbers(rows [][]texCell) [][]texCell {
	var out [][]texCell
	for _, row := range rows {
		if len(row) > 1 {
			if _, err := strconv.ParseFloat(strings.Fields(row[1].text + " -")[0], 64); err == nil {
				out = append(out, row)
			}
		}
	}
	return out
}

func TestEveryPublishedResultAndItsHeadAreThoseOfTheLaTeX(t *testing.T) {
	for _, table := range Benchmarks {
		rows := numbers(texRows(t, table.Number))
		if table == Agents {
			rows = rows[1:] // the head of Table 2 is numbers too
		}
		if len(rows) != len(table.Rows) {
			t.Fatalf("table %d has %d rows of numbers in the LaTeX, %d here", table.Number, len(rows), len(table.Rows))
		}
		for i, row := range table.Rows {
			if len(row.Cells) != len(table.Columns) || len(rows[i]) != 1+len(table.Columns) {
				t.Fatalf("table %d, %s: %d cells, %d columns, %d in the LaTeX", table.Number, row.Head, len(row.Cells), len(table.Columns), len(rows[i])-1)
			}
			head := strings.NewReplacer("(ours)", "", `\epsilon`, "ε", `l\text`, "l").Replace(fold(rows[i][0].text))
			if got := fold(row.Head); got != head {
				t.Errorf("table %d, row %d is %q, want %q", table.Number, i, got, head)
			}
			for j, cell := range row.Cells {
				want := strings.NewReplacer("(", "", ")", "", "±", "± ").Replace(rows[i][j+1].text)
				if cell.Printed() != want || cell.Bold != rows[i][j+1].bold {
					t.Errorf("table %d, %s, %s: %q bold %v, want %q bold %v", table.Number, row.Head, table.Columns[j],
						cell.Printed(), cell.Bold, want, rows[i][j+1].bold)
				}
			}
		}
	}
}

func TestColumnsOfTable1CarryTheAbbreviationsOfTheLaTeX(t *testing.T) {
	for _, row := range texRows(t, 1) {
		if len(row) != 16 || row[1].text != "Disper" {
			continue
		}
		for i, task := range Tasks {
			if strings.TrimSpace(row[i+1].text) != task.Abbreviation {
				t.Errorf("column %d is %q, want %q", i, task.Abbreviation, row[i+1].text)
			}
		}
		return
	}
	t.Error("the LaTeX has no row of heads")
}

// settings returns a LaTeX table of settings as head -> cells.
func settings(t *testing.T, number int) map[string][]string {
	out := map[string][]string{}
	for _, row := range texRows(t, number) {
		if len(row) < 2 {
			continue
		}
		for _, cell := range row[1:] {
			out[row[0].text] = append(out[row[0].text], cell.text)
		}
	}
	return out
}

func TestHyperParametersAreTheOnesInTheLaTeX(t *testing.T) {
	rows := settings(t, 6)
	for _, c := range []struct {
		head string
		got  any
	}{
		{`Discount Factor (\gamma)`, Hyper.General.Discount},
		{"Learning Rate (Adam)", Hyper.General.LearningRate},
		{`Adam Optimizer \epsilon`, Hyper.General.AdamEps},
		{`Polyak Tau (\tau)`, Hyper.TargetUpdates.Polyak},
		{`Initial Epsilon (\epsilon_\textinit)`, Hyper.Exploration.EpsInit},
		{`Final Epsilon (\epsilon_\textend)`, Hyper.Exploration.EpsEnd},
		{"Max Frames", Hyper.Duration.MaxFrames},
		{"Collected Frames per Batch", Hyper.OnPolicy.Frames},
		{"Environments per Worker", Hyper.OnPolicy.NumEnvs},
		{"Minibatch Iterations", Hyper.OnPolicy.Epochs},
		{"Minibatch Size", Hyper.OnPolicy.Minibatch},
		{"Optimizer Steps per Collection", Hyper.OffPolicy.Steps},
		{"Train Batch Size", Hyper.OffPolicy.TrainBatch},
		{"Replay Buffer Size", Hyper.OffPolicy.Replay},
	} {
		if len(rows[c.head]) != 1 {
			t.Errorf("the LaTeX has no row %q", c.head)
			continue
		}
		want, err := strconv.ParseFloat(rows[c.head][0], 64)
		got, _ := strconv.ParseFloat(fmt.Sprint(c.got), 64)
		if err != nil || got != want {
			t.Errorf("%s is %v, want %s", c.head, c.got, rows[c.head][0])
		}
	}
}

func TestMemorySizesAreTheOnesInTheLaTeX(t *testing.T) {
	rows := settings(t, 5)
	for _, c := range []struct {
		head string
		size func(MemorySize) *int
	}{
		{"Node Embedding Dim (D_node)", func(m MemorySize) *int { return m.Node }},
		{"Edge Embedding Dim (D_edge)", func(m MemorySize) *int { return m.Edge }},
		{`Obs. Encoder Output Dim (D_obs\_enc)`, func(m MemorySize) *int { return m.Encoder }},
		{"Memory/State Output Dim", func(m MemorySize) *int { return m.Output }},
		{"Obs. Encoder (CNN) Layers/Depth", func(m MemorySize) *int { return m.Conv }},
		{"GNN Layers (L_GNN)", func(m MemorySize) *int { return m.GNNLayers }},
		{`GNN Hidden Dim (D_GNN\_hid)`, func(m MemorySize) *int { return m.GNNHidden }},
		{"GNN Heads (N_heads)", func(m MemorySize) *int { return m.GNNHeads }},
		{"MLP Hidden Layers (L_MLP)", func(m MemorySize) *int { return m.MLPLayers }},
		{"MLP Hidden Units/Layer (U_MLP)", func(m MemorySize) *int { return m.MLPUnits }},
		{"GRU Layers (L_GRU)", func(m MemorySize) *int { return m.GRULayers }},
	} {
		head := c.head
		for candidate := range rows {
			if strings.TrimPrefix(candidate, `\quad `) == c.head {
				head = candidate
			}
		}
		for i, kind := range []string{"graph", "mlp", "gru"} {
			if len(rows[head]) != 3 {
				t.Errorf("the LaTeX has no row %q", c.head)
				break
			}
			got, want := "-", regexp.MustCompile(`\d+|-$`).FindString(rows[head][i])
			if size := c.size(Memories[kind]); size != nil {
				got = strconv.Itoa(*size)
			}
			if got != want {
				t.Errorf("%s of %s is %s, want %q", c.head, kind, got, rows[head][i])
			}
		}
	}
}
