// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cermic/envs/envtest/must"
)

// diskSize is room for a store of a few small runs and its exports.
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

// Commands that write keep older files on a full disk and leave no partial ones; on a read-only disk they name it, and
// commands that read work.
func TestExportsToFullAndReadOnlyDisks(t *testing.T) {
	store, id := trainedRun(t)
	dir := disk(t)
	must.Do(t, os.CopyFS(dir, os.DirFS(store)))
	older := filepath.Join(dir, "older.csv")
	write(t, older, "older", 0o666)
	writers := []string{
		"export csv -budget custom -o " + older,
		"export marl-eval -budget custom -o DISK/out.json",
		"export tensorboard -budget custom -o DISK/events",
		"export weights -budget custom -o DISK/weights",
		"curves -budget custom -o DISK/curves.png",
		"train -fork " + id + "@100 -set learner.lr=0.001",
	}
	writersFail := func(want string, lines ...string) {
		for _, line := range lines {
			args := append(strings.Fields(strings.ReplaceAll(line, "DISK", dir)), "-store", dir)
			contains(t, fails(t, args...), want, dir)
		}
	}
	filler := filepath.Join(dir, "filler")
	for size := diskSize; os.WriteFile(filler, make([]byte, size), 0o666) != nil; size -= 4096 {
	}
	writersFail("the disk is full at ", writers...)
	if text, err := os.ReadFile(older); err != nil || string(text) != "older" {
		t.Errorf("the older file holds %q, %v", text, err)
	}
	if left := globbed(t, filepath.Join(dir, "*.tmp")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	must.Do(t, os.Remove(filler))
	if err := syscall.Mount("none", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("no read-only disk: %v", err)
	}
	writersFail("read-only", writers[0], writers[5])
	finish(t, "evaluate", id, "-store", dir)
	finish(t, "export", "csv", "-budget", "custom", "-store", dir, "-o", filepath.Join(t.TempDir(), "out.csv"))
	contains(t, finish(t, tinyTraining("mappo", dir)...), "in the store")
}
