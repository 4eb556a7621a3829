// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A full disk must cost neither an older file nor leave half of a new one, which looks like a result.
func TestAFullDiskLeavesOlderExportsAsTheyWere(t *testing.T) {
	for _, args := range []string{"export csv -task balance -budget short -o runs.csv", "export tensorboard -task balance -budget short -o events", "curves -budget short -o curves.svg"} {
		dir, store := disk(t), t.TempDir()
		fields := strings.Fields(args)
		to := filepath.Join(dir, fields[len(fields)-1])
		older := !strings.HasPrefix(args, "export tensorboard")
		if older {
			if err := os.WriteFile(to, []byte("older"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, diskSize-2*4096), 0o666); err != nil {
			t.Fatal(err)
		}
		fields[len(fields)-1] = to
		if _, err := command(t, append(fields, "-store", store)...); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the disk is full at "+to) {
			t.Errorf("%s: %v", args, err)
		}
		if got, err := os.ReadFile(to); older && (err != nil || string(got) != "older") {
			t.Errorf("%s: the older file holds %d bytes now, %v", args, len(got), err)
		}
		whole := map[string]bool{"filler": true, filepath.Base(to): true}
		for _, path := range globbed(t, filepath.Join(dir, "*")) {
			if !whole[filepath.Base(path)] {
				t.Errorf("%s: left %s behind", args, path)
			}
		}
	}
}

// Notebooks, which hold what somebody wrote, are replaced by whole copies or not at all.
func TestAFullDiskLeavesNotebooksAsTheyWere(t *testing.T) {
	dir, executed := disk(t), t.TempDir()
	var books []string
	for _, name := range []string{"a.ipynb", "b.ipynb"} {
		books = append(books, filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte("older"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(executed, name), make([]byte, 3*4096), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, filepath.Join(dir, "filler"), 4*4096) // room for one of them
	if err := replaceBooks(books, executed); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the disk is full at "+books[1]) {
		t.Errorf("it says %v", err)
	}
	for i, want := range []int{3 * 4096, len("older")} {
		if got, err := os.ReadFile(books[i]); err != nil || len(got) != want {
			t.Errorf("%s has %d bytes, want %d: %v", books[i], len(got), want, err)
		}
	}
	if left := globbed(t, filepath.Join(dir, "*")); len(left) != 3 {
		t.Errorf("it leaves %v", left)
	}
}
