// SPDX-License-Identifier: Apache-2.0

package results

import "testing"

// A run that is stopped in its first iteration, or that has scalars but no evaluation yet, has a checkpoint and an empty file.
func TestACheckpointBeforeTheFirstLineIsGoneOnFrom(t *testing.T) {
	for lines := range 2 {
		dir := t.TempDir()
		r := claimTest(t, openTest(t, dir))
		for range lines {
			if err := r.AppendScalars(100, map[string]float64{"loss": 1}); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.SaveCheckpoint(Checkpoint{Frames: 100, Meta: map[string]string{"note": "mine"}}); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r = claimTest(t, openTest(t, dir)) // a note would fail the test
		if c, ok := r.LoadCheckpoint(); !ok || c.Meta["note"] != "mine" {
			t.Errorf("%d lines: the checkpoint is not used: %+v, %v", lines, c, ok)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
