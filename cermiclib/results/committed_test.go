// SPDX-License-Identifier: Apache-2.0

package results

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

func TestFilesOfTheStoreHideCommittedOnes(t *testing.T) {
	s := openTest(t, t.TempDir())
	if err := s.Base(fstest.MapFS{"kind/a.json": {Data: []byte("committed")}, "kind/b.json": {Data: []byte("committed")}}); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(s.Dir(), "kind"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir(), "kind", "a.json"), []byte("own"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"kind/a.json": "own", "kind/b.json": "committed"} {
		if got, err := s.File(name); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := s.File("kind/c.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that neither has: %v", err)
	}
}
