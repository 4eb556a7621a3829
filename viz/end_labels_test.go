// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"slices"
	"testing"
)

func TestNamesThatAreCutStayApart(t *testing.T) {
	long := []string{"MAPPO", "MAPPO-CERMIC memory=graph memory.pretrained=012345", "MAPPO-CERMIC memory=gru memory.pretrained=012345",
		"MAPPO-CERMIC memory=gru memory.pretrained=543210", "MAPPO-ε-greedy task.reward=dense learner.lr=1"}
	for i := range 3 {
		long = append(long, fmt.Sprintf("QMIX-CERMIC learner.lr=%d task.noise.size=0.5 task.reward=dense", i))
	}
	got := brief(long)
	for i, name := range got {
		if len([]rune(name)) > longestName {
			t.Errorf("%s has %d letters, want at most %d", name, len([]rune(name)), longestName)
		}
		if slices.Index(got, name) != i {
			t.Errorf("%q and %q both read %q", long[slices.Index(got, name)], long[i], name)
		}
	}
	if got[0] != "MAPPO" {
		t.Errorf("a short name reads %q", got[0])
	}
}

func TestEndLabelsStayInTheFrame(t *testing.T) {
	at := []float64{-3, 0, 0, 99, 100}
	spread(at, 10, 5, 95)
	if at[0] != 5 || at[4] != 95 || !slices.IsSorted(at) {
		t.Errorf("labels lie at %v, want from 5 to 95", at)
	}
}
