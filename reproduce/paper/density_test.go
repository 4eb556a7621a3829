// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"slices"
	"strings"
	"testing"
)

// Navigation is trained on the dense reward by default: a run without settings stands in the first column.
func TestScoresOfEitherRewardStandBesideThePublishedOne(t *testing.T) {
	src := sourceOf(t, "vmas/balance mappo task.reward=dense: 3 4", "vmas/balance mappo: 1", "vmas/navigation mappo: 30 31",
		"vmas/balance mappo-cermic explore.alpha=0.5 task.reward=dense: 1 2", "smac/zerg_5_vs_5 mappo task.reward=dense: 0.2 0.25")
	rows := func(suite Suite) (rows map[string][]string, note string) {
		table, err := DenseAndSparse(src, suite, []string{"mappo", "mappo-cermic"}, "explore.alpha=0.5")
		if err != nil {
			t.Fatal(err)
		}
		rows = map[string][]string{}
		for _, row := range table.Rows {
			rows[row[0]] = row[1:]
			if len(row) != len(table.Header) {
				t.Errorf("row %v under %v", row, table.Header)
			}
		}
		return rows, table.Notes[0]
	}
	got, _ := rows(VMAS)
	battles, note := rows(SMACv2)
	for name, c := range map[string]struct{ got, want []string }{
		"balance":    {got["Balanc*"], []string{"3.5 [3.0, 4.0] × 2", "1.0 × 1", "60.3", "1.5 [1.0, 2.0] × 2", "–", "67.3"}},
		"navigation": {got["Naviga"], []string{"30.50 [30.00, 31.00] × 2", "–", "1.08", "–", "–", "1.44"}},
		"battles":    {battles["zer5v5*"][:2], []string{"0.22 [0.20, 0.25] × 2", "–"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
	if len(got) != 9 || len(battles) != 2 || !strings.Contains(note, "share of battles won") {
		t.Errorf("%d tasks of VMAS, %d battles, %q", len(got), len(battles), note)
	}
	if _, err := DenseAndSparse(src, VMAS, []string{"mapo"}); err == nil {
		t.Error("an unknown method has a column")
	}
}
