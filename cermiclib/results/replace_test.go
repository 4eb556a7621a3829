// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"os"
	"path/filepath"
	"testing"

	"cermic/cermiclib/results"
)

func TestAFileIsReplacedAndALinkStaysOne(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := results.WriteFile(file, []byte("a longer text")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Skip(err)
	}
	if err := results.WriteFile(link, []byte("short")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); string(got) != "short" || err != nil {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}
