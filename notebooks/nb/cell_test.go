// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cermic/cermiclib/results"
)

func TestAnInterruptedTrainingIsNamedInOtherCellsOnly(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("NB_KERNEL", folder)
	t.Setenv("NB_STORE", t.TempDir())
	if err := os.WriteFile(filepath.Join(folder, cellNote), []byte(`{"number":5,"name":"train"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	st, err := results.Open(storeFolder())
	if err != nil {
		t.Fatal(err)
	}
	r, err := st.Claim(t.Context(), "0123abcd", []byte(`{}`), results.Record{Task: "vmas/balance", Method: "mappo"}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.AppendScalars(6000, map[string]float64{"x": 1}); err != nil {
		t.Fatal(err)
	}
	interrupted(r.Record(), false)
	if line := unfinished(cell{Number: 6, Name: "look"}); !strings.Contains(line, "cell [5] was interrupted at 6000 frames (run 0123abcd") {
		t.Errorf("another cell says %q", line)
	}
	if line := unfinished(cell{Number: 7, Name: "train"}); line != "" {
		t.Errorf("the cell that goes on with it says %q", line)
	}
	if err := r.Finish(results.Host{}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if line := unfinished(cell{Number: 8, Name: "look"}); line != "" {
		t.Errorf("once it is complete another cell says %q", line)
	}
}
