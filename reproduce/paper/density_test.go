// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"strings"
	"testing"
)

// The published MAPPO on Balance is 60.3.
func TestEveryTaskSaysWhichRewardThePublishedScoreIsLike(t *testing.T) {
	for lines, want := range map[string]string{
		"vmas/balance mappo task.reward=dense: 58 62|vmas/balance mappo: -10 -12":  "published within ours from the dense reward",
		"vmas/balance mappo task.reward=dense: 90 90|vmas/balance mappo: 60 61":    "published within ours from the sparse reward",
		"vmas/balance mappo task.reward=dense: 100 100|vmas/balance mappo: 20 20":  "published nearer to ours from the dense reward, below it",
		"vmas/balance mappo task.reward=dense: 30 30|vmas/balance mappo: 10 10":    "published nearer to ours from the dense reward, above it",
		"vmas/balance mappo task.reward=dense: 100|vmas/balance mappo: 40":         "published nearer to ours from the sparse reward, above it",
		"vmas/balance mappo task.reward=dense: 30 30|vmas/balance mappo: 30 31":    "the reward makes little difference here",
		"vmas/balance mappo task.reward=dense: 30 30|vmas/navigation mappo: 30 31": "not known yet",
	} {
		table, err := DenseAndSparse(sourceOf(t, strings.Split(lines, "|")...), VMAS, []string{"mappo"})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Header) {
				t.Fatalf("row %v under %v", row, table.Header)
			}
			if row[0] == "Balanc*" && row[4] != want {
				t.Errorf("%s: %q, want %q", lines, row[4], want)
			}
			// Navigation is trained on the dense reward by default: that run stands in the first column.
			if row[0] == "Naviga" && strings.Contains(lines, "navigation") && row[1] != "30.50 [30.00, 31.00] × 2" {
				t.Errorf("navigation: %v", row)
			}
		}
	}
	battles, err := DenseAndSparse(sourceOf(t, "smac/zerg_5_vs_5 mappo task.reward=dense: 0.2 0.25"), SMACv2, []string{"mappo"})
	if err != nil {
		t.Fatal(err)
	}
	if rows := battles.Rows; len(rows) != 2 || rows[1][1] != "0.22 [0.20, 0.25] × 2" || !strings.Contains(battles.Notes[0], "share of battles won") {
		t.Errorf("battles: %q, %q", battles.Rows, battles.Notes[0])
	}
	if _, err := DenseAndSparse(sourceOf(t), VMAS, []string{"mapo"}); err == nil {
		t.Error("an unknown method has a column")
	}
	changed, err := DenseAndSparse(sourceOf(t, "vmas/balance mappo-cermic explore.alpha=0.5 task.reward=dense: 1 2", "vmas/balance mappo task.reward=dense: 3 4"),
		VMAS, []string{"mappo", "mappo-cermic"}, "explore.alpha=0.5")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range changed.Rows {
		if row[0] == "Balanc*" && (row[1] != "3.5 [3.0, 4.0] × 2" || row[5] != "1.5 [1.0, 2.0] × 2") {
			t.Errorf("with a change to CERMIC's runs alone: %q", row)
		}
	}
}
