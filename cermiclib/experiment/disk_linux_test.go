// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cermic/cermiclib/results"
)

// fullDisk mounts a disk that has room for so many bytes, or skips the test; calling more gives it all that a run can want.
func fullDisk(t *testing.T, bytes int64) (dir string, more func()) {
	t.Helper()
	const size = 4 << 20
	dir = t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("a disk that can be filled needs the right to mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, size-bytes), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, func() {
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFullDiskStopsARunWithOneSentence(t *testing.T) {
	defer func(d time.Duration) { saveEvery = d }(saveEvery)
	saveEvery = 0
	e := small("mappo")
	whole := open(t)
	want, err := Run(t.Context(), e, whole)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(whole.Dir(), want.ID, "*"))
	if err != nil {
		t.Fatal(err)
	}
	needed := int64(0)
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		needed += info.Size()
	}
	// From too little for the header to too little for the second of the two checkpoints that a running run keeps.
	shares := []float64{0.02, 0.9, 1.5, 0.3, 0.6, 1.2}
	if testing.Short() {
		shares = shares[:3]
	}
	for _, share := range shares {
		dir, more := fullDisk(t, int64(share*float64(needed))&^4095)
		st, err := results.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Run(t.Context(), e, st)
		if err == nil {
			t.Fatalf("the run fits into %g of what it leaves behind", share)
		}
		if !errors.Is(err, syscall.ENOSPC) || !contains(err, "the disk is full at "+dir) || strings.Contains(err.Error(), "\n") {
			t.Errorf("with %g of the room: %v", share, err)
		}
		if strings.Count(err.Error(), "the disk is full") != 1 {
			t.Errorf("with %g of the room: said twice: %v", share, err)
		}
		if r, err := st.Get(want.ID); err == nil && (r.Complete || len(r.Evals) > len(want.Evals)) || err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("with %g of the room: what was written reads as %+v, %v", share, r, err)
		}
		more()
		if _, err := Run(t.Context(), e, st); err != nil {
			t.Fatal(err)
		}
		sameRecord(t, record(t, whole, want.ID), record(t, st, want.ID))
	}
}
