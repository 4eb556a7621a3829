// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestARunIsDeletedUnlessSomebodyTrainsIt(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, dir)
	r := claimTest(t, s)
	if err := s.Delete(testID); !errors.Is(err, ErrBusy) {
		t.Errorf("a run in training: %v, want ErrBusy", err)
	}
	if err := r.AppendEval(Eval{Frames: 10, Scores: []float64{1}}); err != nil {
		t.Errorf("the trainer is disturbed: %v", err)
	}
	if err := r.Finish(Host{}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Get(testID); err != nil || !found.Complete {
		t.Fatalf("%+v, %v", found, err)
	}
	if err := s.Delete(testID); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, testID)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its folder: %v", err)
	}
	if err := s.Delete(testID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a second time: %v, want that there is none", err)
	}
	if err := s.Delete("../" + testID); err == nil {
		t.Error("a path is deleted")
	}
	again := claimTest(t, s) // and can be trained anew
	if again.Complete() || again.Close() != nil {
		t.Error("it cannot be claimed again")
	}
}
