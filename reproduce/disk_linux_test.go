// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// diskSize is room for a store of a few small runs and what is exported from it.
const diskSize = 4 << 20

// disk mounts a file system of diskSize, or skips the test.
func disk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("a disk that can be filled needs the right to mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestAFullDiskIsNamedAndGoneOnFromOnceThereIsSpace(t *testing.T) {
	store, whole := disk(t), t.TempDir()
	filler := filepath.Join(store, "filler")
	if err := os.WriteFile(filler, make([]byte, diskSize-5*4096), 0o666); err != nil { // room for the header and some lines
		t.Fatal(err)
	}
	finish(t, tinyTraining("mappo", whole)...)
	text := fails(t, tinyTraining("mappo", store)...)
	if !strings.Contains(text, "the disk is full at "+store) || !strings.Contains(text, "free some space and start again") {
		t.Errorf("it says %q", text)
	}
	if status := finish(t, "status", "-store", store); !strings.Contains(status, "stopped") {
		t.Errorf("what was written cannot be read:\n%s", status)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	finish(t, tinyTraining("mappo", store)...)
	sameResult(t, resultIn(t, whole), resultIn(t, store))
}

func TestAStoreThatCannotBeWrittenIsNamed(t *testing.T) {
	store := disk(t)
	finish(t, tinyTraining("mappo", store)...)
	if err := syscall.Mount("none", store, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("no read-only disk: %v", err)
	}
	if text := fails(t, tinyTraining("mappo", store, "learner.discount=0.5")...); !strings.Contains(text, store) || !strings.Contains(text, "read-only") {
		t.Errorf("it says %q", text)
	}
	if out := finish(t, tinyTraining("mappo", store)...); !strings.Contains(out, "in the store") {
		t.Errorf("a finished run cannot be read:\n%s", out)
	}
}
