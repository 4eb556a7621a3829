// SPDX-License-Identifier: Apache-2.0

package results

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
)

// The umask alone decides who else may use a store: with 002 its group reads and writes every file and folder.
func TestPermissionsAreThoseOfTheUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o002))
	dir := filepath.Join(t.TempDir(), "runs")
	s := openTest(t, dir)
	r := claimTest(t, s)
	if err := r.SaveCheckpoint(Checkpoint{}); err != nil {
		t.Fatal(err)
	}
	if err := CreateFile(filepath.Join(dir, PretrainedFolder, "weights"), nil); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o664)
		if d.IsDir() {
			want = 0o775
		}
		if names[d.Name()] = true; err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, want %v", d.Name(), info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{lockFile, recordFile, checkpointFile, PretrainedFolder} {
		if !names[name] {
			t.Errorf("there is no %s", name)
		}
	}
}
