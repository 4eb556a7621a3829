// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cermic/cermiclib/results"
)

// damages are what may happen to a file that nobody looks after.
var damages = map[string]func(data []byte) []byte{
	"a flipped bit":  func(data []byte) []byte { data[len(data)*2/3] ^= 4; return data },
	"a cut-off end":  func(data []byte) []byte { return data[:len(data)/2] },
	"an empty file":  func([]byte) []byte { return nil },
	"something else": func([]byte) []byte { return []byte("{}\n") },
}

// repair damages a file of a run, runs it again and returns what the user is told.
func repair(t *testing.T, st *results.Store, e Config, id, file string, damage func([]byte) []byte) (notes string) {
	t.Helper()
	path := filepath.Join(st.Dir(), id, file)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, damage(data), 0o644); err != nil {
		t.Fatal(err)
	}
	var lines []string
	r, err := Run(t.Context(), e, st, func(e results.Event) {
		if e.Note != "" {
			lines = append(lines, e.Note)
		}
	})
	if err != nil || !r.Complete {
		t.Fatalf("%s: %v", file, err)
	}
	return strings.Join(lines, "\n")
}

func TestDamagedFilesOfAStoppedRunAreNamedAndDoneAgain(t *testing.T) {
	e := tiny(12)
	e.Budget.EvalEvery = 200
	whole := open(t)
	want, err := Run(t.Context(), e, whole)
	if err != nil {
		t.Fatal(err)
	}
	stopped := open(t)
	stopIn(t, stopped, 12, learning, nil)
	for _, file := range []string{"checkpoint.safetensors", "record.json"} {
		for name, damage := range damages {
			if testing.Short() && name != "a flipped bit" {
				continue
			}
			st := open(t)
			if err := os.CopyFS(st.Dir(), os.DirFS(stopped.Dir())); err != nil {
				t.Fatal(err)
			}
			notes := repair(t, st, e, want.ID, file, damage)
			if !strings.Contains(notes, file) {
				t.Errorf("%s with %s is not named:\n%s", file, name, notes)
			}
			if !strings.Contains(notes, "set aside as "+file+".damaged-1") {
				t.Errorf("%s with %s was not set aside:\n%s", file, name, notes)
			}
			sameRecord(t, record(t, whole, want.ID), record(t, st, want.ID))
		}
	}
}
