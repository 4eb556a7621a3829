// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"strings"
	"testing"
)

// The published MAPPO on Balance is 60.3.
func TestEveryTaskSaysWhichRewardThePublishedScoreIsLike(t *testing.T) {
	for lines, want := range map[string]string{
		"vmas/balance mappo task.reward=dense: 52 58|vmas/balance mappo: -10 -12":  "published like ours from the dense reward",
		"vmas/balance mappo task.reward=dense: 90 90|vmas/balance mappo: 60 61":    "published like ours from the sparse reward",
		"vmas/balance mappo task.reward=dense: 100 100|vmas/balance mappo: 20 20":  "published between the two",
		"vmas/balance mappo task.reward=dense: 30 30|vmas/balance mappo: 10 10":    "published beyond ours from the dense reward",
		"vmas/balance mappo task.reward=dense: 30 30|vmas/balance mappo: 30 31":    "the reward makes little difference here",
		"vmas/balance mappo task.reward=dense: 30 30|vmas/navigation mappo: 30 31": "not known yet",
	} {
		table, err := DenseAndSparse(storeOf(t, strings.Split(lines, "|")...), "short", "mappo")
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Header) {
				t.Fatalf("row %v under %v", row, table.Header)
			}
			if row[0] == "Balance" && row[4] != want {
				t.Errorf("%s: %q, want %q", lines, row[4], want)
			}
			// Navigation is trained on the dense reward by default: that run stands in the first column.
			if row[0] == "Navigation" && strings.Contains(lines, "navigation") && !strings.HasPrefix(row[1], "30.50 [") {
				t.Errorf("navigation: %v", row)
			}
		}
	}
	if _, err := DenseAndSparse(storeOf(t), "short", "mapo"); err == nil {
		t.Error("an unknown method has a column")
	}
}
