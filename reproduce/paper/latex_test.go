// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"cermic/envs/envtest/must"
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
	raw := must.Get(os.ReadFile(fmt.Sprintf("testdata/table%d.tex", number)))(t)
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
			head := strings.NewReplacer("(ours)", "", `\epsilon`, "eps", `l\text`, "l").Replace(fold(rows[i][0].text))
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

func TestSettingsAreTheOnesInTheLaTeX(t *testing.T) {
	rows := settings(t, 6)
	for head, key := range map[string]string{
		`Discount Factor (\gamma)`: "general.discount_gamma", "Learning Rate (Adam)": "general.learning_rate_adam",
		`Adam Optimizer \epsilon`: "general.adam_eps", `Polyak Tau (\tau)`: "target_updates.polyak_tau",
		`Initial Epsilon (\epsilon_\textinit)`: "exploration.eps_init", `Final Epsilon (\epsilon_\textend)`: "exploration.eps_end",
		"Max Frames": "duration.max_frames", "Collected Frames per Batch": "on_policy.collected_frames_per_batch",
		"Environments per Worker": "on_policy.envs_per_worker", "Minibatch Iterations": "on_policy.minibatch_iterations",
		"Minibatch Size": "on_policy.minibatch_size", "Optimizer Steps per Collection": "off_policy.optimizer_steps_per_collection",
		"Train Batch Size": "off_policy.train_batch_size", "Replay Buffer Size": "off_policy.replay_buffer_size",
	} {
		want, err := strconv.ParseFloat(strings.Join(rows[head], ""), 64)
		if got, _ := strconv.ParseFloat(Hyper(key), 64); err != nil || got != want {
			t.Errorf("%s is %s, want %q", head, Hyper(key), rows[head])
		}
	}
	rows = settings(t, 5)
	for head, key := range map[string]string{
		"Node Embedding Dim (D_node)": "node_embedding_dim", "Edge Embedding Dim (D_edge)": "edge_embedding_dim",
		`Obs. Encoder Output Dim (D_obs\_enc)`: "obs_encoder_output_dim", "Memory/State Output Dim": "memory_output_dim",
		"Obs. Encoder (CNN) Layers/Depth": "obs_encoder_conv_layers", "GNN Layers (L_GNN)": "gnn_layers",
		`GNN Hidden Dim (D_GNN\_hid)`: "gnn_hidden_dim", "GNN Heads (N_heads)": "gnn_heads", "MLP Hidden Layers (L_MLP)": "mlp_hidden_layers",
		"MLP Hidden Units/Layer (U_MLP)": "mlp_hidden_units", "GRU Layers (L_GRU)": "gru_layers",
	} {
		cells := append(rows[head], rows[`\quad `+head]...)
		if len(cells) != 3 {
			t.Errorf("the LaTeX has %d cells of %q", len(cells), head)
			continue
		}
		for i, kind := range []string{"graph", "mlp", "gru"} {
			if got, want := cmp.Or(MemorySize(kind, key), "-"), regexp.MustCompile(`\d+|-$`).FindString(cells[i]); got != want {
				t.Errorf("%s of %s is %s, want %q", head, kind, got, cells[i])
			}
		}
	}
}
